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

// unwindImage makes an image with call frame information of 10 bytes, then of 30, then none.
func unwindImage(canonical string, functions int) *lookuptest.Image {
	im := lookuptest.NewImage(canonical, "cart.so", functions)
	im.Rules = []string{""}
	for i := range 20 {
		im.Rules = append(im.Rules, fmt.Sprintf("%s %d", canonical, i))
	}
	for i := range uint64(functions) {
		im.Unwind = append(im.Unwind, symbol.UnwindRange{Start: i * 64, End: i*64 + 10, Rules: 1}, symbol.UnwindRange{Start: i*64 + 10, End: i*64 + 40, Rules: uint32(2 + i%19)})
	}
	return im
}

func wantUnwound(t *testing.T, im *lookuptest.Image, pos uint64, u *lookup.Unwound) {
	t.Helper()
	i, off := pos/64, pos%64
	switch {
	case pos >= im.End:
		if u.Status != symbol.Outside || u.Err == nil {
			t.Errorf("at %#x: %s (%v), want outside", pos, u.Status, u.Err)
		}
	case int(i) >= im.Functions || off >= 40:
		if u.Status != symbol.Hole || u.Err == nil || u.Rules != "" {
			t.Errorf("at %#x: %s %q (%v), want a hole", pos, u.Status, u.Rules, u.Err)
		}
	default:
		g := im.Unwind[2*i]
		if off >= 10 {
			g = im.Unwind[2*i+1]
		}
		if u.Status != symbol.Found || u.Err != nil || u.Rules != im.Rules[g.Rules] || u.Start != g.Start || u.End != g.End || u.Position != pos || u.Artifact.Arch != im.Arch {
			t.Errorf("at %#x: %s [%#x, %#x) %q (%v), want [%#x, %#x) %q", pos, u.Status, u.Start, u.End, u.Rules, u.Err, g.Start, g.End, im.Rules[g.Rules])
		}
	}
}

// All rows that are wanted of several artifacts come in one trip, and are read once.
func TestUnwind(t *testing.T) {
	t.Parallel()
	w := lookuptest.NewWorld(t)
	images := []*lookuptest.Image{unwindImage("aa01", 9000), unwindImage("aa02", 500)}
	var qs []lookup.Query
	var of []*lookuptest.Image
	for _, im := range images {
		w.Publish(im)
		for pos := uint64(0); pos < im.End+64; pos += 1 + pos%37 {
			qs = append(qs, lookup.Query{Artifact: im.ID, Where: symbol.Where{Space: symbol.Position, Value: pos}})
			of = append(of, im)
		}
	}
	none := lookuptest.NewImage("aa03", "none.so", 10)
	w.Publish(none)
	qs = append(qs, lookup.Query{Artifact: none.ID, Where: symbol.Where{Value: 5}}, lookup.Query{Artifact: symbol.NewID(symbol.ELF, "aa04"), Where: symbol.Where{Value: 5}})
	c := w.Client()
	for round, rows := range []int64{5 + 2, 0} { // blocks, and a table of each
		trips, spans := w.Blocks.Trips.Load(), w.Blocks.Spans.Load()
		n := 0
		err := c.Unwind(t.Context(), qs, func(i int, u *lookup.Unwound) error {
			if n != i {
				t.Fatalf("question %d after %d", i, n)
			}
			n++
			switch i - len(of) {
			case 0:
				if u.Status != symbol.Hole || !errors.Is(u.Err, lookup.ErrNoUnwind) || u.Artifact == nil {
					t.Errorf("a load without: %s, %v", u.Status, u.Err)
				}
			case 1:
				if u.Status != symbol.NoArtifact || u.Err == nil {
					t.Errorf("an artifact that is not there: %s, %v", u.Status, u.Err)
				}
			default:
				wantUnwound(t, of[i], qs[i].Where.Value, u)
			}
			return nil
		})
		if err != nil || n != len(qs) {
			t.Fatalf("%d of %d questions, %v", n, len(qs), err)
		}
		if got := w.Blocks.Spans.Load() - spans; got != rows {
			t.Errorf("round %d: %d rows, want %d", round, got, rows)
		}
		if got := w.Blocks.Trips.Load() - trips; got > 2 || rows == 0 && got > 0 { // a chunk of questions each
			t.Errorf("round %d: %d trips", round, got)
		}
	}
	enough := errors.New("enough")
	if err := c.Unwind(t.Context(), qs, func(int, *lookup.Unwound) error { return enough }); err != enough {
		t.Errorf("out's error came back as %v", err)
	}
}

