package sinktest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/symlake/symlake/sinks"
)

func get(t testing.TB, s *sinks.Store, key string) []byte {
	t.Helper()
	v, err := s.Catalog.Get(ctx, []byte(key))
	if err != nil {
		t.Fatalf("get %q: %v", key, err)
	}
	return v
}

func set(t testing.TB, s *sinks.Store, key string, old, new []byte) {
	t.Helper()
	if err := s.Catalog.Swap(ctx, []byte(key), old, new); err != nil {
		t.Fatalf("swap %q: %v", key, err)
	}
}

func swap(t *testing.T, open func() *sinks.Store) {
	s, other := open(), open()
	is := func(key string, want []byte) {
		t.Helper()
		for _, s := range []*sinks.Store{s, other} {
			if got := get(t, s, key); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				t.Fatalf("%q is %q (nil: %v), want %q", key, got, got == nil, want)
			}
		}
	}
	conflict := func(key string, old, new []byte) {
		t.Helper()
		err := s.Catalog.Swap(ctx, []byte(key), old, new)
		if !errors.Is(err, sinks.ErrConflict) {
			t.Fatalf("swap %q from %q to %q: %v, want a conflict", key, old, new, err)
		}
	}
	a, b := []byte("a"), []byte("b")
	is("x", nil)
	conflict("x", a, b)
	conflict("x", a, nil)
	is("x", nil)
	set(t, s, "x", nil, nil) // absent, and stays so
	is("x", nil)
	set(t, s, "x", nil, a)
	is("x", a)
	conflict("x", nil, b)
	conflict("x", nil, nil)
	conflict("x", b, a)
	conflict("x", []byte("aa"), b)
	conflict("x", []byte{}, b)
	is("x", a)
	set(t, other, "x", a, b)
	is("x", b)
	set(t, s, "x", b, b)
	is("x", b)
	set(t, s, "x", b, nil)
	is("x", nil)
	set(t, s, "empty", nil, []byte{})
	is("empty", []byte{})
	conflict("empty", nil, a)
	set(t, s, "empty", []byte{}, a)
	set(t, s, "empty", a, []byte{})
	set(t, s, "empty", []byte{}, nil)
	is("empty", nil)
	large := value([]byte("large"), 3<<20)
	set(t, s, "large", nil, large)
	is("large", large)
	conflict("large", large[1:], a)
	odd := "\x00\xff\x00"
	set(t, s, odd, nil, []byte(odd))
	is(odd, []byte(odd))
	v := get(t, s, odd) // what a caller keeps does not change
	set(t, s, odd, []byte(odd), []byte("abc"))
	if string(v) != odd {
		t.Fatal("a value changed in its reader's hands")
	}
	mine := []byte("mine")
	set(t, s, "mine", nil, mine)
	copy(mine, "your")
	is("mine", []byte("mine"))
}

