// Package buckettest is what every bucket is tested with.
package buckettest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/sinks/bucket"
)

// Run holds a bucket to its contract. open gives a new, empty one each time.
func Run(t *testing.T, open func(t *testing.T) bucket.Bucket) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, bucket.Bucket)
	}{
		{"ListOrder", listOrder}, {"ListAfterAndPrefix", listAfterAndPrefix}, {"ListEmitError", listEmitError},
		{"Read", read}, {"Empty", empty}, {"Missing", missing}, {"ChangedBeforeOpen", changedBeforeOpen},
		{"CreateConditions", createConditions}, {"CreateRace", createRace}, {"ReplaceRace", replaceRace},
		{"CreateWhole", createWhole}, {"Draft", draft}, {"Delete", deleteKeys}, {"Canceled", canceled}, {"URL", urls},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

func create(t *testing.T, b bucket.Bucket, key string, body []byte) bucket.Entry {
	t.Helper()
	if err := b.Create(t.Context(), key, "", bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	e, _, err := b.Stat(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// list returns the keys of a listing.
func list(t *testing.T, b bucket.Bucket, prefix, after string) []string {
	t.Helper()
	var keys []string
	err := b.List(t.Context(), prefix, after, func(e bucket.Entry) error {
		keys = append(keys, e.Key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func random(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// keys sort differently by folders and by bytes, and have odd names.
var keys = []string{
	"a.b", "a/b", "a/b.c", "a/c/d", "a-b/x", "a-", "A", "a b", "a+b", "b/ä", "b/z", "b/\U0001F600", "é", "zz/%41", "zz/1", "zz/10", "zz/2",
}

func listOrder(t *testing.T, b bucket.Bucket) {
	if got := list(t, b, "", ""); len(got) != 0 {
		t.Fatalf("an empty bucket lists %q", got)
	}
	for i, k := range keys {
		create(t, b, k, random(i))
	}
	want := slices.Sorted(slices.Values(keys))
	if got := list(t, b, "", ""); !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	// What a listing says is what Stat says, and what Open takes.
	err := b.List(t.Context(), "", "", func(e bucket.Entry) error {
		s, _, err := b.Stat(t.Context(), e.Key)
		if err != nil {
			return err
		}
		if s.ETag != e.ETag || s.Size != e.Size || e.ETag == "" || e.Modified.IsZero() {
			t.Errorf("listed %+v, stat %+v", e, s)
		}
		r, err := b.Open(t.Context(), e)
		if err != nil {
			return err
		}
		return r.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func listAfterAndPrefix(t *testing.T, b bucket.Bucket) {
	for _, k := range keys {
		create(t, b, k, nil)
	}
	all := slices.Sorted(slices.Values(keys))
	for _, prefix := range []string{"", "a", "a/", "a/b", "a/c/d", "zz/1", "none", "a/c/d/e"} {
		for _, after := range append([]string{"", "0", "a", "a/", "a/b", "a/b0", "a0", "zz/10", "zz/2", "zzz", "\U0010FFFF"}, all...) {
			var want []string
			for _, k := range all {
				if strings.HasPrefix(k, prefix) && k > after {
					want = append(want, k)
				}
			}
			if got := list(t, b, prefix, after); !slices.Equal(got, want) {
				t.Errorf("prefix %q after %q: got %q, want %q", prefix, after, got, want)
			}
		}
	}
}

func listEmitError(t *testing.T, b bucket.Bucket) {
	create(t, b, "x/1", nil)
	create(t, b, "x/2", nil)
	stop := errors.New("stop")
	n := 0
	if err := b.List(t.Context(), "", "", func(bucket.Entry) error { n++; return stop }); err != stop || n != 1 {
		t.Fatalf("%v after %d", err, n)
	}
}

func read(t *testing.T, b bucket.Bucket) {
	const size = 3<<20 + 12345
	body := random(size)
	e := create(t, b, "dir/object", body)
	if e.Size != size {
		t.Fatalf("size %d, want %d", e.Size, size)
	}
	r, err := b.Open(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Mapped(); m != nil && !bytes.Equal(m, body) {
		t.Fatal("the mapping is not the object")
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(7, uint64(g)))
			for range 50 {
				off, n := rnd.IntN(size+10), rnd.IntN(70_000)
				if rnd.IntN(20) == 0 {
					n = rnd.IntN(size)
				}
				p := make([]byte, n)
				got, err := r.ReadAt(p, int64(off))
				want := max(0, min(n, size-off))
				if got != want || !bytes.Equal(p[:got], body[min(off, size):min(off, size)+got]) || (err == io.EOF) != (want < n) && n > 0 && err != nil {
					t.Errorf("read %d at %d: %d bytes, %v", n, off, got, err)
				}
			}
		})
	}
	wg.Wait()
	all, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil || !bytes.Equal(all, body) {
		t.Fatalf("whole: %d bytes, %v", len(all), err)
	}
	if n, err := r.ReadAt(make([]byte, 1), size); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if _, err := r.ReadAt(make([]byte, 1), -1); err == nil || err == io.EOF {
		t.Errorf("before the beginning: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if f, ok := b.(bucket.Fetcher); ok {
		fetch(t, f, e, body)
	}
}

func fetch(t *testing.T, f bucket.Fetcher, e bucket.Entry, body []byte) {
	t.Helper()
	var w memory
	if err := f.Fetch(t.Context(), e, &w); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(w.b, body) {
		t.Fatalf("fetched %d other bytes than the %d written", len(w.b), len(body))
	}
	e.ETag = strings.Repeat("0", 32)
	if err := f.Fetch(t.Context(), e, &memory{}); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("fetch of another ETag: %v", err)
	}
	e.Key += "-none"
	if err := f.Fetch(t.Context(), e, &memory{}); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("fetch of nothing: %v", err)
	}
}

// memory is a WriterAt.
type memory struct {
	mu sync.Mutex
	b  []byte
}

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if need := int(off) + len(p); need > len(m.b) {
		m.b = append(m.b, make([]byte, need-len(m.b))...)
	}
	return copy(m.b[off:], p), nil
}

func empty(t *testing.T, b bucket.Bucket) {
	e := create(t, b, "empty", nil)
	r, err := b.Open(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.ReadAt(make([]byte, 1), 0); n != 0 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if f, ok := b.(bucket.Fetcher); ok {
		fetch(t, f, e, nil)
	}
}

func missing(t *testing.T, b bucket.Bucket) {
	create(t, b, "dir/there", []byte("x"))
	for _, key := range []string{"none", "dir", "dir/", "dir/none", "dir/there/below", ""} {
		if _, _, err := b.Stat(t.Context(), key); !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("stat %q: %v", key, err)
		}
		if r, err := b.Open(t.Context(), bucket.Entry{Key: key, ETag: "1", Size: 1}); !errors.Is(err, bucket.ErrNotFound) && !errors.Is(err, bucket.ErrChanged) {
			t.Errorf("open %q: %v, %v", key, r, err)
		}
	}
}

func changedBeforeOpen(t *testing.T, b bucket.Bucket) {
	e := create(t, b, "k", []byte("one"))
	if err := b.Create(t.Context(), "k", e.ETag, strings.NewReader("two")); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Open(t.Context(), e); !errors.Is(err, bucket.ErrChanged) {
		t.Fatalf("%v, %v", r, err)
	}
}

func canceled(t *testing.T, b bucket.Bucket) {
	create(t, b, "k", []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.List(ctx, "", "", func(bucket.Entry) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	if err := b.Create(ctx, "new", "", strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("create: %v", err)
	}
	if err := b.Delete(ctx, []string{"k"}); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: %v", err)
	}
	if got := list(t, b, "", ""); !slices.Equal(got, []string{"k"}) {
		t.Errorf("left: %q", got)
	}
}

// urls: they sort as keys, and the bucket's own begins each.
func urls(t *testing.T, b bucket.Bucket) {
	sorted := slices.Sorted(slices.Values(keys))
	for i, k := range sorted {
		if i > 0 && b.URL(sorted[i-1]) >= b.URL(k) {
			t.Errorf("%q before %q", b.URL(sorted[i-1]), b.URL(k))
		}
		if !strings.HasPrefix(b.URL(k), strings.TrimSuffix(b.URL(""), "/")+"/") || !strings.HasSuffix(b.URL(k), k) {
			t.Errorf("%q of %q", b.URL(k), k)
		}
	}
}
