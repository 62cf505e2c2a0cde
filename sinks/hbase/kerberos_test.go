package hbase

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// A store works with a keytab and with a ticket, over TLS and without, and through ZooKeeper.
func TestSecureStore(t *testing.T) {
	server := hbasetest.SharedSecure(t)
	keytab := as(server, "hbase")
	ticket := security.Options{Config: server.KDC.Config, Cache: "FILE:" + server.KDC.Login(t, "hbase"), Protection: "privacy"}
	overTLS := keytab
	overTLS.TLS.CA = server.TLS.CA
	for _, c := range []struct {
		name, address string
		o             Options
	}{
		{"keytab", server.Master, Options{Security: keytab}},
		{"ticket", server.Master, Options{Security: ticket}},
		{"TLS", server.Master, Options{Security: overTLS}},
		{"ZooKeeper", server.ZooKeeper, Options{Security: keytab, ZooKeeper: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rest := "//" + c.address + "/" + namespace() + "?regions=3"
			if err := Create(t.Context(), rest, c.o); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), rest, c.o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want := bytes.Repeat([]byte("v"), 200_000) // more than one token
			if err := s.Catalog.Swap(t.Context(), []byte("k"), nil, want); err != nil {
				t.Fatal(err)
			}
			if v, err := s.Catalog.Get(t.Context(), []byte("k")); err != nil || !bytes.Equal(v, want) {
				t.Fatal(len(v), err)
			}
		})
	}
}

// Without credentials, or with the wrong ones, a user hears at once what to do.
func TestSecureRefused(t *testing.T) {
	server := hbasetest.SharedSecure(t)
	old := filepath.Join(t.TempDir(), "old.keytab")
	server.KDC.Admin(t, "addprinc -randkey aged", "ktadd -k "+old+" aged", "cpw -randkey aged")
	rest := "//" + server.Master + "/lake"
	t.Setenv("KRB5CCNAME", "FILE:"+t.TempDir()+"/none")
	with := func(change func(o *security.Options)) security.Options {
		o := as(server, "loader")
		change(&o)
		return o
	}
	for _, c := range []struct {
		o    security.Options
		want string
	}{
		{security.Options{Config: server.KDC.Config}, "run kinit, or set hbase.keytab"},
		{security.Options{Config: server.KDC.Config, Mode: "kerberos"}, "there is no credential cache"},
		{security.Options{Config: server.KDC.Config, Mode: "simple"}, "hbase.security is simple"},
		{security.Options{Config: server.KDC.Config, Mode: "none"}, "it is kerberos or simple"},
		{with(func(o *security.Options) { o.Protection = "all" }), "hbase.protection"},
		{with(func(o *security.Options) { o.Keytab = old }), "is not the KDC's: make the keytab anew"},
		{with(func(o *security.Options) { o.ServerPrincipal = "hbase/_HOST@OTHER.TEST" }), "OTHER.TEST"},
		{with(func(o *security.Options) { o.ServerPrincipal = "nobody/_HOST" }), "knows no service nobody/localhost@"},
		// A ticket that the server has no key for.
		{with(func(o *security.Options) { o.ServerPrincipal = "hdfs/localhost" }), "check hbase.server_principal, the server's keytab and NTP"},
	} {
		began := time.Now()
		_, err := Open(t.Context(), rest, Options{ReadOnly: true, Security: c.o})
		if !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || time.Since(began) > formattest.Soon {
			t.Errorf("%+v: %v after %v, want %q", c.o, err, time.Since(began), c.want)
		}
	}
	// A client with credentials stays away from a cluster that knows no Kerberos, unless it is told to go on.
	open := "//" + hbasetest.Shared(t).Master + "/" + namespace() + "?regions=3"
	if err := Create(t.Context(), open, Options{Security: as(server, "loader")}); !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), "hbase.allow_insecure_fallback") {
		t.Error(err)
	}
	if err := Create(t.Context(), open, Options{Security: with(func(o *security.Options) { o.AllowInsecureFallback = true })}); err != nil {
		t.Error(err)
	}
}

// Tickets of 4 seconds and connections that break all the time cost no call, neither reads nor writes.
func TestSecureRenewal(t *testing.T) {
	server := hbasetest.SharedSecure(t)
	o := security.Options{Config: server.KDC.Config, Keytab: filepath.Join(t.TempDir(), "short.keytab")}
	server.KDC.Admin(t, "addprinc -randkey -maxlife 4seconds hbase/short", "ktadd -k "+o.Keytab+" hbase/short")
	l := &library{rest: "//" + server.Master + "/" + namespace() + "?regions=3"}
	if err := Create(t.Context(), l.rest, Options{Security: o}); err != nil {
		t.Fatal(err)
	}
	n := &badNetwork{lifetime: 100_000}
	s, _ := l.open(t, func(c *client.Options) { c.Security, c.Dial = o, n.dial })
	long := 7 * time.Second
	if v, err := time.ParseDuration(os.Getenv("SYMLAKE_RENEW_TIME")); err == nil {
		long = v
	}
	var running sync.WaitGroup
	var calls atomic.Int64
	began := time.Now()
	going := func() bool { // on a busy machine, until enough connections broke
		past := time.Since(began)
		return past < long || n.broken.Load() < 4 && past < long+time.Minute
	}
	for i := range 8 {
		running.Go(func() {
			key, last := fmt.Appendf(nil, "k%d", i), []byte(nil)
			for going() {
				next := fmt.Appendf(nil, "%d", calls.Add(2))
				if err := s.Catalog.Swap(t.Context(), key, last, next); err != nil {
					t.Error(err)
					return
				}
				last = next
				if v, err := s.Catalog.Get(t.Context(), key); err != nil || !bytes.Equal(v, last) {
					t.Errorf("%q, want %q: %v", v, last, err)
					return
				}
			}
		})
	}
	running.Wait()
	if n.broken.Load() < 4 {
		t.Errorf("%d connections broke", n.broken.Load())
	}
	t.Logf("%d calls in %v, %d connections broken", calls.Load(), time.Since(began), n.broken.Load())
	if err := s.Blocks.First(t.Context(), []sinks.Span{{From: make([]byte, 24), Stop: bytes.Repeat([]byte{1}, 24)}}, func(_ int, _ sinks.Row, err error) {
		if err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Error(err)
	}
}
