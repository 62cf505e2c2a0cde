package s3_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/s3"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

func TestAnonymous(t *testing.T) {
	srv := s3test.Start(t)
	for _, name := range []string{"private", "public"} {
		srv.Make(t, name)
		srv.Put(t, name, "x", []byte("x"), nil)
	}
	srv.Public(t, "public")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	read := func(name string, o s3.Options) error {
		o.Endpoint = srv.Endpoint
		b, err := s3.Open(t.Context(), name, "", o)
		if err != nil {
			return err
		}
		n := 0
		err = b.List(t.Context(), "", "", func(e bucket.Entry) error {
			n++
			r, err := b.Open(t.Context(), e)
			if err != nil {
				return err
			}
			return r.Close()
		})
		if err == nil && n != 1 {
			err = fmt.Errorf("%d objects", n)
		}
		return err
	}
	if err := read("public", s3.Options{Anonymous: true}); err != nil {
		t.Error(err)
	}
	if err := read("private", s3.Options{Anonymous: true}); err == nil || !strings.Contains(err.Error(), "access denied (AccessDenied)") {
		t.Errorf("private: %v", err)
	}
	start := time.Now()
	if err := read("private", s3.Options{}); err == nil || !strings.Contains(err.Error(), "no credentials found: set a profile") {
		t.Errorf("no credentials: %v", err)
	}
	if d := time.Since(start); d > formattest.Patience {
		t.Errorf("took %v to find no credentials", d)
	}
}

// What people get wrong shows as one line that says so.
func TestClearErrors(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "there")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + free.Addr().String()
	free.Close()
	for _, c := range []struct {
		name, bucket, endpoint, key, secret string
		want                                string
	}{
		{name: "bucket", bucket: "absent", want: "s3: list s3://absent/p/: no such bucket (NoSuchBucket)"},
		{name: "secret", bucket: "there", secret: "wrong", want: "s3: list s3://there/p/: wrong secret key (SignatureDoesNotMatch)"},
		{name: "key", bucket: "there", key: "wrong", want: "s3: list s3://there/p/: the server does not know this access key (XAdminUserNotFound)"},
		{name: "endpoint", bucket: "there", endpoint: nobody, want: "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.secret != "" {
				t.Setenv("AWS_SECRET_ACCESS_KEY", c.secret)
			}
			if c.key != "" {
				t.Setenv("AWS_ACCESS_KEY_ID", c.key)
			}
			if c.endpoint == "" {
				c.endpoint = srv.Endpoint
			}
			b, err := s3.Open(t.Context(), c.bucket, "p", s3.Options{Endpoint: c.endpoint})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			err = b.List(t.Context(), "", "", func(bucket.Entry) error { return nil })
			if err == nil || !strings.HasSuffix(err.Error(), c.want) || errors.Is(err, bucket.ErrNotFound) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			if d := time.Since(start); d > formattest.Patience {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	s3test.Environment(t)
	for _, o := range []s3.Options{{Checksums: "sometimes"}, {Endpoint: "127.0.0.1:7070"}, {Endpoint: "ftp://x"}, {Profile: "no-such-profile"}} {
		if _, err := s3.Open(t.Context(), "b", "", o); !errors.Is(err, bucket.ErrUsage) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	// With a certificate bundle the SDK wants a client it can change.
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	file := t.TempDir() + "/ca.pem"
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", file)
	if _, err := s3.Open(t.Context(), "b", "", s3.Options{}); err != nil {
		t.Error(err)
	}
}

// Servers that do not know the newer checksums are not sent any.
func TestChecksumsRequired(t *testing.T) {
	s3test.Environment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	var sums atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for k := range r.Header {
			if k = strings.ToLower(k); strings.HasPrefix(k, "x-amz-checksum") || strings.HasPrefix(k, "x-amz-sdk-checksum") || k == "x-amz-trailer" {
				sums.Add(1)
			}
		}
		w.Header().Set("ETag", `"e"`)
		w.Header().Set("Content-Length", "1")
		if r.Method == http.MethodGet {
			w.Write([]byte("x"))
		}
	}))
	defer server.Close()
	for _, c := range []struct {
		checksums string
		any       bool
	}{{"required", false}, {"auto", true}, {"", true}} {
		b, err := s3.Open(t.Context(), "b", "", s3.Options{Endpoint: server.URL, Checksums: c.checksums})
		if err != nil {
			t.Fatal(err)
		}
		sums.Store(0)
		b.Create(t.Context(), "k", "", strings.NewReader("x"))
		if err := b.Fetch(t.Context(), bucket.Entry{Key: "k", ETag: "e", Size: 1}, make(buffer, 1)); err != nil {
			t.Error(err)
		}
		if (sums.Load() > 0) != c.any {
			t.Errorf("checksums %q: %d checksum headers", c.checksums, sums.Load())
		}
	}
}
