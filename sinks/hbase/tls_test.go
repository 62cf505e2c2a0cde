package hbase

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// A store works over TLS, and each fault of a certificate is told at once.
func TestTLS(t *testing.T) {
	server := hbasetest.Shared(t)
	rest := "//" + server.Master + "/" + namespace() + "?regions=3"
	o := Options{Security: security.Options{TLS: security.TLS{CA: server.TLS.CA}}}
	if err := Create(t.Context(), rest, o); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), rest, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Catalog.Swap(t.Context(), []byte("k"), nil, []byte("v")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tls  security.TLS
		want string
	}{
		{security.TLS{CA: server.TLS.ForeignCA}, "does not have the issuer"},
		{security.TLS{CA: server.TLS.CA, ServerName: "other.test"}, "not for other.test"},
		{security.TLS{CA: "missing.pem"}, "missing.pem"},
	} {
		began := time.Now()
		_, err := Open(t.Context(), rest, Options{ReadOnly: true, Security: security.Options{TLS: c.tls}})
		if !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), c.want) || time.Since(began) > formattest.Soon {
			t.Errorf("%+v: %v after %v, want %q", c.tls, err, time.Since(began), c.want)
		}
	}
}

// A server that speaks TLS alone, and to known clients alone.
func TestTLSDemanded(t *testing.T) {
	t.Parallel()
	files := secure.TLSFiles(t)
	server := hbasetest.Start(t, hbasetest.Options{TLS: files, TLSOnly: true, ClientCertificate: true})
	rest := "//" + server.Master + "/lake?regions=3"
	for _, c := range []struct {
		tls  security.TLS
		want string // of the error; "": it works
	}{
		{security.TLS{}, "demands TLS: set hbase.tls"},
		{security.TLS{CA: files.CA}, "demands a client certificate"},
		{security.TLS{CA: files.CA, Certificate: files.Foreign.Certificate, Key: files.Foreign.Key}, "refuses the client certificate"},
		{security.TLS{CA: files.CA, Certificate: files.Client.Certificate, Key: files.Client.Key}, ""},
	} {
		began := time.Now()
		err := Create(t.Context(), rest, Options{Security: security.Options{TLS: c.tls}})
		if c.want == "" {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), c.want) || time.Since(began) > formattest.Patience {
			t.Errorf("%+v: %v after %v, want %q", c.tls, err, time.Since(began), c.want)
		}
	}
}
