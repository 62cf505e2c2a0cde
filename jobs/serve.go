package jobs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/symlake/symlake/jobs/garbage"
	"github.com/symlake/symlake/jobs/serve"
	"github.com/symlake/symlake/sinks/lookup"
)

type serveJob struct {
	Listen      string        `help:"Address to listen at." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	Tokens      string        `help:"File of NAME TOKEN lines: who may ask. With --token or SYMLAKE_TOKEN one more, without either everybody." type:"existingfile" placeholder:"FILE"`
	TLSCert     string        `help:"Certificate chain, PEM." type:"existingfile" placeholder:"FILE"`
	TLSKey      string        `help:"Its private key, PEM." type:"existingfile" placeholder:"FILE"`
	Cache       Bytes         `help:"Memory for what is cached, with what answering takes beside it." default:"256MiB"`
	CatalogTTL  time.Duration `help:"How long a name or record is believed: a new load is seen no later." default:"1m"`
	NegativeTTL time.Duration `help:"How long absence is believed." default:"10s"`
	MaxBody     Bytes         `help:"Largest request." default:"16MiB"`
	MaxStacks   int           `help:"Stacks of a request." default:"10000"`
	MaxFrames   int           `help:"Frames of a request." default:"250000"`
	MaxTime     time.Duration `help:"Until a request is given up." default:"30s"`
	Concurrent  int           `help:"Requests at work at once; 0: four a processor." default:"0"`
	Drain       time.Duration `help:"How long requests under way may go on after a signal to end." default:"30s"`
	DrainDelay  time.Duration `help:"How long new requests are still taken after that signal, while /readyz refuses them: until a load balancer has noticed." default:"0s"`
}

func (serveJob) Help() string {
	return "/symbolicate/v5 (Mozilla's Tecken and Eliot), /v1/symbolicate, /v1/lookup, /v1/artifacts, /healthz, /readyz, /metrics; /openapi.json describes them.\n\n" +
		"Example:\n  symlake serve --listen 0.0.0.0:8080 --tokens /etc/symlake/tokens\n  curl -H 'Authorization: Bearer …' --data-binary @tombstone_04 -H 'Content-Type: text/plain' http://host:8080/v1/symbolicate"
}

// What of --cache is the caches' own, in hundredths: the rest is the collector's room, and what requests take.
const cacheShare = 50

// Run answers until a signal, then drains.
func (j serveJob) Run(p *process) error {
	if isRemote(p.storeURL()) {
		return usage("--store %s: a server reads a store, not another server", p.storeURL())
	}
	if (j.TLSCert == "") != (j.TLSKey == "") {
		return usage("want both of --tls-cert and --tls-key")
	}
	tokens, err := j.tokens(p.flags.Token)
	if err != nil {
		return err
	}
	p.garbage.Limit(garbage.FirstHeapPercent, 100, int64(j.Cache)*5/4)
	metrics := serve.NewMetrics()
	client, closeStore, err := p.openClient(lookup.Options{CacheBytes: int64(j.Cache) * cacheShare / 100, CatalogTTL: j.CatalogTTL, NegativeTTL: j.NegativeTTL, Observer: metrics.Observer()})
	if err != nil {
		return err
	}
	s := serve.New(serve.Options{Client: client, Metrics: metrics, Log: p.log, Tokens: tokens, Limits: serve.Limits{
		BodyBytes: int64(j.MaxBody), Stacks: j.MaxStacks, Frames: j.MaxFrames, Time: j.MaxTime, Concurrent: j.Concurrent}})
	listener, err := net.Listen("tcp", j.Listen)
	if err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), closeStore())
	}
	p.log.Info("listening", "address", listener.Addr().String(), "tokens", len(tokens), "tls", j.TLSCert != "")
	return errors.Join(j.answer(p.ctx, p, s, listener), closeStore())
}

// answer serves until ctx ends, and then what is under way.
func (j serveJob) answer(ctx context.Context, p *process, s *serve.Server, listener net.Listener) error {
	h := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: j.MaxTime + 10*time.Second, WriteTimeout: 2*j.MaxTime + 10*time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	ended := make(chan error, 1)
	go func() {
		if j.TLSCert != "" {
			ended <- h.ServeTLS(listener, j.TLSCert, j.TLSKey)
		} else {
			ended <- h.Serve(listener)
		}
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.Drain()
	p.log.Info("draining", "within", j.Drain.String())
	time.Sleep(j.DrainDelay)
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.Drain)
	defer cancel()
	if err := h.Shutdown(within); err != nil {
		h.Close()
		return fmt.Errorf("requests were still under way after %s: %w", j.Drain, err)
	}
	return nil
}

// tokens are those of the file and the one of the environment, whose caller has no name.
func (j serveJob) tokens(one string) (serve.Tokens, error) {
	tokens := serve.Tokens{}
	if one != "" {
		if err := tokens.Add(one, ""); err != nil {
			return nil, usage("--token: %w", err)
		}
	}
	if j.Tokens == "" {
		return tokens, nil
	}
	f, err := os.Open(j.Tokens)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := tokens.Read(f); err != nil {
		return nil, usage("--tokens %s: %w", j.Tokens, err)
	}
	if len(tokens) == 0 {
		return nil, usage("--tokens %s: there is none in it", j.Tokens)
	}
	return tokens, nil
}
