package sinktest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
)

// again: a copy between stores that was cut off starts over with the same loads.
func again(t *testing.T, open func() *sinks.Store) {
	s, other := open(), open()
	a, b := rows(load(1, 1), 3, 100), rows(load(2, 1), 800, 2000)
	commit(t, s, a, b)
	same(t, all(t, other, sinks.Span{}), ordered(a, b))
	commit(t, s, b, a)
	for _, s := range []*sinks.Store{s, other} {
		same(t, all(t, s, sinks.Span{}), ordered(a, b))
		sameRow(t, one(t, s, span(load(1, 1), 0)), a[0])
		sameRow(t, one(t, s, span(load(2, 1), 7000)), b[700])
	}
}

func drop(t *testing.T, open func() *sinks.Store) {
	s := open()
	a, b, c, big := rows(load(1, 1), 3, 100), rows(load(1, 2), 3, 100), rows(load(3, 1), 3, 100), rows(load(4, 1), 800, 2000)
	commit(t, s, a, b, c, big)
	drop := func(loads ...[]byte) {
		t.Helper()
		for range 2 { // repeatable
			if err := s.Blocks.Drop(ctx, loads); err != nil {
				t.Fatal(err)
			}
		}
	}
	one(t, s, span(load(1, 1), 0)) // a memory of it goes too
	drop(load(1, 1), load(9, 9))
	if r := one(t, s, span(load(1, 1), 0)); r.Key != nil {
		t.Fatal("a dropped load answers")
	}
	same(t, all(t, s, sinks.Span{}), ordered(b, c, big))
	drop(load(4, 1))
	if r := one(t, s, span(load(4, 1), 0)); r.Key != nil {
		t.Fatal("a dropped load answers")
	}
	same(t, all(t, s, sinks.Span{}), ordered(b, c))
	drop(load(1, 2), load(3, 1))
	same(t, all(t, s, sinks.Span{}), nil)
	commit(t, s, a)
	same(t, all(t, s, sinks.Span{}), a)
	if err := s.Blocks.Drop(ctx, [][]byte{load(1, 1)[:10]}); err == nil {
		t.Fatal("half a prefix was dropped")
	}
	same(t, all(t, s, sinks.Span{}), a)
}

// tidy tries that committed rows and batches under way stay. Rows of dead batches go, and are never seen.
func tidy(t *testing.T, open func() *sinks.Store) {
	s := open()
	a, b := rows(load(1, 1), 3, 100), rows(load(2, 1), 800, 2000)
	commit(t, s, a, b)
	w := begin(t, s)
	defer w.Abort()
	c := rows(load(3, 1), 800, 2000)
	put(t, w, c)
	for range 2 {
		if _, err := s.Blocks.Tidy(ctx, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	same(t, all(t, s, sinks.Span{}), ordered(a, b))
	if err := w.Commit(ctx); err != nil {
		t.Fatalf("a batch that was open while tidied: %v", err)
	}
	if _, err := s.Blocks.Tidy(ctx, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	same(t, all(t, s, sinks.Span{}), ordered(a, b, c))
}

func contexts(t *testing.T, open func() *sinks.Store) {
	s := open()
	commit(t, s, rows(load(1, 1), 3, 100))
	over, cancel := context.WithCancel(ctx)
	cancel()
	b := begin(t, s)
	defer b.Abort()
	put(t, b, rows(load(2, 1), 3, 100))
	_, begun := s.Blocks.Begin(over)
	_, got := s.Catalog.Get(over, []byte("a"))
	_, tidied := s.Blocks.Tidy(over, time.Now())
	never := func(sinks.Row) error { t.Error("emitted"); return nil }
	for name, err := range map[string]error{
		"Begin": begun, "Get": got, "Tidy": tidied,
		"Commit": b.Commit(over),
		"First":  s.Blocks.First(over, []sinks.Span{{}}, func(int, sinks.Row, error) {}),
		"Scan":   s.Blocks.Scan(over, sinks.Span{}, never),
		"Drop":   s.Blocks.Drop(over, [][]byte{load(1, 1)}),
		"Swap":   s.Catalog.Swap(over, []byte("a"), nil, []byte("b")),
		"List":   s.Catalog.List(over, sinks.Span{}, never),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a context that is over: %v", name, err)
		}
	}
	if got := all(t, s, sinks.Span{}); len(got) != 3 {
		t.Errorf("%d rows, want those committed before", len(got))
	}
}

func reopen(t *testing.T, open func() *sinks.Store) {
	s := open()
	a, b := rows(load(1, 1), 3, 100), rows(load(2, 1), 800, 2000)
	commit(t, s, a, b)
	set(t, s, "key", nil, []byte("value"))
	for range 3 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open()
		same(t, all(t, s, sinks.Span{}), ordered(a, b))
		sameRow(t, one(t, s, span(load(2, 1), 123)), b[12])
		if string(get(t, s, "key")) != "value" {
			t.Fatal("the catalog lost a record")
		}
	}
}

// beside: readers that go on while loads come and go find each whole, or not at all.
func beside(t *testing.T, open func() *sinks.Store) {
	s, other := open(), open()
	stay := rows(load(0, 1), 100, 500)
	commit(t, s, stay)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, s := range []*sinks.Store{s, other} {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				sameRow(t, one(t, s, span(load(0, 1), uint64(i%100)*10)), stay[i%100])
				counts := make(map[string]int)
				for _, r := range all(t, s, sinks.Span{}) {
					counts[string(r.Key[:sinks.PrefixBytes])]++
				}
				for p, n := range counts {
					if n != 100 {
						t.Errorf("load %x has %d rows of 100", p, n)
					}
				}
			}
		})
	}
	for i := range 20 {
		commit(t, s, rows(load(i+1, 1), 100, 100), rows(load(i+100, 1), 100, 12_000))
		if i >= 3 {
			if err := s.Blocks.Drop(ctx, [][]byte{load(i-2, 1), load(i+97, 1)}); err != nil {
				t.Error(err)
			}
		}
	}
	close(stop)
	wg.Wait()
}
