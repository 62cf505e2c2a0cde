package s3_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/s3"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

// More keys than two pages hold, in folders, resumed at every kind of place.
func TestListPages(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "pages")
	b := open(t, srv, "pages", "p")
	const n = 2500
	key := func(i int) string { return fmt.Sprintf("%02x/%06d", i/100, i) }
	for i := range n {
		file := filepath.Join(srv.Root, "pages", "p", key(i))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	srv.Put(t, "pages", "p/mark/", nil, nil) // a console's folder: no object
	count := func(after string) (got int) {
		t.Helper()
		last := after
		err := b.List(t.Context(), "", after, func(e bucket.Entry) error {
			if e.Key <= last {
				t.Fatalf("%q after %q", e.Key, last)
			}
			last = e.Key
			got++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := count(""); got != n {
		t.Fatalf("%d keys, want %d", got, n)
	}
	for _, i := range []int{0, 998, 999, 1000, 1001, 1999, 2000, n - 1} {
		if got := count(key(i)); got != n-1-i {
			t.Errorf("after %s: %d keys, want %d", key(i), got, n-1-i)
		}
		if got := count(key(i) + "x"); got != n-1-i { // no such key
			t.Errorf("after %sx: %d keys, want %d", key(i), got, n-1-i)
		}
	}
	all := make([]string, n)
	for i := range all {
		all[i] = key(i)
	}
	if err := b.Delete(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if got := count(""); got != 0 {
		t.Errorf("%d keys left", got)
	}
}

// proxy counts requests on their way to the server, and may spoil answers.
type proxy struct {
	*httptest.Server
	requests, ranges atomic.Int32
	cut              atomic.Int32 // answers to break off in the middle of their body
	lose             atomic.Int32 // answers to writes that nobody hears of
}

func newProxy(t *testing.T, to string) *proxy {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests.Add(1)
		if r.Header.Get("Range") != "" {
			p.ranges.Add(1)
		}
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = target.Scheme, target.Host, ""
		// Host is signed and stays the proxy's.
		res, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		if r.Method == http.MethodPut && p.lose.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		for k, v := range res.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(res.StatusCode)
		if r.Method == http.MethodGet && res.ContentLength > 1 && p.cut.Add(-1) >= 0 {
			io.CopyN(w, res.Body, res.ContentLength/2)
			panic(http.ErrAbortHandler)
		}
		io.Copy(w, res.Body)
	}))
	p.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(p.Close)
	return p
}

func pattern(n int) []byte {
	b := make([]byte, 0, n+8)
	for i := 0; len(b) < n; i++ {
		b = append(b, fmt.Sprintf("%08x", i*2654435761)...)
	}
	return b[:n]
}

// A large object comes whole by ranges, over several connections; the parser's
// way, by pieces, asks for no more requests than it must.
func TestLargeObject(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "large")
	body := pattern(40<<20 + 17)
	srv.Put(t, "large", "x", body, nil)
	p := newProxy(t, srv.Endpoint)
	b, err := s3.Open(t.Context(), "large", "", s3.Options{Endpoint: p.Server.URL})
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := b.Stat(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	stderr := captureStderr(t, func() {
		p.requests.Store(0)
		got := make(buffer, e.Size)
		if err := b.Fetch(t.Context(), e, got); err != nil {
			t.Error(err)
			return
		}
		if sha256.Sum256(got) != sha256.Sum256(body) {
			t.Error("fetched other bytes")
		}
		if n := p.ranges.Load(); n != 6 {
			t.Errorf("%d ranges of 8 MiB for 40 MiB and 17 bytes", n)
		}

		r, err := b.Open(t.Context(), e)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		p.requests.Store(0)
		head := make([]byte, 64)
		for _, off := range []int64{0, 64, e.Size - 64, 0, e.Size - 1000} { // a parser's look around
			if _, err := r.ReadAt(head, off); err != nil || !bytes.Equal(head, body[off:off+64]) {
				t.Errorf("at %d: %v", off, err)
			}
		}
		// The object's end lies in its last block, of 17 bytes, and the one before.
		if n := p.requests.Load(); n > 2 {
			t.Errorf("%d requests for the head, which Open had, and the tail", n)
		}
		p.requests.Store(0)
		sum := sha256.New()
		n, err := io.Copy(sum, io.NewSectionReader(r, 0, e.Size)) // 32 KiB at a time
		if err != nil || sha256.Sum256(body) != [32]byte(sum.Sum(nil)) {
			t.Errorf("in order: %d bytes, %v", n, err)
		}
		if n := p.requests.Load(); n > 14 {
			t.Errorf("%d requests for 40 MiB in order, want about one for 4 MiB", n)
		}
		p.requests.Store(0)
		big := make([]byte, 20<<20)
		if _, err := r.ReadAt(big, 12345); err != nil || !bytes.Equal(big, body[12345:12345+len(big)]) {
			t.Errorf("one large read: %v", err)
		}
		if n := p.requests.Load(); n != 1 {
			t.Errorf("%d requests for one large read", n)
		}
	})
	if stderr != "" {
		t.Errorf("the SDK wrote: %s", stderr)
	}
	e.ETag = "0"
	if err := b.Fetch(t.Context(), e, make(buffer, e.Size)); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("large fetch of another ETag: %v", err)
	}
}

