package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/serve"
	"github.com/symlake/symlake/jobs/serve/connections"
	"github.com/symlake/symlake/jobs/serve/protocol"
	"github.com/symlake/symlake/jobs/serve/relay"
	"github.com/symlake/symlake/sinks/hostfile"
	"github.com/symlake/symlake/sinks/lookup"
)

// NewServe returns the command serve. speaks makes what speaks gRPC for messages of so many bytes; nil: the server answers
// over plain HTTP alone.
func NewServe(speaks func(mostBytes int64) protocol.Speaker) *ServeJob {
	return &ServeJob{speaks: speaks}
}

// ServeJob is the command serve.
type ServeJob struct {
	speaks func(mostBytes int64) protocol.Speaker

	Listen                string         `help:"Address of the server." default:"127.0.0.1:8080" placeholder:"HOST:PORT" group:"Access"`
	Tokens                string         `help:"File with one NAME TOKEN pair a line." detail:"Only its owner may read it. - is standard input. --token adds one. With neither, the server accepts every caller that knows its name." type:"existingfile" placeholder:"FILE" group:"Access"`
	AllowHost             []string       `help:"Name of the server that callers without tokens may use." detail:"localhost and addresses need none." placeholder:"NAME" group:"Access"`
	AllowOrigin           []string       `help:"Site with pages that may ask /symbolicate/v5." placeholder:"https://HOST" group:"Access"`
	TLSCert               string         `help:"Certificate chain, PEM." type:"existingfile" placeholder:"FILE" group:"Access"`
	TLSKey                string         `help:"Private key of the certificate, PEM." type:"existingfile" placeholder:"FILE" group:"Access"`
	OTLPForward           string         `name:"otlp-forward" help:"Receiver that gets the answered profiles of OpenTelemetry." detail:"http://HOST:4318, https://HOST, grpc://HOST:4317 or grpcs://HOST. With it the server takes OTLP/HTTP at /v1development/profiles, and OTLP/gRPC." placeholder:"URL" group:"Profiles"`
	OTLPForwardHeader     []string       `name:"otlp-forward-header" help:"Header of each request to that receiver." detail:"Secrets belong into the variable, not into a command line." sep:"none" placeholder:"NAME=VALUE" group:"Profiles"`
	OTLPForwardUnanswered bool           `name:"otlp-forward-unanswered" help:"Send profiles on as they came while the store is out of reach." detail:"Otherwise their exporter is told to send them again." group:"Profiles"`
	Cache                 settings.Bytes `help:"Memory of the caches and of answering." default:"256MiB" group:"Cache"`
	CatalogTTL            time.Duration  `help:"How long the server remembers names and records." detail:"A new load answers after this time at the latest." default:"1m" group:"Cache"`
	NegativeTTL           time.Duration  `help:"How long the server remembers that a name is missing." default:"10s" group:"Cache"`
	MaxBody               settings.Bytes `help:"Largest request, inflated." default:"16MiB" group:"~Limits"`
	AnswerLimit           settings.Bytes `help:"Largest answer. A larger one ends with an error." default:"64MiB" group:"~Limits"`
	MaxStacks             int            `help:"Most stacks of a request." default:"10000" group:"~Limits"`
	MaxFrames             int            `help:"Most frames of a request." default:"250000" group:"~Limits"`
	MaxTime               time.Duration  `help:"Time for the body of a request, and then for its answer." default:"30s" group:"~Limits"`
	Concurrent            int            `help:"Requests at work at once (default: four a processor)." default:"0" group:"~Limits"`
	Drain                 time.Duration  `help:"How long requests may go on after a signal to end." default:"30s" group:"~Limits"`
	DrainDelay            time.Duration  `help:"How long the server takes new requests after that signal." detail:"/readyz refuses them meanwhile, until a load balancer has noticed." default:"0s" group:"~Limits"`
}

