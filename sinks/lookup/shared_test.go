package lookup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
	"github.com/symlake/symlake/sinks/row"
)

// heap is a shared cache that keeps everything, and may lie.
type heap struct {
	mu   sync.Mutex
	rows map[string][]byte
	lie  func(key, value []byte) []byte // nil: it does not
	got  int
}

func (h *heap) Get(_ context.Context, keys [][]byte, found func(int, []byte)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, k := range keys {
		v, ok := h.rows[string(k)]
		if h.lie != nil {
			if v = h.lie(k, v); v != nil {
				found(i, v)
			}
		} else if ok {
			h.got++
			found(i, v)
		}
	}
}

func (h *heap) Put(_ context.Context, rows []sinks.Row) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range rows {
		h.rows[string(r.Key)] = r.Value
	}
}

// everyPosition asks at all of an image.
func everyPosition(im *lookuptest.Image) (qs []lookup.Query) {
	for pos := uint64(0); pos < im.End+64; pos += 5 {
		qs = append(qs, lookuptest.At(im.ID, pos))
	}
	return qs
}

// What one client read, the next has from the shared cache: no row is read from the store. What lies
// there is what the store holds, sealed, and no name.
func TestSharedRows(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5000)
	loaded := w.Publish(im)
	h := &heap{rows: map[string][]byte{}}
	for pass := range 3 {
		w.Blocks.Spans.Store(0)
		c := w.ClientWith(lookup.Options{Shared: h})
		qs := everyPosition(im)
		for i, a := range lookuptest.Ask(t, c, qs...) {
			im.Check(t, qs[i].Where.Value, a)
		}
		read := w.Blocks.Spans.Load()
		lookuptest.FailIf(t, pass == 0 && read == 0, "nothing was read")
		lookuptest.FailIf(t, pass > 0 && read != 0, "pass %d: %d rows read from the store", pass, read)
	}
	lookuptest.FailIf(t, len(h.rows) < int(loaded.Rows), "%d rows of %d are shared", len(h.rows), loaded.Rows)
	stored := map[string][]byte{}
	w.Must(w.Blocks.Blocks.Scan(t.Context(), sinks.Span{}, func(r sinks.Row) error {
		stored[string(r.Key)] = r.Value
		return nil
	}))
	for k, v := range h.rows {
		lookuptest.FailIf(t, !bytes.Equal(stored[k], v), "row %x is not what the store holds", k)
		lookuptest.FailIf(t, bytes.Contains(v, []byte("cart")) || bytes.Contains(v, []byte("src/")), "row %x holds a name", k)
	}
}

// A shared cache that lies makes no answer wrong, and no error: what does not open is read from the store.
func TestSharedRowsLie(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5000)
	w.Publish(im)
	other := lookuptest.NewImage("ddee", "libother.so", 5000)
	other.Salt = "wrong"
	w.Publish(other)
	good := &heap{rows: map[string][]byte{}}
	warm := w.ClientWith(lookup.Options{Shared: good})
	lookuptest.Ask(t, warm, append(everyPosition(im), everyPosition(other)...)...)
	var strange []byte
	for k, v := range good.rows {
		if bytes.HasPrefix([]byte(k), other.ID[:]) && k[24] == byte(row.Ranges) {
			strange = v
		}
	}
	for name, lie := range map[string]func(k, v []byte) []byte{
		"garbage":        func(_, _ []byte) []byte { return []byte("no row at all") },
		"empty":          func(_, _ []byte) []byte { return []byte{} },
		"another's":      func(_, _ []byte) []byte { return strange },
		"a bit":          func(_, v []byte) []byte { v = bytes.Clone(v); v[len(v)-20] ^= 4; return v },
		"cut":            func(_, v []byte) []byte { return v[:len(v)/2] },
		"version":        func(_, v []byte) []byte { v = bytes.Clone(v); v[0] = 77; return v },
		"blocks alone":   func(k, v []byte) []byte { return when(k[24] == byte(row.Ranges), nil, v) },
		"strings alone":  func(k, v []byte) []byte { return when(k[24] == byte(row.Dictionary), nil, v) },
		"strings broken": func(k, v []byte) []byte { return when(k[24] == byte(row.Dictionary), []byte("no"), v) },
	} {
		t.Run(name, func(t *testing.T) {
			var reads sync.Map
			c := w.ClientWith(lookup.Options{Shared: &heap{rows: good.rows, lie: lie},
				Observer: lookup.Observer{Read: func(r lookup.Read) { reads.Store(r.From, r) }}})
			qs := everyPosition(im)
			for i, a := range lookuptest.Ask(t, c, qs...) {
				im.Check(t, qs[i].Where.Value, a)
			}
			told, ok := reads.Load(lookup.LevelShared)
			lookuptest.FailIf(t, !ok, "nobody heard of the shared cache")
			if name == "garbage" {
				lookuptest.FailIf(t, told.(lookup.Read).Bad == 0, "a lie was not told of: %+v", told)
			}
		})
	}
}

