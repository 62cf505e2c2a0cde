package krb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// Tickets of a real KDC, by keytab and by cache, and each wrong way to ask for one.
func TestKDC(t *testing.T) {
	kdc := secure.StartKDC(t)
	keytab := security.Options{Config: kdc.Config, Keytab: kdc.Keytab("loader")}
	cache := security.Options{Config: kdc.Config, Cache: "FILE:" + kdc.Login(t, "loader")}
	folder := filepath.Join(t.TempDir(), "caches")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{kdc.Login(t, "reader"): "tkt", kdc.Login(t, "loader"): "tktother"} {
		if err := os.Rename(from, filepath.Join(folder, to)); err != nil {
			t.Fatal(err)
		}
	}
	both := filepath.Join(t.TempDir(), "both.keytab")
	kdc.Admin(t, "addprinc -randkey second", "ktadd -k "+both+" second", "addprinc -randkey third", "ktadd -k "+both+" third",
		"addprinc -randkey old", "ktadd -k "+filepath.Join(kdc.Dir, "old.keytab")+" old", "cpw -randkey old",
		"addprinc -randkey gone", "ktadd -k "+filepath.Join(kdc.Dir, "gone.keytab")+" gone", "delprinc -force gone",
		"addprinc -randkey locked", "ktadd -k "+filepath.Join(kdc.Dir, "locked.keytab")+" locked", "modprinc -allow_tix locked",
		"addprinc -randkey small", "ktadd -e aes128-cts-hmac-sha1-96:normal -k "+filepath.Join(kdc.Dir, "small.keytab")+" small")
	const ours = "hbase/localhost@" + secure.Realm
	for _, c := range []struct {
		name, pattern, host string
		o                   security.Options
		want                string // the owner of a ticket for ours, or else a part of the error
	}{
		{"keytab", "", "localhost", keytab, "loader"},
		{"a name in capitals", "", "LOCALHOST.", keytab, "loader"},
		{"cache", "hbase/_HOST@" + secure.Realm, "localhost", cache, "loader"},
		{"a server by name", ours, "elsewhere.test", cache, "loader"},
		{"folder", "", "localhost", security.Options{Config: kdc.Config, Cache: "DIR:" + folder}, "reader"},
		{"one of a folder", "", "localhost", security.Options{Config: kdc.Config, Cache: "DIR:" + folder, Principal: "loader"}, "loader"},
		{"a file of a folder", "", "localhost", security.Options{Config: kdc.Config, Cache: "DIR::" + folder + "/tktother"}, "loader"},
		{"one of a keytab", "", "localhost", security.Options{Config: kdc.Config, Keytab: both, Principal: "third@" + secure.Realm}, "third"},
		{"a keytab with keys of 128 bits", "", "localhost", security.Options{Config: kdc.Config, Keytab: kdc.Keytab("small")}, "small"},
		{"a keytab of several", "", "localhost", security.Options{Config: kdc.Config, Keytab: both}, "set hbase.principal to one of them"},
		{"another's keytab", "", "localhost", security.Options{Config: kdc.Config, Keytab: both, Principal: "loader"}, "holds no key of loader@"},
		{"another's cache", "", "localhost", security.Options{Config: kdc.Config, Cache: cache.Cache, Principal: "reader"}, "belongs to loader@"},
		{"an unknown server", "", "elsewhere.test", keytab, "knows no service hbase/elsewhere.test@"},
		{"another realm", "hbase/_HOST@OTHER.TEST", "localhost", keytab, "trust each other in no way"},
		{"a realm without a KDC", "", "localhost", security.Options{Config: kdc.Config, Keytab: both, Principal: "second@OTHER.TEST"}, "holds no key of second@OTHER.TEST"},
		{"an old key", "", "localhost", security.Options{Config: kdc.Config, Keytab: kdc.Keytab("old")}, "is not the KDC's: make the keytab anew"},
		{"an unknown principal", "", "localhost", security.Options{Config: kdc.Config, Keytab: kdc.Keytab("gone")}, "knows no principal gone@"},
		{"a locked principal", "", "localhost", security.Options{Config: kdc.Config, Keytab: kdc.Keytab("locked")}, "has locked locked@"},
		{"a bad pattern", "hbase/", "localhost", keytab, "hbase.server_principal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			creds, err := New(c.o)
			var got *Ticket
			if err == nil {
				got, err = creds.Ticket(t.Context(), c.pattern, c.host)
			}
			switch {
			case err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
				t.Errorf("%v, want %q", err, c.want)
			case err == nil && (got.Client.String() != c.want+"@"+secure.Realm || got.Service.String() != ours || len(got.Key.KeyValue) == 0):
				t.Errorf("%v for %v, want %q", got.Client, got.Service, c.want)
			}
		})
	}
	for _, o := range []security.Options{keytab, cache} {
		creds, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		cl, err := creds.Client(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := cl.GetServiceTicket("hdfs/localhost"); err != nil {
			t.Error(err)
		}
		cl.Destroy()
	}
	kdc.Stop()
	creds, err := New(keytab)
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := creds.Ticket(t.Context(), "", "localhost"); !errors.As(err, &e) || e.Final || !strings.Contains(err.Error(), "no KDC of realm") {
		t.Error(err)
	}
}