// Help returns the text below the flags.
func (ServeJob) Help() string {
	return "GET / is a page for browsers. /openapi.json describes the interface: /v1/symbolicate, /v1/lookup, /v1/artifacts, /symbolicate/v5, /metrics, /healthz, /readyz.\n\n" +
		"Example:\n  symlake serve --listen 127.0.0.1:8080\n  curl -H 'Content-Type: text/plain' --data-binary @crash.txt \\\n    http://127.0.0.1:8080/v1/symbolicate"
}

// The memory of a server stays within --cache and 256 MiB.
const (
	// cacheShare is what of --cache the caches hold, in hundredths. The rest is the collector's room.
	cacheShare = 50
	// answerRoom is the memory in bytes beside --cache in which requests are answered.
	answerRoom = 56 << 20
)

// Check finds faults in the words before anything is opened.
func (j ServeJob) Check(p *session.Session) error {
	if session.IsRemote(p.StoreURL()) {
		return exit.Usage("%s %s: a server reads a store, not another server", p.Origin("store", p.Flags.Store, "store"), p.StoreURL())
	}
	if (j.TLSCert == "") != (j.TLSKey == "") {
		return exit.Usage("--tls-cert and --tls-key go together: give both")
	}
	for _, o := range j.AllowOrigin {
		if u, err := url.Parse(o); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
			return exit.Usage("--allow-origin %s: want a site as browsers spell it: https://HOST or https://HOST:PORT", o)
		}
	}
	if min(j.MaxStacks, j.MaxFrames, j.Concurrent) < 0 || min(j.MaxTime, j.Drain, j.DrainDelay, j.CatalogTTL, j.NegativeTTL) < 0 {
		return exit.Usage("serve: a number or a time is below 0")
	}
	if _, err := j.relay(nil, nil); err != nil {
		return err
	}
	return j.checkListen(p)
}

// relay returns what sends profiles on; nil: nothing does.
func (j ServeJob) relay(m *relay.Metrics, log *slog.Logger) (*relay.Relay, error) {
	if j.OTLPForward == "" {
		if len(j.OTLPForwardHeader) > 0 || j.OTLPForwardUnanswered {
			return nil, exit.Usage("--otlp-forward-header and --otlp-forward-unanswered want --otlp-forward URL")
		}
		return nil, nil
	}
	header := http.Header{}
	for _, h := range j.OTLPForwardHeader {
		name, value, ok := strings.Cut(h, "=")
		if !ok || name == "" || strings.ContainsAny(name, " :\r\n") || strings.ContainsAny(value, "\r\n") {
			return nil, exit.Usage("--otlp-forward-header: want NAME=VALUE")
		}
		header.Add(name, value)
	}
	r, err := relay.New(relay.Options{URL: j.OTLPForward, Header: header, Time: j.MaxTime, Metrics: m, Log: log, Unanswered: j.OTLPForwardUnanswered})
	if err != nil {
		return nil, exit.Usage("--otlp-forward %w", err)
	}
	return r, nil
}

// checkListen checks the form of the address.
func (j ServeJob) checkListen(p *session.Session) error {
	from := "--listen"
	if !p.Given("listen") {
		from = settings.VariableOf("listen")
	}
	host, port, err := net.SplitHostPort(j.Listen)
	if err != nil {
		return exit.Usage("%s %s: want HOST:PORT, such as 127.0.0.1:8080 or :8080", from, j.Listen)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return exit.Usage("%s %s: %s is no port: want a number from 0 to 65535", from, j.Listen, port)
	}
	digits := strings.Trim(host, "0123456789.") == "" || strings.Contains(host, ":")
	if address, _, _ := strings.Cut(host, "%"); host != "" && digits && net.ParseIP(address) == nil || strings.ContainsAny(host, "/ @") {
		return exit.Usage("%s %s: %s is no address", from, j.Listen, host)
	}
	return nil
}

// listen opens the port. An address that this machine does not have is a wrong word.
func (j ServeJob) listen() (net.Listener, error) {
	listener, err := net.Listen("tcp", j.Listen)
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound, errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, exit.Usage("--listen %s: this machine has no such address: %w", j.Listen, err)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--listen %s: another process has this port: stop it, or choose another port: %w", j.Listen, err)
	case err != nil:
		return nil, fmt.Errorf("listen: %w", err)
	}
	return listener, nil
}

