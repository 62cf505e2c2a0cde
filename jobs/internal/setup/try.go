package setup

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/host"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/open"
	"github.com/symlake/symlake/sinks/row"
)

// makers are the commands that create things.
const makers = "symlake init or symlake ingest"

// try tries each place that a setting names.
func (j CheckJob) try(p *workspace.Workspace, emit func(finding) error) error {
	store := within(p.Ctx, "store", hide(settings.Find("store"), p.StoreURL()), func(ctx context.Context) finding { return tryStore(at(p, ctx)) })
	list := []func() finding{func() finding { return store }}
	check := func(name, place string, try func(ctx context.Context) finding) {
		list = append(list, func() finding { return within(p.Ctx, name, place, try) })
	}
	if !session.IsRemote(p.StoreURL()) {
		key := p.KeyPlace()
		place := key.Keyset
		if place == "" {
			place = key.KMS.Key
		}
		check("keys", place, func(ctx context.Context) finding { return tryKeys(at(p, ctx), store.State == ok) })
		check("lake", p.LakeURL(), func(ctx context.Context) finding { return tryLake(at(p, ctx)) })
		check("scratch", p.Scratch(), func(context.Context) finding { return folder(p.Scratch(), makers) })
	}
	if dir := p.Config.HBase.HadoopConf; dir != "" {
		check("hbase.hadoop_conf", dir, func(context.Context) finding { return hasFiles(dir, "core-site.xml", "hdfs-site.xml") })
	}
	for _, c := range credentials(&p.Config.HBase) {
		check(c.key, c.path, func(context.Context) finding { return c.try(c.path) })
	}
	for i := range p.Config.Sources {
		c := p.Config.Sources[i]
		check(fmt.Sprintf("sources[%d]", i), c.URL, func(ctx context.Context) finding { return trySource(at(p, ctx), c) })
	}
	for _, place := range strings.Fields(os.Getenv("SYMLAKE_SOURCE")) {
		c := settings.SourceConfig{URL: place, Endpoint: os.Getenv("SYMLAKE_ENDPOINT"), Region: os.Getenv("SYMLAKE_REGION"), Profile: os.Getenv("SYMLAKE_PROFILE"),
			PathStyle: yes("SYMLAKE_PATH_STYLE"), Anonymous: yes("SYMLAKE_ANONYMOUS"), Checksums: os.Getenv("SYMLAKE_CHECKSUMS")}
		check("SYMLAKE_SOURCE", place, func(ctx context.Context) finding { return trySource(at(p, ctx), c) })
	}
	if value, _ := current(p, settings.Find("redis.url")); value != "" {
		check("redis", hide(settings.Find("redis.url"), value), func(ctx context.Context) finding { return tryRedis(ctx, value) })
	}
	if j.Report != "" && j.Report != "-" {
		check("report", j.Report, func(context.Context) finding { return tryReport(j.Report) })
	}
	if dir := p.Flags.Metrics; dir != "" {
		check("metrics", dir, func(context.Context) finding { return folder(dir, "the next run") })
	}
	if to := p.Flags.Pushgateway; to != "" {
		check("pushgateway", hide(settings.Find("pushgateway"), to), func(ctx context.Context) finding { return tryHTTP(ctx, strings.TrimSuffix(to, "/")+"/-/ready") })
	}
	if to := firstOf("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"); to != "" {
		check("otlp", to, func(ctx context.Context) finding { return tryDial(ctx, to) })
	}
	listen, from := current(p, settings.Find("serve.listen"))
	check("serve.listen", listen, func(ctx context.Context) finding { return tryListen(ctx, listen, from) })
	list = append(list, j.files(p)...)
	for _, try := range list {
		if err := emit(try()); err != nil {
			return err
		}
	}
	return nil
}

// files returns the checks of the server's files.
func (CheckJob) files(p *workspace.Workspace) (list []func() finding) {
	value := func(key string) string {
		text, from := current(p, settings.Find(key))
		if from != "default" && !strings.HasPrefix(from, "SYMLAKE_") && !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(p.Config.File.Path), text)
		}
		return text
	}
	if path := value("serve.tokens"); path != "" && path != "-" {
		list = append(list, func() finding {
			f := secretFile(path)
			f.Check, f.Place = "serve.tokens", path
			return f
		})
	}
	cert, key := value("serve.tls_cert"), value("serve.tls_key")
	if cert != "" || key != "" {
		list = append(list, func() finding {
			f := finding{"serve.tls_cert", cert, ok, "", ""}
			if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
				f.State, f.Reason, f.Do = wrong, err.Error(), "name the PEM files of one certificate and its key"
			}
			return f
		})
	}
	return list
}

