package lookup_test

import (
	"bytes"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

// A row that went away is corrupt: not a hole, not a neighbour. All else
// is answered.
func TestLostRow(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 5000)
	w.publish(im)
	lost := w.rowKey(im, im.End/2)
	drop := func(r sinks.Row) (sinks.Row, error) {
		if bytes.Equal(r.Key, lost) {
			return sinks.Row{}, nil
		}
		return r, nil
	}
	w.corrupt(im, drop)
}

// A value under another row's key, another row in place of the one asked for,
// a flipped bit, and a store that says its file is damaged are corrupt.
func TestWrongRow(t *testing.T) {
	im := newImage(cartID, "libcart.so", 5000)
	for name, change := range map[string]func(bad, good sinks.Row) (sinks.Row, error){
		"value moved": func(bad, good sinks.Row) (sinks.Row, error) { return sinks.Row{Key: bad.Key, Value: good.Value}, nil },
		"neighbour":   func(bad, good sinks.Row) (sinks.Row, error) { return good, nil },
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
			w := newWorld(t)
			w.publish(im)
			badKey, goodKey := w.rowKey(im, im.End/2), w.rowKey(im, 0)
			var good sinks.Row
			w.must(w.blocks.Blocks.Scan(t.Context(), sinks.Span{}, func(r sinks.Row) error {
				if bytes.Equal(r.Key, goodKey) {
					good = r
				}
				return nil
			}))
			w.corrupt(im, func(r sinks.Row) (sinks.Row, error) {
				if bytes.Equal(r.Key, badKey) {
					return change(r, good)
				}
				return r, nil
			})
		})
	}
}

// rowKey is the key of the row that speaks for pos.
func (w *world) rowKey(im *image, pos uint64) []byte {
	w.t.Helper()
	span, ok := w.opened(im).At(pos)
	failIf(w.t, !ok, "no row at %#x", pos)
	return span.From
}

func (w *world) opened(im *image) *row.Opened {
	w.t.Helper()
	rec, err := w.catalog.Artifacts.Get(w.ctx(), im.ID)
	w.must(err)
	opened, err := w.ring.Open(im.ID, rec.Published)
	w.must(err)
	return opened
}

// corrupt checks that the row in the middle is corrupt under a change of what
// the store gives, and that the record was read once more, and no more.
func (w *world) corrupt(im *image, change func(sinks.Row) (sinks.Row, error)) {
	for _, form := range forms {
		w.corruptAs(im, change, form)
	}
}

func (w *world) corruptAs(im *image, change func(sinks.Row) (sinks.Row, error), form form) {
	t := w.t
	t.Helper()
	w.blocks.change.Store(&change)
	c := w.client()
	opened := w.opened(im)
	bad, _ := opened.Index(im.End / 2)
	var qs []lookup.Query
	for pos := uint64(0); pos < im.End; pos += 16 {
		qs = append(qs, at(im.ID, pos), at(im.ID, pos))
	}
	corrupt := 0
	for i, a := range form(t, c, qs...) {
		pos := qs[i].Where.Value
		if row, ok := opened.Index(pos); ok && row == bad {
			corrupt++
			failIf(t, a.Status != symbol.Corrupt || a.Err == nil || a.Frames != nil, "position %#x: %+v", pos, a)
			continue
		}
		im.check(t, pos, a)
	}
	failIf(t, corrupt < 100, "%d corrupt", corrupt)
	gets := w.values.gets.Load()
	a := c.Lookup(t.Context(), at(im.ID, im.End/2))
	failIf(t, a.Status != symbol.Corrupt, "%+v", a)
	failIf(t, w.values.gets.Load() != gets+1, "the record was read %d times for one bad row", w.values.gets.Load()-gets)
	w.blocks.change.Store(nil) // repaired: nothing of it was kept
	im.check(t, im.End/2, c.Lookup(t.Context(), at(im.ID, im.End/2)))
}
