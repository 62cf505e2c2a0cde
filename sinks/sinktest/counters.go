package sinktest

import (
	"errors"
	"maps"
	"testing"

	"github.com/symlake/symlake/sinks"
)

// counters: a store that counts counts the changes that happen, of all processes, and no others.
func counters(t *testing.T, open func() *sinks.Store) {
	s := open()
	if _, is := s.Catalog.(sinks.Counter); !is {
		t.Skip("the store does not count")
	}
	expect := func(s *sinks.Store, want map[string]int64) {
		t.Helper()
		got, whole, err := s.Catalog.(sinks.Counter).Counts(ctx)
		delete(got, sinks.CountStored)
		if err != nil || !whole || !maps.Equal(got, want) {
			t.Errorf("%v, %v, %v; want %v", got, whole, err, want)
		}
	}
	change := func(key, old, new string, list ...sinks.Count) sinks.Change {
		ch := sinks.Change{Key: []byte(key), New: []byte(new), Counts: list}
		if old != "" {
			ch.Old = []byte(old)
		}
		return ch
	}
	errs := s.Catalog.SwapAll(ctx, []sinks.Change{
		change("a1", "", "1", sinks.Count{Name: "x", By: 2}, sinks.Count{Name: "last", By: 7, Most: true}),
		change("o2", "", "2", sinks.Count{Name: "x", By: 3}, sinks.Count{Name: "y", By: 1}, sinks.Count{Name: "last", By: 5, Most: true}),
		change("a1", "", "3", sinks.Count{Name: "x", By: 100}),
		change("z", "", "4"),
	})
	if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], sinks.ErrConflict) || errs[3] != nil {
		t.Fatal(errs)
	}
	want := map[string]int64{"x": 5, "y": 1, "last": 7}
	expect(s, want)
	other := open()
	errs = other.Catalog.SwapAll(ctx, []sinks.Change{change("a1", "1", "5", sinks.Count{Name: "x", By: -6}, sinks.Count{Name: "y", By: -1}, sinks.Count{Name: "last", By: 9, Most: true})})
	if errs[0] != nil {
		t.Fatal(errs)
	}
	want = map[string]int64{"x": -1, "last": 9}
	expect(s, want)
	for _, s := range []*sinks.Store{s, other} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s = open()
	expect(s, want)
	if settler, is := s.Catalog.(sinks.Settler); is { // nothing is to be counted anew
		if whole, err := settler.Settle(ctx, nil); err != nil || !whole {
			t.Errorf("settle: %v, %v", whole, err)
		}
		expect(s, want)
	}
}