// at returns the workspace with another context.
func at(p *workspace.Workspace, ctx context.Context) *workspace.Workspace {
	s := *p.Session
	s.Ctx = ctx
	return workspace.New(&s)
}

func firstOf(names ...string) string {
	for _, name := range names {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

func yes(name string) bool {
	switch strings.ToLower(strings.TrimSpace(os.Getenv(name))) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

func tryStore(p *workspace.Workspace) finding {
	if session.IsRemote(p.StoreURL()) {
		return tryHTTP(p.Ctx, strings.TrimSuffix(p.StoreURL(), "/")+"/readyz")
	}
	s, err := p.OpenTables(true)
	switch {
	case errors.Is(err, sinks.ErrMissing) && p.StoreDir() != "":
		return folder(p.StoreDir(), makers)
	case errors.Is(err, sinks.ErrMissing):
		return finding{State: absent, Reason: "its tables are missing", Do: makers + " makes them"}
	case err != nil:
		return failed(err, "check the URL, the network and the rights of this user")
	}
	s.Close()
	return finding{State: ok}
}

// tryKeys tries the key-encryption key, and whether it opens the store. there: the store is.
func tryKeys(p *workspace.Workspace, there bool) finding {
	place := p.KeyPlace()
	if place.Keyset != "" {
		if _, err := os.Stat(place.Keyset); errors.Is(err, os.ErrNotExist) && !there {
			return folder(place.Keyset, makers)
		} else if errors.Is(err, os.ErrNotExist) {
			return finding{State: wrong, Reason: "the keyset is missing, and the store is sealed with it", Do: "put it back, or name it with --keyset"}
		}
		if f := secretFile(place.Keyset); f.State != ok {
			return f
		}
	}
	if err := place.Try(p.Ctx); err != nil {
		return failed(err, "name the right key with --keyset or --kms, and check the credentials")
	}
	if !there {
		return finding{State: ok}
	}
	s, err := p.OpenTables(true)
	if err != nil {
		return finding{State: ok}
	}
	defer s.Close()
	key, err := place.Open(p.Ctx)
	if err == nil {
		_, err = row.OpenKeyring(p.Ctx, s.Catalog, key)
	}
	if err != nil {
		return finding{State: wrong, Reason: "it does not open the store: " + err.Error(), Do: "name the key that the store was made with"}
	}
	return finding{State: ok}
}

func tryLake(p *workspace.Workspace) finding {
	place, c := p.LakeURL(), p.Config.Lake
	if place == settings.LakeOff {
		return finding{State: off}
	}
	if err := p.CheckLake(); err != nil {
		return failed(err, "correct lake in the configuration")
	}
	if !strings.Contains(place, "://") {
		return folder(strings.TrimPrefix(place, "file:"), makers)
	}
	f := tryBucket(p.Ctx, place, bucketall.Options{Endpoint: c.Endpoint, Region: c.Region, Profile: c.AWSProfile, PathStyle: c.PathStyle, Checksums: c.Checksums})
	if f.State == ok && f.Reason != "" {
		return finding{State: absent, Reason: "it is empty", Do: makers + " fills it"}
	}
	return f
}

func trySource(p *workspace.Workspace, c settings.SourceConfig) finding {
	return tryBucket(p.Ctx, c.URL, bucketall.Options{Endpoint: c.Endpoint, Region: c.Region, Profile: c.Profile, PathStyle: c.PathStyle, Anonymous: c.Anonymous, Checksums: c.Checksums})
}

// errEnough ends a listing after its first entry.
var errEnough = errors.New("one entry is enough")

// tryBucket lists the first object of a place.
func tryBucket(ctx context.Context, place string, o bucketall.Options) finding {
	b, key, err := bucketall.Open(ctx, place, o)
	if err == nil {
		if by, is := b.(bucket.ByBuildID); is && key == "" { // no build has such an id: the server says so
			if _, _, err = b.Stat(ctx, by.Keys(strings.Repeat("0", 40))[0]); errors.Is(err, bucket.ErrNotFound) {
				return finding{State: ok}
			}
		} else if by, is := b.(bucket.ByModule); is && key == "" { // nor has a module
			if _, _, err = b.Stat(ctx, by.ModuleKeys("symlake.pdb", strings.Repeat("0", 33))[0]); errors.Is(err, bucket.ErrNotFound) {
				return finding{State: ok}
			}
		} else if key != "" {
			_, _, err = b.Stat(ctx, key)
		} else if err = b.List(ctx, "", "", func(bucket.Entry) error { return errEnough }); err == nil {
			return finding{State: ok, Reason: "it is empty"}
		}
	}
	switch {
	case err == nil || errors.Is(err, errEnough):
		return finding{State: ok}
	case errors.Is(err, bucket.ErrNotFound):
		return finding{State: unreachable, Reason: err.Error(), Do: "make it, or correct its URL"}
	}
	return failed(session.Unfit(err), "check the URL, the network and the credentials")
}

func tryRedis(ctx context.Context, place string) finding {
	said := ""
	c, err := open.Redis(place, open.RedisOptions{Notice: func(text string) { said = text }})
	if err != nil {
		return failed(exit.Usage("%w", err), "write redis://[user:password@]host:port[/db]")
	}
	defer c.Close()
	c.Get(ctx, [][]byte{[]byte("symlake config check")}, func(int, []byte) {})
	if said != "" {
		return finding{State: unreachable, Reason: said, Do: "check the address and the password; look-ups go on without it"}
	}
	return finding{State: ok}
}

func tryReport(to string) finding {
	if info, err := os.Stat(to); strings.HasSuffix(to, "/") || err == nil && info.IsDir() {
		return folder(to, "the next run")
	} else if err == nil {
		if err := host.Writable(to); err != nil {
			return finding{State: unreachable, Reason: err.Error(), Do: "give this user the right to write"}
		}
		return finding{State: ok}
	}
	f := folder(filepath.Dir(to), "the next run")
	if f.State == ok {
		f.State, f.Reason, f.Do = absent, "it is missing", "the next run makes it"
	}
	return f
}

// tryHTTP asks a server for a page. Each answer shows that a server is there.
func tryHTTP(ctx context.Context, page string) finding {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return failed(exit.Usage("%w", err), "correct the URL")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return failed(err, "check the address, and whether the server runs")
	}
	answer.Body.Close()
	if answer.StatusCode >= http.StatusInternalServerError {
		return finding{State: unreachable, Reason: "it answers " + answer.Status, Do: "look at the log of that server"}
	}
	return finding{State: ok}
}

// tryDial connects to the server of a URL.
func tryDial(ctx context.Context, to string) finding {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" {
		return finding{State: wrong, Reason: "it is no URL with a host", Do: "write http://HOST:PORT"}
	}
	address := u.Host
	if u.Port() == "" {
		port := "80"
		if u.Scheme == "https" {
			port = "443"
		}
		address = net.JoinHostPort(u.Hostname(), port)
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return failed(err, "check the address, and whether the collector runs")
	}
	c.Close()
	return finding{State: ok}
}

// tryListen tries whether serve could listen. A symlake that listens there already is fine.
func tryListen(ctx context.Context, address, from string) finding {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		l.Close()
		return finding{State: ok}
	}
	if f := tryHTTP(ctx, "http://"+address+"/healthz"); f.State == ok {
		return finding{State: ok, Reason: "a server answers there already"}
	}
	if from == "default" {
		return finding{State: off, Reason: "no setting names an address, and another process has this one", Do: "start serve with --listen"}
	}
	return failed(err, "choose an address of this machine that is free")
}

// secretFile checks a file that only its owner may read.
func secretFile(path string) finding {
	info, err := os.Stat(path)
	if err != nil {
		return finding{State: wrong, Reason: err.Error(), Do: "name a file that is there"}
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return finding{State: wrong, Reason: fmt.Sprintf("others than its owner may read it (mode %04o)", mode), Do: "run chmod 600 " + path}
	}
	if f, err := os.Open(path); err != nil {
		return finding{State: unreachable, Reason: err.Error(), Do: "give this user the right to read it"}
	} else if err := f.Close(); err != nil {
		return finding{State: unreachable, Reason: err.Error()}
	}
	return finding{State: ok}
}

// hasFiles checks that a folder has one of the files at least.
func hasFiles(dir string, names ...string) finding {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return finding{State: ok}
		}
	}
	return finding{State: wrong, Reason: "it has no " + strings.Join(names, " and no "), Do: "name the folder of Hadoop's configuration"}
}
