package tlsfiles

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// serve answers each connection with the line "hello" after it has read a byte.
func serve(t *testing.T, config *tls.Config) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if config != nil {
					c = tls.Server(c, config)
				}
				var b [1]byte
				if _, err := c.Read(b[:]); err == nil {
					_, _ = io.WriteString(c, "hello\n")
				}
			}()
		}
	}()
	return l.Addr().String()
}

func pair(t *testing.T, p secure.Pair) tls.Certificate {
	t.Helper()
	c, err := tls.LoadX509KeyPair(p.Certificate, p.Key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// talk connects and returns what a client hears.
func talk(t *testing.T, c *Config, address, name string) (net.Conn, error) {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, port, _ := net.SplitHostPort(address)
	s, err := c.Client(ctx, nc, net.JoinHostPort(name, port))
	if err != nil {
		return nil, err
	}
	if _, err := s.Write([]byte("x")); err != nil {
		return nil, err
	}
	b := make([]byte, 6)
	if _, err := io.ReadFull(s, b); err != nil {
		return nil, err
	}
	if string(b) != "hello\n" {
		t.Errorf("the server said %q", b)
	}
	return s, nil
}

func try(t *testing.T, o security.TLS, address string) error {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = talk(t, c, address, "localhost")
	return err
}

func TestServers(t *testing.T) {
	f := secure.TLSFiles(t)
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(ca)
	demanding := func(most uint16) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{pair(t, f.Server)}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MaxVersion: most}
	}
	server := func(p secure.Pair) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{pair(t, p)}} }
	old := server(f.Server)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	ours := security.TLS{CA: f.CA}
	named := security.TLS{CA: f.CA, ServerName: "elsewhere.test"}
	known := security.TLS{CA: f.CA, Certificate: f.Client.Certificate, Key: f.Client.Key}
	foreign := security.TLS{CA: f.CA, Certificate: f.Foreign.Certificate, Key: f.Foreign.Key}
	for _, c := range []struct {
		name   string
		o      security.TLS
		server *tls.Config // nil: without TLS
		want   []string    // of the error; none: it works
	}{
		{"fit", ours, server(f.Server), nil},
		{"another name that was asked for", named, server(f.WrongName), nil},
		{"client certificate", known, demanding(0), nil},
		{"client certificate, 1.2", known, demanding(tls.VersionTLS12), nil},
		{"wrong name", ours, server(f.WrongName), []string{"is for [elsewhere.test] and not for localhost", "hbase.tls_server_name"}},
		{"right name, wrong asked for", named, server(f.Server), []string{"and not for elsewhere.test"}},
		{"expired", ours, server(f.Expired), []string{"out of date"}},
		{"unknown issuer", ours, server(f.Foreign), []string{f.CA + " does not have the issuer", "foreign-ca", "hbase.tls_ca"}},
		{"the system's authorities", security.TLS{On: true}, server(f.Server), []string{"the system's authorities"}},
		{"no TLS", ours, nil, []string{"does not speak TLS"}},
		{"TLS 1.1", ours, old, []string{"protocol version"}},
		{"no client certificate", ours, demanding(0), []string{"demands a client certificate", "hbase.tls_certificate"}},
		{"no client certificate, 1.2", ours, demanding(tls.VersionTLS12), []string{"demands a client certificate"}},
		{"foreign client certificate", foreign, demanding(0), []string{"refuses the client certificate " + f.Foreign.Certificate}},
		{"foreign client certificate, 1.2", foreign, demanding(tls.VersionTLS12), []string{"refuses the client certificate"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := try(t, c.o, serve(t, c.server))
			if len(c.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, security.ErrRefused) {
				t.Errorf("%v: not final", err)
			}
			for _, want := range append(c.want, "TLS with localhost:") {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
		})
	}
}

// A server that hangs up may be dying, so the client tries once more.
func TestHangUp(t *testing.T) {
	f := secure.TLSFiles(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	err = try(t, security.TLS{CA: f.CA}, l.Addr().String())
	if err == nil || errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), "hangs up") {
		t.Errorf("%v", err)
	}
}

func TestUnfitFiles(t *testing.T) {
	f := secure.TLSFiles(t)
	missing := filepath.Join(t.TempDir(), "missing.pem")
	for _, c := range []struct {
		o    security.TLS
		want string
	}{
		{security.TLS{CA: missing}, missing},
		{security.TLS{CA: f.Server.Key}, "no PEM certificate"},
		{security.TLS{CA: f.Dir}, "no file of certificates"},
		{security.TLS{Certificate: f.Client.Certificate}, "go together"},
		{security.TLS{Certificate: f.Client.Certificate, Key: f.Server.Key}, "does not match"},
		{security.TLS{Certificate: f.Client.Certificate, Key: f.Client.Certificate}, f.Client.Certificate},
	} {
		if _, err := New(c.o); !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

// put replaces a file as an operator's tool does.
func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Files that change count from the next connection on, half-written ones never.
func TestReload(t *testing.T) {
	f := secure.TLSFiles(t)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(text(t, f.CA))
	theirs := &tls.Config{Certificates: []tls.Certificate{pair(t, f.Foreign)}}
	demands := &tls.Config{Certificates: []tls.Certificate{pair(t, f.Server)}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	foreign, own := serve(t, theirs), serve(t, demands)

	dir := t.TempDir()
	ca, certificate, key := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "c.pem"), filepath.Join(dir, "c.key")
	put(t, ca, text(t, f.ForeignCA))
	put(t, certificate, text(t, f.Foreign.Certificate))
	put(t, key, text(t, f.Foreign.Key))
	c, err := New(security.TLS{CA: ca, Certificate: certificate, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := talk(t, c, foreign, "localhost"); err != nil {
		t.Fatal(err)
	}
	if _, err := talk(t, c, own, "localhost"); err == nil || !strings.Contains(err.Error(), "does not have the issuer") {
		t.Fatalf("before the change: %v", err)
	}
	put(t, ca, append(text(t, f.CA), text(t, f.ForeignCA)...))
	if _, err := talk(t, c, own, "localhost"); err == nil || !strings.Contains(err.Error(), "refuses the client certificate") {
		t.Fatalf("with the new authority: %v", err)
	}
	put(t, certificate, text(t, f.Client.Certificate)) // the key is the old one still
	if _, err := talk(t, c, foreign, "localhost"); err != nil {
		t.Fatalf("half of a change: %v", err)
	}
	put(t, key, text(t, f.Client.Key))
	if _, err := talk(t, c, own, "localhost"); err != nil {
		t.Fatalf("after the change: %v", err)
	}
	if err := os.Remove(ca); err != nil {
		t.Fatal(err)
	}
	if _, err := talk(t, c, own, "localhost"); err != nil {
		t.Fatalf("while a file is missing: %v", err)
	}
}
