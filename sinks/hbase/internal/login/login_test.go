package login

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/internal/login/logintest"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// connect logs in to a server that is never asked.
func connect(t *testing.T, o security.Options) (*Session, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { theirs.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), formattest.Patience)
	defer cancel()
	return New(o).Connect(ctx, ours, "localhost:1", "me")
}

// Without a setting there is no fault: a broken krb5.conf or cache leads to a name without a proof, and the reason comes
// when the server demands more. With a setting it is a fault at once.
func TestNotAsked(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	realm := logintest.NewRealm(t, 18)
	t.Setenv("KRB5_CONFIG", realm.Config)
	for _, c := range []struct{ config, cache string }{{realm.Config, bad}, {bad, filepath.Join(dir, "none")}, {realm.Config, filepath.Join(dir, "none")}, {realm.Config, "KCM:0"}} {
		t.Setenv("KRB5_CONFIG", c.config)
		t.Setenv("KRB5CCNAME", c.cache)
		s, err := connect(t, security.Options{})
		if err != nil || string(s.Hello) != "HBas\x00\x50" || s.User != "me" {
			t.Fatalf("%+v: %v", c, err)
		}
		if err := s.Denied(errors.New("denied")); !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), c.cache) && !strings.Contains(err.Error(), c.config) {
			t.Errorf("%+v: %v", c, err)
		}
		for _, o := range []security.Options{{Mode: "kerberos"}, {Protection: "privacy"}, {Config: c.config, Principal: "me"}} {
			if _, err := connect(t, o); !errors.Is(err, security.ErrRefused) {
				t.Errorf("%+v, %+v: %v", c, o, err)
			}
		}
	}
}

// A ticket that goes away (kdestroy) or ends is told at once.
func TestTicketGone(t *testing.T) {
	realm := logintest.NewRealm(t, 18)
	o := realm.Options(t, -time.Second)
	if _, err := connect(t, o); !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), "expired at") {
		t.Error(err)
	}
	o = realm.Options(t, 2*time.Second)
	l := New(o)
	if _, err := l.credentials(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(strings.TrimPrefix(o.Cache, "FILE:")); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		ours, theirs := net.Pipe()
		theirs.Close()
		_, err := l.Connect(t.Context(), ours, "localhost:1", "me")
		if errors.Is(err, security.ErrRefused) && strings.Contains(err.Error(), "there is no credential cache") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