func when(yes bool, a, b []byte) []byte {
	if yes {
		return a
	}
	return b
}

// While the store is down, shared rows are served.
func TestSharedRowsOutlive(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50)
	w.Publish(im)
	h := &heap{rows: map[string][]byte{}}
	lookuptest.Ask(t, w.ClientWith(lookup.Options{Shared: h}), lookuptest.At(im.ID, 20))
	down := errors.New("connection refused")
	fail := func(context.Context) error { return down }
	w.Blocks.Before.Store(&fail)
	im.Check(t, 20, w.ClientWith(lookup.Options{Shared: h}).Lookup(t.Context(), lookuptest.At(im.ID, 20)))
}

// While the catalog does not answer, found names are believed for StaleTTL; others are unavailable;
// and the catalog is not asked again and again.
func TestCatalogDown(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50)
	w.Publish(im)
	c := w.ClientWith(lookup.Options{StaleTTL: 10 * time.Minute})
	im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
	r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Found, "%+v", r)
	down := errors.New("connection refused")
	w.Values.Err.Store(&down)
	for range 9 {
		w.Advance(61 * time.Second)
		asked := w.Values.Gets.Load() + w.Values.Lists.Load()
		for range 5 {
			im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
			r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
			lookuptest.FailIf(t, r.Status != symbol.Found, "%+v", r)
		}
		now := w.Values.Gets.Load() + w.Values.Lists.Load()
		lookuptest.FailIf(t, now-asked != 2, "the catalog was asked %d times, want once a record and name", now-asked)
	}
	other := c.Lookup(t.Context(), lookuptest.At(symbol.ID{9}, 20))
	lookuptest.FailIf(t, other.Status != symbol.Unavailable, "%+v", other)
	w.Advance(61 * time.Second)
	a := c.Lookup(t.Context(), lookuptest.At(im.ID, 20))
	lookuptest.FailIf(t, a.Status != symbol.Unavailable || !errors.Is(a.Err, down), "after StaleTTL: %+v", a)
	r = c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Unavailable, "after StaleTTL: %+v", r)
	w.Values.Err.Store(nil)
	im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
}

// The observer is told of every answer once, by kind and status, and of every read.
func TestObserver(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50)
	w.Publish(im)
	counts := map[string]int{}
	rows, hits := 0, 0
	reads := map[lookup.Level]int{}
	c := w.ClientWith(lookup.Options{Observer: lookup.Observer{
		Answered: func(k symbol.Kind, s symbol.Status, n int) { counts[fmt.Sprintf("%s %s", k, s)] += n },
		Cached:   func(r, h int) { rows, hits = rows+r, hits+h },
		Read:     func(r lookup.Read) { reads[r.From] += r.Rows },
	}})
	lookuptest.Ask(t, c, lookuptest.At(im.ID, 20), lookuptest.At(im.ID, 1<<40), lookuptest.At(im.ID, 64+60), lookuptest.At(symbol.ID{1}, 3), lookuptest.At(im.ID, 21))
	c.Lookup(t.Context(), lookuptest.At(im.ID, 20))
	want := map[string]int{"elf found": 3, "elf outside": 1, "elf hole": 1, " no-artifact": 1}
	lookuptest.FailIf(t, fmt.Sprint(counts) != fmt.Sprint(want), "heard %v, want %v", counts, want)
	lookuptest.FailIf(t, rows != 2 || hits != 1, "%d rows, %d hits", rows, hits)
	lookuptest.FailIf(t, reads[lookup.LevelStore] < 1 || reads[lookup.LevelCatalog] < 2 || reads[lookup.LevelShared] != 0, "reads %v", reads)
}

// A mapping replaced between the reading of its facts and of a class is read again: no answer is made
// of two loads.
func TestClassesOfOneLoad(t *testing.T) {
	w := lookuptest.NewWorld(t)
	all := lookuptest.MappingOf(3000)
	id := w.PublishClasses(all)
	c := w.Client()
	_, err := c.Classes(t.Context(), id, []string{all[1].Name})
	lookuptest.NoError(t, err)
	old, err := w.Catalog.Artifacts.Get(t.Context(), id)
	w.Must(err)
	for _, class := range all {
		class.File = "New.java"
	}
	w.PublishClasses(all)
	w.Must(w.Store.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(id, old.Published.Load)}))
	names := []string{all[1].Name}
	for _, class := range all[1000:1100] {
		names = append(names, class.Name)
	}
	got, err := c.Classes(t.Context(), id, names)
	lookuptest.NoError(t, err)
	for i, class := range got {
		lookuptest.FailIf(t, class.File != "New.java", "class %d of %d is of the old load", i, len(got))
	}
}