// buffer is a WriterAt; its length is fixed.
type buffer []byte

func (b buffer) WriteAt(p []byte, off int64) (int, error) { return copy(b[off:], p), nil }

func captureStderr(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		out <- string(b)
	}()
	old := os.Stderr
	os.Stderr = w
	func() {
		defer func() { os.Stderr = old }()
		f()
	}()
	w.Close()
	return <-out
}

// Answers that break off are asked for again from where they ended.
func TestBrokenAnswers(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "broken")
	body := pattern(5 << 20)
	srv.Put(t, "broken", "x", body, nil)
	p := newProxy(t, srv.Endpoint)
	b, err := s3.Open(t.Context(), "broken", "", s3.Options{Endpoint: p.Server.URL})
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := b.Stat(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	p.cut.Store(2)
	got := make(buffer, e.Size)
	if err := b.Fetch(t.Context(), e, got); err != nil || !bytes.Equal(got, body) {
		t.Errorf("fetch: %v", err)
	}
	r, err := b.Open(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p.cut.Store(2)
	all, err := io.ReadAll(io.NewSectionReader(r, 0, e.Size))
	if err != nil || !bytes.Equal(all, body) {
		t.Errorf("read: %d bytes, %v", len(all), err)
	}
	p.cut.Store(1000)
	if err := b.Fetch(t.Context(), e, got); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("always broken: %v", err)
	}
}

// The object changes, or goes, between two reads of it.
func TestChangedWhileRead(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "change")
	b := open(t, srv, "change", "")
	for _, gone := range []bool{false, true} {
		srv.Put(t, "change", "x", pattern(6<<20), nil)
		e, _, err := b.Stat(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.Open(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if gone {
			err = b.Delete(t.Context(), []string{"x"})
		} else {
			srv.Put(t, "change", "x", pattern(7 << 20)[1<<20:], nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{100, 5 << 20} { // through the cache and past it
			if _, err := r.ReadAt(make([]byte, n), 1<<20); !errors.Is(err, bucket.ErrChanged) {
				t.Errorf("gone %v: %d bytes: %v", gone, n, err)
			}
		}
		r.Close()
		if _, err := r.ReadAt(make([]byte, 1), 2<<20); !errors.Is(err, context.Canceled) {
			t.Errorf("after Close: %v", err)
		}
	}
}

func TestMetadata(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "meta")
	srv.Put(t, "meta", "lib.so", []byte("x"), map[string]string{"Symlake-App": "shop", "symlake-build": "1234"})
	_, meta, err := open(t, srv, "meta", "").Stat(t.Context(), "lib.so")
	if err != nil || meta["symlake-app"] != "shop" || meta["symlake-build"] != "1234" {
		t.Fatalf("%v, %v", meta, err)
	}
}

// A large object whose writer loses leaves nothing, and one whose answer got
// lost knows that it won.
func TestCreateLarge(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "create")
	b := open(t, srv, "create", "")
	body := pattern(20 << 20)
	// A reader that cannot seek, as an encoder's output.
	stream := func() io.Reader { return io.MultiReader(bytes.NewReader(body)) }
	if err := b.Create(t.Context(), "x", "", stream()); err != nil {
		t.Fatal(err)
	}
	if err := b.Create(t.Context(), "x", "", stream()); !errors.Is(err, bucket.ErrChanged) {
		t.Fatalf("second: %v", err)
	}
	e, _, err := b.Stat(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	got := make(buffer, e.Size)
	if err := b.Fetch(t.Context(), e, got); err != nil || !bytes.Equal(got, body) {
		t.Fatalf("%v", err)
	}

	lossy := newProxy(t, srv.Endpoint)
	lossy.lose.Store(1)
	l, err := s3.Open(t.Context(), "create", "", s3.Options{Endpoint: lossy.Server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Create(t.Context(), "y", "", strings.NewReader("mine")); err != nil || lossy.requests.Load() < 2 {
		t.Errorf("lost answer: %v after %d requests", err, lossy.requests.Load())
	}
	if err := l.Create(t.Context(), "y", "", strings.NewReader("mine")); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("another writer with the same bytes: %v", err)
	}
}

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
	if d := time.Since(start); d > 5*time.Second {
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
			if d := time.Since(start); d > 15*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	s3test.Environment(t)
	for _, o := range []s3.Options{{Checksums: "sometimes"}, {Endpoint: "127.0.0.1:7070"}, {Endpoint: "ftp://x"}, {Profile: "no-such-profile"}} {
		if _, err := s3.Open(t.Context(), "b", "", o); err == nil {
			t.Errorf("%+v is fine", o)
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