// Many callers at once read each row once.
func TestUnwindTogether(t *testing.T) {
	t.Parallel()
	w := lookuptest.NewWorld(t)
	im := unwindImage("bb01", 9000)
	w.Publish(im)
	c := w.Client()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var qs []lookup.Query
			for pos := uint64(0); pos < im.End; pos += 1111 {
				qs = append(qs, lookup.Query{Artifact: im.ID, Where: symbol.Where{Value: pos}})
			}
			err := c.Unwind(t.Context(), qs, func(i int, u *lookup.Unwound) error {
				wantUnwound(t, im, qs[i].Where.Value, u)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := w.Blocks.Spans.Load(); got != 5 {
		t.Errorf("%d rows were read, want 5", got)
	}
}

// A row that is gone or changed is corrupt, unless another load was published meanwhile; a store that does not answer is
// unavailable.
func TestUnwindDamage(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]func(r sinks.Row) bool{
		"block": func(r sinks.Row) bool { return r.Key[24] == byte(row.Unwinds) && r.Key[25] != 0xff },
		"rules": func(r sinks.Row) bool { return r.Key[24] == byte(row.Unwinds) && r.Key[25] == 0xff },
	} {
		w := lookuptest.NewWorld(t)
		im := unwindImage("cc01", 100)
		w.Publish(im)
		status := func(c *lookup.Client) (u lookup.Unwound) {
			q := lookup.Query{Artifact: im.ID, Where: symbol.Where{Value: 5}}
			if err := c.Unwind(t.Context(), []lookup.Query{q}, func(_ int, got *lookup.Unwound) error { u = *got; return nil }); err != nil {
				t.Fatal(err)
			}
			return u
		}
		damage := func(r sinks.Row) (sinks.Row, error) {
			if kind(r) {
				r.Value = bytes.Clone(r.Value)
				r.Value[len(r.Value)-1] ^= 1
			}
			return r, nil
		}
		w.Blocks.Change.Store(&damage)
		if u := status(w.Client()); u.Status != symbol.Corrupt || u.Err == nil {
			t.Errorf("%s changed: %s, %v", name, u.Status, u.Err)
		}
		gone := func(r sinks.Row) (sinks.Row, error) {
			if kind(r) {
				return sinks.Row{}, nil
			}
			return r, nil
		}
		w.Blocks.Change.Store(&gone)
		c := w.Client()
		if u := status(c); u.Status != symbol.Corrupt {
			t.Errorf("%s gone: %s, %v", name, u.Status, u.Err)
		}
		down := func(r sinks.Row) (sinks.Row, error) {
			if kind(r) {
				return r, errors.New("the store is down")
			}
			return r, nil
		}
		w.Blocks.Change.Store(&down)
		if u := status(c); u.Status != symbol.Unavailable {
			t.Errorf("%s and the store down: %s, %v", name, u.Status, u.Err)
		}
		w.Blocks.Change.Store(nil)
		if u := status(c); u.Status != symbol.Found {
			t.Errorf("%s is there again: %s, %v", name, u.Status, u.Err)
		}
		// The load that the client knows goes, and another one takes its place.
		w.Advance(time.Second)
		c = w.Client()
		if _, err := c.Locate(t.Context(), lookup.Query{Artifact: im.ID}); err != nil {
			t.Fatal(err)
		}
		old := w.Publish(im)
		w.Blocks.Change.Store(new(func(r sinks.Row) (sinks.Row, error) {
			if !bytes.Equal(r.Key[16:24], old.Load[:]) {
				return sinks.Row{}, nil
			}
			return r, nil
		}))
		if u := status(c); u.Status != symbol.Found {
			t.Errorf("%s of another load: %s, %v", name, u.Status, u.Err)
		}
	}
}

func TestUnwindCanceled(t *testing.T) {
	t.Parallel()
	w := lookuptest.NewWorld(t)
	im := unwindImage("dd01", 100)
	w.Publish(im)
	c := w.Client()
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(context.Context) error { cancel(); return ctx.Err() }
	w.Blocks.Before.Store(&stop)
	q := []lookup.Query{{Artifact: im.ID, Where: symbol.Where{Value: 5}}}
	if err := c.Unwind(ctx, q, func(int, *lookup.Unwound) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled question: %v", err)
	}
	w.Blocks.Before.Store(nil)
	if err := c.Unwind(t.Context(), q, func(_ int, u *lookup.Unwound) error { wantUnwound(t, im, 5, u); return nil }); err != nil {
		t.Error(err)
	}
}