// Run answers until a signal, then drains.
func (j ServeJob) Run(p *session.Session) error {
	tokens, err := j.tokens(p.Flags.Token, p.In)
	if err != nil {
		return err
	}
	p.Collector.Use(collector.Serve, int64(j.Cache)+answerRoom)
	listener, err := j.listen()
	if err != nil {
		return err
	}
	metrics := serve.NewMetrics()
	client, closeStore, err := p.OpenClient(lookup.Options{CacheBytes: int64(j.Cache) * cacheShare / 100, CatalogTTL: j.CatalogTTL, NegativeTTL: j.NegativeTTL, Observer: metrics.Observer()})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	var rpc protocol.Speaker
	if j.speaks != nil {
		rpc = j.speaks(int64(j.MaxBody))
	}
	onward, err := j.relay(metrics.Relay, p.Log)
	if err != nil {
		return errors.Join(err, closeStore(), listener.Close())
	}
	s := serve.New(serve.Options{RPC: rpc, Relay: onward, Client: client, Metrics: metrics, Log: p.Log, Tokens: tokens, Limits: serve.Limits{
		BodyBytes: int64(j.MaxBody), AnswerBytes: int64(j.AnswerLimit), Stacks: j.MaxStacks, Frames: j.MaxFrames, Time: j.MaxTime, Concurrent: j.Concurrent}, Hosts: j.AllowHost, Origins: j.AllowOrigin})
	p.Log.Info("listening", "address", listener.Addr().String(), "tokens", len(tokens), "tls", j.TLSCert != "")
	return errors.Join(j.answer(p.Ctx, p, s, listener), closeStore())
}

// answer serves until ctx ends, and finishes the requests under way.
func (j ServeJob) answer(ctx context.Context, p *session.Session, s *serve.Server, listener net.Listener) error {
	// The server moves the deadlines of bodies and answers itself. WriteTimeout is for what it does not: short answers.
	// Without TLS, gRPC's callers speak HTTP/2 from the first byte on.
	var speaks http.Protocols
	speaks.SetHTTP1(true)
	speaks.SetHTTP2(true)
	speaks.SetUnencryptedHTTP2(true)
	h := &http.Server{Handler: s, Protocols: &speaks, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 5*j.MaxTime + 30*time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10, ConnState: connections.New(connections.Most).State,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 32, MaxReceiveBufferPerConnection: 128 << 10, MaxReceiveBufferPerStream: 64 << 10}}
	h.RegisterOnShutdown(s.EndStreams)
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
	p.Log.Info("draining", "within", j.Drain.String())
	time.Sleep(j.DrainDelay)
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.Drain)
	defer cancel()
	if err := h.Shutdown(within); err != nil {
		h.Close()
		return fmt.Errorf("requests were still under way after %s: %w", j.Drain, err)
	}
	return nil
}

// tokens returns the tokens of the file and the one of the environment. The caller of the latter has no name.
func (j ServeJob) tokens(one string, in io.Reader) (serve.Tokens, error) {
	tokens := serve.Tokens{}
	if one != "" {
		if err := tokens.Add(one, ""); err != nil {
			return nil, exit.Usage("--token: %w", err)
		}
	}
	if j.Tokens == "" {
		return tokens, nil
	}
	if j.Tokens != "-" {
		f, err := os.Open(j.Tokens)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := hostfile.Private(f); err != nil {
			return nil, exit.Usage("--tokens %s: %w", j.Tokens, err)
		}
		in = f
	}
	if err := tokens.Read(in); err != nil {
		return nil, exit.Usage("--tokens %s: %w", j.Tokens, err)
	}
	if len(tokens) == 0 {
		return nil, exit.Usage("--tokens %s: there is none in it", j.Tokens)
	}
	return tokens, nil
}
