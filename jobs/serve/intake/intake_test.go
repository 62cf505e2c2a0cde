package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/jobs/serve/fair"
)

// serveOne reads the bodies of a server's requests, and hands out what became of each.
func serveOne(t *testing.T, in *Intake) (url string, outcomes <-chan error) {
	t.Helper()
	said := make(chan error, 16)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := in.Read(r.Context(), r.Header.Get("Caller"), w, r)
		if err == nil {
			w.Write(body.Text)
			body.Close()
		}
		said <- err
	}))
	t.Cleanup(s.Close)
	return s.URL, said
}

func send(t *testing.T, url, caller string, body io.Reader) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Caller", caller)
	go func() {
		if res, err := http.DefaultClient.Do(r); err == nil {
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
}

// A body that stands still, or comes below the rate, is given up; the memory that it held is free again.
func TestSlowBody(t *testing.T) {
	in := New(Limits{Bytes: 1 << 20, Time: time.Hour, Rate: 1 << 20, Window: 50 * time.Millisecond})
	url, said := serveOne(t, in)
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	send(t, url, "a", r)
	if err := <-said; !errors.Is(err, ErrSlow) {
		t.Errorf("it stands still: %v", err)
	}
	trickling, tw := io.Pipe()
	go func() {
		for {
			if _, err := tw.Write([]byte("x")); err != nil {
				return
			}
		}
	}()
	in.limits.Rate = 1 << 40
	send(t, url, "a", trickling)
	if err := <-said; !errors.Is(err, ErrSlow) && !errors.Is(err, ErrTooLarge) {
		t.Errorf("it trickles: %v", err)
	}
	trickling.Close()
	release, err := in.large.Acquire(t.Context(), "a", in.large.Most())
	if err != nil {
		t.Fatal(err)
	}
	release()
}

// A body as long as one may be is read, one byte more is refused, however its length is told.
func TestLongBody(t *testing.T) {
	const most = 300_000
	in := New(Limits{Bytes: most, Time: time.Minute, Rate: 1, Window: time.Minute})
	url, said := serveOne(t, in)
	for _, n := range []int{0, 1, smallBytes - 1, smallBytes, smallBytes + 1, most, most + 1} {
		for _, body := range []io.Reader{bytes.NewReader(make([]byte, n)), io.MultiReader(strings.NewReader(strings.Repeat("x", n)))} {
			send(t, url, "a", body)
			if err := <-said; (n > most) != errors.Is(err, ErrTooLarge) || n <= most && err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	}
}

// One caller's bodies hold at most half of the memory.
func TestBodiesAreShared(t *testing.T) {
	in := New(Limits{Bytes: 1 << 20, Time: time.Hour, Rate: 1, Window: time.Hour})
	url, said := serveOne(t, in)
	for range 12 { // each wants a MiB
		_, w := io.Pipe()
		t.Cleanup(func() { w.Close() })
		r, err := http.NewRequest(http.MethodPost, url, io.MultiReader(strings.NewReader("x"), &still{t.Context().Done()}))
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = 1 << 20
		r.Header.Set("Caller", "greedy")
		go func() {
			if res, err := http.DefaultClient.Do(r.WithContext(t.Context())); err == nil {
				res.Body.Close()
			}
		}()
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for { // until the greedy caller holds its half
		release, err := in.large.Acquire(ended, "greedy", 1)
		if errors.Is(err, fair.ErrShare) {
			break
		}
		if err != nil {
			t.Fatalf("the greedy caller gets %v", err)
		}
		release()
	}
	send(t, url, "other", bytes.NewReader(make([]byte, 1<<20)))
	if err := <-said; err != nil {
		t.Error(err)
	}
}

// still is a body that stands still until its test ends.
type still struct{ end <-chan struct{} }

func (s *still) Read([]byte) (int, error) {
	<-s.end
	return 0, io.ErrUnexpectedEOF
}

// A body that waited for memory has a new window afterwards: the wait was not its sender's.
func TestWaitIsNotTheSenders(t *testing.T) {
	in := New(Limits{Bytes: 1 << 20, Time: time.Hour, Rate: 1, Window: time.Hour})
	windows := 0
	sent := &paced{from: bytes.NewReader(make([]byte, 3*smallBytes)), set: func(time.Time) error { windows++; return nil }, window: time.Hour,
		piece: 1 << 30, last: time.Now().Add(time.Hour)}
	body := &Body{}
	defer body.Close()
	if err := in.all(t.Context(), "a", body, sent, sent, -1); err != nil || len(body.Text) != 3*smallBytes || windows != 2 {
		t.Errorf("%v, %d bytes, %d windows", err, len(body.Text), windows)
	}
}
