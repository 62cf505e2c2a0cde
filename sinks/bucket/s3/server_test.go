package s3_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	keys := 0
	if err := b.List(t.Context(), "", "", func(bucket.Entry) error { keys++; return nil }); err != nil || keys != 1 {
		t.Errorf("list: %d keys, %v", keys, err)
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

// Three answers of ten have one bit flipped: every object is read as it was stored, and where no
// answer is right the read fails and says so.
func TestFlippedBits(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "flipped")
	const objects = 20
	body := func(i int) []byte { return pattern(200<<10 + i) }
	for i := range objects {
		srv.Put(t, "flipped", fmt.Sprint(i), body(i), nil)
	}
	p := newProxy(t, srv.Endpoint)
	b, err := s3.Open(t.Context(), "flipped", "", s3.Options{Endpoint: p.Server.URL})
	if err != nil {
		t.Fatal(err)
	}
	stat := func(i int) bucket.Entry {
		e, _, err := b.Stat(t.Context(), fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	p.flip.Store(3)
	for i := range objects {
		e := stat(i)
		got := make(buffer, e.Size)
		if err := b.Fetch(t.Context(), e, got); err != nil || !bytes.Equal(got, body(i)) {
			t.Errorf("fetch %d: %v", i, err)
		}
		r, err := b.Open(t.Context(), e)
		if err != nil {
			t.Errorf("open %d: %v", i, err)
			continue
		}
		if all, err := io.ReadAll(io.NewSectionReader(r, 0, e.Size)); err != nil || !bytes.Equal(all, body(i)) {
			t.Errorf("read %d: %d bytes, %v", i, len(all), err)
		}
		r.Close()
	}
	large := pattern(20<<20 + 5)
	srv.Put(t, "flipped", "large", large, nil)
	e, _, err := b.Stat(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		got := make(buffer, e.Size)
		if err := b.Fetch(t.Context(), e, got); err != nil || !bytes.Equal(got, large) {
			t.Errorf("fetch the large one, %d: %v", i, err)
		}
	}
	p.flip.Store(10)
	if err := b.Fetch(t.Context(), e, make(buffer, e.Size)); err == nil || !strings.Contains(err.Error(), "came damaged") {
		t.Errorf("the large one, always flipped: %v", err)
	}
	e = stat(0)
	err = b.Fetch(t.Context(), e, make(buffer, e.Size))
	if err == nil || !strings.Contains(err.Error(), "damaged 8 times") || errors.Is(err, bucket.ErrChanged) || errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("always flipped: %v", err)
	}
}

// What passes is asked again, what does not is said at once, and by its kind.
func TestRefused(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "refused")
	body := pattern(1 << 20)
	srv.Put(t, "refused", "x", body, nil)
	p := newProxy(t, srv.Endpoint)
	b, err := s3.Open(t.Context(), "refused", "", s3.Options{Endpoint: p.Server.URL})
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := b.Stat(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status, times int32
		want          error // nil: the object
		said          string
		requests      int32 // 0: any number
	}{
		{status: 500, times: 2},
		{status: 503, times: 2},
		{status: 503, times: 1000, want: errAny, said: "Service Unavailable"},
		{status: 403, times: 1000, want: errAny, said: "access denied", requests: 1},
		{status: 404, times: 1000, want: bucket.ErrNotFound, said: "no such object", requests: 1},
		{status: 412, times: 1000, want: bucket.ErrChanged, said: "changed", requests: 1},
		{status: 416, times: 1000, want: bucket.ErrChanged, said: "changed", requests: 1},
	} {
		p.requests.Store(0)
		p.status.Store(c.status)
		p.refuse.Store(c.times)
		got := make(buffer, e.Size)
		err := b.Fetch(t.Context(), e, got)
		switch {
		case c.want == nil && (err != nil || !bytes.Equal(got, body)):
			t.Errorf("%d, %d times: %v", c.status, c.times, err)
		case c.want != nil && (err == nil || c.want != errAny && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.said)):
			t.Errorf("%d: %v, want %v", c.status, err, c.want)
		case c.requests > 0 && p.requests.Load() != c.requests:
			t.Errorf("%d: %d requests, want %d", c.status, p.requests.Load(), c.requests)
		}
		if got := s3.Refused(err); got != (c.status == 403) {
			t.Errorf("%d: refused is %v", c.status, got)
		}
	}
}

var errAny = errors.New("any error")

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

// A large object leaves nothing if its writer loses, and an object with an answer that got
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
