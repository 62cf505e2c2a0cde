package s3_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync/atomic"
	"testing"
)

// proxy counts requests on their way to the server, and may spoil answers.
type proxy struct {
	*httptest.Server
	requests, ranges atomic.Int32
	cut              atomic.Int32 // answers to break off in the middle of their body
	flip             atomic.Int32 // of ten answers with a body, how many have one bit flipped
	lose             atomic.Int32 // answers to writes that get lost
	refuse           atomic.Int32 // reads to answer with status
	status           atomic.Int32
	bodies           atomic.Int32 // answers that flip was asked about
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
		if r.Method == http.MethodGet && p.refuse.Add(-1) >= 0 {
			w.WriteHeader(int(p.status.Load()))
			return
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
		if r.Method == http.MethodGet && r.URL.Query().Get("list-type") == "" {
			if n := p.bodies.Add(1); n*7%10 < p.flip.Load() {
				flipped, _ := io.ReadAll(res.Body)
				flipped[uint64(n)*2654435761%uint64(len(flipped))] ^= 4 // another bit each time
				w.Write(flipped)
				return
			}
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