// swaps: many count one record up, each adds its own; none is lost, none counted twice.
func swaps(t *testing.T, open func() *sinks.Store) {
	stores := []*sinks.Store{open(), open()}
	const workers, each = 8, 25
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			s := stores[w%len(stores)]
			for i := range each {
				own := fmt.Appendf(nil, "own %d %d", w, i)
				if err := s.Catalog.Swap(ctx, own, nil, own); err != nil {
					t.Error(err) // the conflict of another one is not ours
					return
				}
				for {
					old, err := s.Catalog.Get(ctx, []byte("count"))
					if err != nil {
						t.Error(err)
						return
					}
					n := uint64(0)
					if old != nil {
						n = binary.BigEndian.Uint64(old)
					}
					err = s.Catalog.Swap(ctx, []byte("count"), old, binary.BigEndian.AppendUint64(nil, n+1))
					if err == nil {
						break
					}
					if !errors.Is(err, sinks.ErrConflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if n := binary.BigEndian.Uint64(get(t, stores[0], "count")); n != workers*each {
		t.Fatalf("counted to %d, want %d", n, workers*each)
	}
	if n := len(records(t, stores[1], sinks.Span{From: []byte("own"), Stop: []byte("owo")})); n != workers*each {
		t.Fatalf("%d records, want %d", n, workers*each)
	}
}

func records(t testing.TB, s *sinks.Store, at sinks.Span) []sinks.Row {
	t.Helper()
	var list []sinks.Row
	if err := s.Catalog.List(ctx, at, func(r sinks.Row) error {
		list = append(list, r)
		return nil
	}); err != nil {
		t.Fatalf("list: %v", err)
	}
	return list
}

func list(t *testing.T, open func() *sinks.Store) {
	s := open()
	keys := []string{"a", "a\x00", "a\x00\x00", "ab", "b\x00", "b\xff", "b\xff\xff", "c"}
	for _, i := range []int{3, 0, 7, 2, 6, 1, 5, 4} {
		set(t, s, keys[i], nil, []byte("value of "+keys[i]))
	}
	for _, c := range []struct {
		from, stop string // stop "": none
		want       []string
	}{
		{"", "", keys},
		{"a", "b", keys[:4]},
		{"a\x00", "a\x01", keys[1:3]},
		{"a\x00\x00\x00", "ab", nil},
		{"b", "c", keys[4:7]},
		{"b\xff", "", keys[5:]},
		{"c", "c", nil},
		{"c", "a", nil},
		{"d", "", nil},
	} {
		at := sinks.Span{From: []byte(c.from)}
		if c.stop != "" {
			at.Stop = []byte(c.stop)
		}
		got := records(t, s, at)
		if len(got) != len(c.want) {
			t.Fatalf("[%q, %q): %d records, want %d", c.from, c.stop, len(got), len(c.want))
		}
		for i, r := range got {
			if string(r.Key) != c.want[i] || string(r.Value) != "value of "+c.want[i] {
				t.Fatalf("[%q, %q): %q = %q, want %q", c.from, c.stop, r.Key, r.Value, c.want[i])
			}
		}
	}
	if n := len(records(t, s, sinks.Span{})); n != len(keys) {
		t.Fatalf("%d records without a span, want %d", n, len(keys))
	}
	n := 0
	if err := s.Catalog.List(ctx, sinks.Span{}, func(sinks.Row) error { n++; return errEnough }); err != errEnough || n != 1 {
		t.Fatalf("emit's error came back as %v after %d records", err, n)
	}
}

// changing: a list shows each record once, in order, as it was at some moment, while its own callback changes
// records, also behind it.
func changing(t *testing.T, open func() *sinks.Store) {
	s := open()
	const n = 300
	key := func(i int) string { return fmt.Sprintf("%c%03d", "ano"[i/100], i) } // a kind after the other
	changed := map[string]bool{}
	for i := range n {
		set(t, s, key(i), nil, []byte("old"))
	}
	for _, s := range []*sinks.Store{s, Regions(s, [][]byte{[]byte("a050"), []byte("n"), []byte("n100+"), []byte("o299")}, nil)} {
		next, last := 0, ""
		err := s.Catalog.List(ctx, sinks.Span{}, func(r sinks.Row) error {
			if string(r.Key) <= last {
				t.Fatalf("record %q after %q", r.Key, last)
			}
			last = string(r.Key)
			switch value := string(r.Value); {
			case len(r.Key) > 4: // came meanwhile, or came before
				return nil
			case last != key(next) || value != "old" && !(value == "new" && changed[last]):
				t.Fatalf("record %q = %q in place %d", r.Key, r.Value, next)
			}
			if next%50 == 0 {
				other := key(n - 1 - next)
				if !changed[other] {
					changed[other] = true
					set(t, s, other, []byte("old"), []byte("new"))
					set(t, s, other+"+", nil, []byte("more"))
				}
				if string(get(t, s, other)) != "new" {
					t.Fatal("what was written while listing is not seen")
				}
			}
			next++
			return nil
		})
		if err != nil || next != n {
			t.Fatalf("%d records, want %d: %v", next, n, err)
		}
	}
}
