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
func everyPosition(im *image) (qs []lookup.Query) {
	for pos := uint64(0); pos < im.End+64; pos += 5 {
		qs = append(qs, at(im.ID, pos))
	}
	return qs
}

// What one client read, the next has from the shared cache: no row is read from the store. What lies
// there is what the store holds, sealed, and no name.
func TestSharedRows(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 5000)
	loaded := w.publish(im)
	h := &heap{rows: map[string][]byte{}}
	for pass := range 3 {
		w.blocks.spans.Store(0)
		c := w.clientWith(lookup.Options{Shared: h})
		qs := everyPosition(im)
		for i, a := range ask(t, c, qs...) {
			im.check(t, qs[i].Where.Value, a)
		}
		read := w.blocks.spans.Load()
		failIf(t, pass == 0 && read == 0, "nothing was read")
		failIf(t, pass > 0 && read != 0, "pass %d: %d rows read from the store", pass, read)
	}
	failIf(t, len(h.rows) < int(loaded.Rows), "%d rows of %d are shared", len(h.rows), loaded.Rows)
	stored := map[string][]byte{}
	w.must(w.blocks.Blocks.Scan(t.Context(), sinks.Span{}, func(r sinks.Row) error {
		stored[string(r.Key)] = r.Value
		return nil
	}))
	for k, v := range h.rows {
		failIf(t, !bytes.Equal(stored[k], v), "row %x is not what the store holds", k)
		failIf(t, bytes.Contains(v, []byte("cart")) || bytes.Contains(v, []byte("src/")), "row %x holds a name", k)
	}
}

// A shared cache that lies makes no answer wrong, and no error: what does not open is read from the store.
func TestSharedRowsLie(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 5000)
	w.publish(im)
	other := newImage("ddee", "libother.so", 5000)
	other.salt = "wrong"
	w.publish(other)
	good := &heap{rows: map[string][]byte{}}
	warm := w.clientWith(lookup.Options{Shared: good})
	ask(t, warm, append(everyPosition(im), everyPosition(other)...)...)
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
			c := w.clientWith(lookup.Options{Shared: &heap{rows: good.rows, lie: lie},
				Observer: lookup.Observer{Read: func(r lookup.Read) { reads.Store(r.From, r) }}})
			qs := everyPosition(im)
			for i, a := range ask(t, c, qs...) {
				im.check(t, qs[i].Where.Value, a)
			}
			told, ok := reads.Load(lookup.LevelShared)
			failIf(t, !ok, "nobody heard of the shared cache")
			if name == "garbage" {
				failIf(t, told.(lookup.Read).Bad == 0, "a lie was not told of: %+v", told)
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

// While the store is down, what is shared is served.
func TestSharedRowsOutlive(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 50)
	w.publish(im)
	h := &heap{rows: map[string][]byte{}}
	ask(t, w.clientWith(lookup.Options{Shared: h}), at(im.ID, 20))
	down := errors.New("connection refused")
	fail := func(context.Context) error { return down }
	w.blocks.before.Store(&fail)
	im.check(t, 20, w.clientWith(lookup.Options{Shared: h}).Lookup(t.Context(), at(im.ID, 20)))
}

// While the catalog does not answer, what was found is believed for StaleTTL; what was not is unavailable;
// and the catalog is not asked again and again.
func TestCatalogDown(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 50)
	w.publish(im)
	c := w.clientWith(lookup.Options{StaleTTL: 10 * time.Minute})
	im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
	r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	failIf(t, r.Status != symbol.Found, "%+v", r)
	down := errors.New("connection refused")
	w.values.err.Store(&down)
	for range 9 {
		w.advance(61 * time.Second)
		asked := w.values.gets.Load() + w.values.lists.Load()
		for range 5 {
			im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
			r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
			failIf(t, r.Status != symbol.Found, "%+v", r)
		}
		now := w.values.gets.Load() + w.values.lists.Load()
		failIf(t, now-asked != 2, "the catalog was asked %d times, want once a record and name", now-asked)
	}
	other := c.Lookup(t.Context(), at(symbol.ID{9}, 20))
	failIf(t, other.Status != symbol.Unavailable, "%+v", other)
	w.advance(61 * time.Second)
	a := c.Lookup(t.Context(), at(im.ID, 20))
	failIf(t, a.Status != symbol.Unavailable || !errors.Is(a.Err, down), "after StaleTTL: %+v", a)
	r = c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	failIf(t, r.Status != symbol.Unavailable, "after StaleTTL: %+v", r)
	w.values.err.Store(nil)
	im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
}