// Tickets of 4 seconds never run out for callers that ask all the time: by a keytab, and by a cache that a job
// writes again. While the KDC is away the old tickets serve.
func TestRenewal(t *testing.T) {
	kdc := secure.StartKDC(t)
	kdc.Admin(t, "modprinc -maxlife 4seconds krbtgt/"+secure.Realm)
	cache := filepath.Join(t.TempDir(), "cache")
	login := func() {
		if err := os.Rename(kdc.Login(t, "loader"), cache); err != nil {
			t.Error(err)
		}
	}
	login()
	long := 6 * time.Second
	if v, err := time.ParseDuration(os.Getenv("SYMLAKE_RENEW_TIME")); err == nil {
		long = v
	}
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	var running sync.WaitGroup
	ends := make([]map[time.Time]bool, 2)
	for i, o := range []security.Options{{Config: kdc.Config, Keytab: kdc.Keytab("loader")}, {Config: kdc.Config, Cache: cache}} {
		creds, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = make(map[time.Time]bool)
		var mu sync.Mutex
		for range 4 {
			running.Go(func() {
				for pace := time.NewTicker(10 * time.Millisecond); ; {
					k, err := creds.Ticket(context.WithoutCancel(ctx), "", "localhost")
					if err != nil || !time.Now().Before(k.End) {
						t.Errorf("%d: %v, %v", i, k, err)
						return
					}
					mu.Lock()
					ends[i][k.End] = true
					mu.Unlock()
					select {
					case <-pace.C:
					case <-ctx.Done():
						return
					}
				}
			})
		}
	}
	for again := time.NewTicker(2500 * time.Millisecond); ctx.Err() == nil; {
		select {
		case <-again.C:
			kdc.Stop()
			if err := kdc.Start(); err != nil {
				t.Error(err)
			}
			login()
		case <-ctx.Done():
		}
	}
	running.Wait()
	for i, all := range ends {
		if len(all) < 2 {
			t.Errorf("%d: %d tickets in %v", i, len(all), long)
		}
	}
	// A cache without renewal ends in one sentence.
	creds, err := New(security.Options{Config: kdc.Config, Cache: kdc.Login(t, "reader", "-l", "1s", "-r", "1s")})
	if err != nil {
		t.Fatal(err)
	}
	formattest.Await(t, "the ticket ends", func() bool {
		_, err = creds.Ticket(t.Context(), "", "localhost")
		return err != nil
	})
	var e *Error
	if !errors.As(err, &e) || !e.Final || !strings.Contains(err.Error(), "run kinit") {
		t.Error(err)
	}
}
