package lookup_test

import (
	"bytes"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

// A row that went away is corrupt: not a hole, not a neighbor. All else
// is answered.
func TestLostRow(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5000)
	w.Publish(im)
	lost := w.RowKey(im, im.End/2)
	drop := func(r sinks.Row) (sinks.Row, error) {
		if bytes.Equal(r.Key, lost) {
			return sinks.Row{}, nil
		}
		return r, nil
	}
	corrupt(w, im, drop)
}

// A value under another row's key, another row in place of the one asked for,
// a flipped bit, and a store that says its file is damaged are corrupt.
func TestWrongRow(t *testing.T) {
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5000)
	for name, change := range map[string]func(bad, good sinks.Row) (sinks.Row, error){
		"value moved": func(bad, good sinks.Row) (sinks.Row, error) { return sinks.Row{Key: bad.Key, Value: good.Value}, nil },
		"neighbor":    func(bad, good sinks.Row) (sinks.Row, error) { return good, nil },
		"flipped": func(bad, good sinks.Row) (sinks.Row, error) {
			v := bytes.Clone(bad.Value)
			v[len(v)-1] ^= 1
			return sinks.Row{Key: bad.Key, Value: v}, nil
		},
		"short": func(bad, good sinks.Row) (sinks.Row, error) {
			return sinks.Row{Key: bad.Key, Value: bad.Value[:3]}, nil
		},
		"damaged": func(bad, good sinks.Row) (sinks.Row, error) { return sinks.Row{}, sinks.ErrCorrupt },
	} {
		t.Run(name, func(t *testing.T) {
			w := lookuptest.NewWorld(t)
			w.Publish(im)
			badKey, goodKey := w.RowKey(im, im.End/2), w.RowKey(im, 0)
			var good sinks.Row
			w.Must(w.Blocks.Blocks.Scan(t.Context(), sinks.Span{}, func(r sinks.Row) error {
				if bytes.Equal(r.Key, goodKey) {
					good = r
				}
				return nil
			}))
			corrupt(w, im, func(r sinks.Row) (sinks.Row, error) {
				if bytes.Equal(r.Key, badKey) {
					return change(r, good)
				}
				return r, nil
			})
		})
	}
}

// corrupt checks that the row in the middle is corrupt under a change of what
// the store gives, and that the record was read once more, and no more.
func corrupt(w *lookuptest.World, im *lookuptest.Image, change func(sinks.Row) (sinks.Row, error)) {
	for _, form := range forms {
		corruptAs(w, im, change, form)
	}
}

func corruptAs(w *lookuptest.World, im *lookuptest.Image, change func(sinks.Row) (sinks.Row, error), form form) {
	t := w.T
	t.Helper()
	w.Blocks.Change.Store(&change)
	c := w.Client()
	opened := w.Opened(im)
	bad, _ := opened.Index(im.End / 2)
	var qs []lookup.Query
	for pos := uint64(0); pos < im.End; pos += 16 {
		qs = append(qs, lookuptest.At(im.ID, pos), lookuptest.At(im.ID, pos))
	}
	corrupt := 0
	for i, a := range form(t, c, qs...) {
		pos := qs[i].Where.Value
		if row, ok := opened.Index(pos); ok && row == bad {
			corrupt++
			lookuptest.FailIf(t, a.Status != symbol.Corrupt || a.Err == nil || a.Frames != nil, "position %#x: %+v", pos, a)
			continue
		}
		im.Check(t, pos, a)
	}
	lookuptest.FailIf(t, corrupt < 100, "%d corrupt", corrupt)
	gets := w.Values.Gets.Load()
	a := c.Lookup(t.Context(), lookuptest.At(im.ID, im.End/2))
	lookuptest.FailIf(t, a.Status != symbol.Corrupt, "%+v", a)
	lookuptest.FailIf(t, w.Values.Gets.Load() != gets+1, "the record was read %d times for one bad row", w.Values.Gets.Load()-gets)
	w.Blocks.Change.Store(nil) // repaired: nothing of it was kept
	im.Check(t, im.End/2, c.Lookup(t.Context(), lookuptest.At(im.ID, im.End/2)))
}