// The observer hears of every answer once, by kind and status, and of what was read.
func TestObserver(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 50)
	w.publish(im)
	counts := map[string]int{}
	rows, hits := 0, 0
	reads := map[lookup.Level]int{}
	c := w.clientWith(lookup.Options{Observer: lookup.Observer{
		Answered: func(k symbol.Kind, s symbol.Status, n int) { counts[fmt.Sprintf("%s %s", k, s)] += n },
		Cached:   func(r, h int) { rows, hits = rows+r, hits+h },
		Read:     func(r lookup.Read) { reads[r.From] += r.Rows },
	}})
	ask(t, c, at(im.ID, 20), at(im.ID, 1<<40), at(im.ID, 64+60), at(symbol.ID{1}, 3), at(im.ID, 21))
	c.Lookup(t.Context(), at(im.ID, 20))
	text := "#00 pc 00010014  libcart.so (BuildId: " + cartID + ")\n#01 pc 00000014  libnone.so (BuildId: ffffffffffffffffffffffffffffffff)\n"
	_, err := c.Stack(t.Context(), stackOf(t, text), lookup.StackOptions{})
	noError(t, err)
	want := map[string]int{"elf found": 4, "elf outside": 1, "elf hole": 1, " no-artifact": 1, "elf no-artifact": 1}
	failIf(t, fmt.Sprint(counts) != fmt.Sprint(want), "heard %v, want %v", counts, want)
	failIf(t, rows != 3 || hits != 2, "%d rows, %d hits", rows, hits)
	failIf(t, reads[lookup.LevelStore] < 1 || reads[lookup.LevelCatalog] < 2 || reads[lookup.LevelShared] != 0, "reads %v", reads)
}

// Many stacks at once are answered as each alone, in order, and a block is read once.
func TestStacks(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 4000)
	loaded := w.publish(im)
	game := newImage("ee"+cartID[2:], "libgame.so", 300)
	game.salt = "game"
	w.publish(game)
	var qs []lookup.StackQuery
	for i := range 200 {
		text := ""
		for f := range 12 {
			pos := uint64(i*7919+f*104729) % im.End
			text += fmt.Sprintf("#%02d pc %08x  libcart.so (BuildId: %s)\n", f, imageBase+pos, cartID)
			if f%4 == 1 {
				text += fmt.Sprintf("#%02d pc %08x  libgame.so\n", f, imageBase+pos%game.End)
			}
		}
		o := lookup.StackOptions{}
		if i%2 == 0 {
			o.Artifacts = []string{"libgame.so"}
		}
		qs = append(qs, lookup.StackQuery{Stack: stackOf(t, text), StackOptions: o})
	}
	c := w.client()
	w.blocks.spans.Store(0)
	next := 0
	noError(t, c.Stacks(t.Context(), qs, func(i int, got [][]symbol.Answer) {
		failIf(t, i != next, "answer %d came as number %d", i, next)
		next++
		want, err := w.client().Stack(t.Context(), qs[i].Stack, qs[i].StackOptions)
		noError(t, err)
		failIf(t, fmt.Sprint(got) != fmt.Sprint(want), "stack %d: got %v, want %v", i, got, want)
	}))
	failIf(t, next != len(qs), "%d answers", next)
	cold := w.client()
	w.blocks.spans.Store(0)
	noError(t, cold.Stacks(t.Context(), qs, func(int, [][]symbol.Answer) {}))
	most := int64(loaded.Rows) + 40
	failIf(t, w.blocks.spans.Load() > most, "%d rows read, the load has %d", w.blocks.spans.Load(), loaded.Rows)
}

// A mapping replaced between the reading of its facts and of a class is read again: no answer is made
// of two loads.
func TestClassesOfOneLoad(t *testing.T) {
	w := newWorld(t)
	all := mappingOf(3000)
	id := w.publishClasses(all)
	c := w.client()
	_, err := c.Classes(t.Context(), id, []string{all[1].Name})
	noError(t, err)
	old, err := w.catalog.Artifacts.Get(t.Context(), id)
	w.must(err)
	for _, class := range all {
		class.File = "New.java"
	}
	w.publishClasses(all)
	w.must(w.store.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(id, old.Published.Load)}))
	names := []string{all[1].Name}
	for _, class := range all[1000:1100] {
		names = append(names, class.Name)
	}
	got, err := c.Classes(t.Context(), id, names)
	noError(t, err)
	for i, class := range got {
		failIf(t, class.File != "New.java", "class %d of %d is of the old load", i, len(got))
	}
}
