package file

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/sinks"
)

// Counters are durable with the changes that carry them. A conflict and a failed transaction count nothing.
func TestCounters(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	counts := func(s *sinks.Store, whole bool, want map[string]int64) {
		t.Helper()
		got, is, err := s.Catalog.(sinks.Counter).Counts(ctx)
		if whole {
			if stored, kept := got[sinks.CountStored]; !kept || stored != 0 {
				t.Errorf("the loads sum up to %d", stored)
			}
			delete(got, sinks.CountStored)
		}
		if err != nil || is != whole || whole && !maps.Equal(got, want) {
			t.Errorf("%v, %v, %v; want %v, %v", got, is, err, want, whole)
		}
	}
	counts(s, true, map[string]int64{})
	a, b := []byte("a"), []byte("b")
	change := func(key, old, new []byte, list ...sinks.Count) sinks.Change {
		return sinks.Change{Key: key, Old: old, New: new, Counts: list}
	}
	errs := s.Catalog.SwapAll(ctx, []sinks.Change{
		change(a, nil, a, sinks.Count{Name: "x", By: 2}, sinks.Count{Name: "last", By: 7, Most: true}),
		change(b, nil, b, sinks.Count{Name: "x", By: 3}, sinks.Count{Name: "y", By: 1}, sinks.Count{Name: "last", By: 5, Most: true}),
		change(a, nil, b, sinks.Count{Name: "x", By: 100}),
	})
	if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], sinks.ErrConflict) {
		t.Fatal(errs)
	}
	counts(s, true, map[string]int64{"x": 5, "y": 1, "last": 7})
	err := s.Catalog.(catalog).db.apply(ctx, func(w *writer) (verdict, err error) {
		sums := tally{}
		sums.add([]sinks.Count{{Name: "x", By: 1}})
		return nil, errors.Join(w.count(&sums), errors.New("failed"))
	})
	if err == nil {
		t.Fatal("a failed transaction passes")
	}
	if err := s.Catalog.SwapAll(ctx, []sinks.Change{change(b, b, nil, sinks.Count{Name: "y", By: -1}, sinks.Count{Name: "x", By: -6})})[0]; err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"x": -1, "last": 7}
	counts(s, true, want)
	s.Close()
	counts(openStore(t, dir, Options{ReadOnly: true}), true, want)

	// A database that was made without counters, and has records, is not counted.
	s = openStore(t, dir, Options{})
	d := s.Catalog.(catalog).db
	if err := d.apply(ctx, func(w *writer) (verdict, err error) {
		_, err = w.exec("DROP TABLE counters")
		return nil, err
	}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for range 2 {
		s = openStore(t, dir, Options{})
		counts(s, false, nil)
		if err := s.Catalog.SwapAll(ctx, []sinks.Change{change(b, nil, b, sinks.Count{Name: "x", By: 1})})[0]; err != nil {
			t.Fatal(err)
		}
		if err := s.Catalog.Swap(ctx, b, b, nil); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if err := createTables(filepath.Join(dir, catalogName)); err != nil {
			t.Fatal(err)
		}
	}
}
