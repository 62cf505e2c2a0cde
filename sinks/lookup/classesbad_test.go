package lookup_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/lookup"
)

// A row of classes that is gone, another one's, or changed makes its classes corrupt, never absent; those of other rows are
// given, and all are again when the row is back.
func TestBadClassRow(t *testing.T) {
	w := newWorld(t)
	all := mappingOf(3000)
	id := w.publishClasses(all)
	rec, err := w.catalog.Artifacts.Get(t.Context(), id)
	w.must(err)
	opened, err := w.ring.Open(id, rec.Published)
	w.must(err)
	failIf(t, opened.Rows() < 3, "%d rows", opened.Rows())
	bad, other := opened.Row(1).From, opened.Row(0).From
	var good sinks.Row
	w.must(w.blocks.Blocks.Scan(t.Context(), sinks.Span{}, func(r sinks.Row) error {
		if bytes.Equal(r.Key, other) {
			good = sinks.Row{Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)}
		}
		return nil
	}))
	for name, change := range map[string]func(sinks.Row) (sinks.Row, error){
		"gone":        func(sinks.Row) (sinks.Row, error) { return sinks.Row{}, nil },
		"value moved": func(r sinks.Row) (sinks.Row, error) { return sinks.Row{Key: r.Key, Value: good.Value}, nil },
		"neighbour":   func(sinks.Row) (sinks.Row, error) { return good, nil },
		"flipped": func(r sinks.Row) (sinks.Row, error) {
			v := bytes.Clone(r.Value)
			v[len(v)/2] ^= 1
			return sinks.Row{Key: r.Key, Value: v}, nil
		},
		"short":   func(r sinks.Row) (sinks.Row, error) { return sinks.Row{Key: r.Key, Value: r.Value[:3]}, nil },
		"damaged": func(sinks.Row) (sinks.Row, error) { return sinks.Row{}, sinks.ErrCorrupt },
	} {
		t.Run(name, func(t *testing.T) {
			broken := func(r sinks.Row) (sinks.Row, error) {
				if bytes.Equal(r.Key, bad) {
					return change(r)
				}
				return r, nil
			}
			w.blocks.change.Store(&broken)
			defer w.blocks.change.Store(nil)
			c := w.client()
			hit := 0
			for _, class := range all[:200] {
				got, err := c.Classes(t.Context(), id, []string{class.Name})
				if i, _ := opened.IndexOf(class.Name); i != 1 {
					noError(t, err)
					failIf(t, got[0] == nil || got[0].Original != class.Original, "%q: %+v", class.Name, got[0])
					continue
				}
				hit++
				var why *lookup.ClassError
				failIf(t, !errors.As(err, &why) || why.Status != symbol.Corrupt || why.Err == nil || got != nil, "%q: %v %v", class.Name, got, err)
				if a := c.Method(t.Context(), id, class.Name, "m00", 0); class.Name != "" {
					failIf(t, a.Status != symbol.Corrupt || a.Err == nil, "%q: %+v", class.Name, a)
				}
			}
			failIf(t, hit == 0, "no class in the bad row")
			w.blocks.change.Store(nil)
			_, err := w.client().Classes(t.Context(), id, []string{all[1].Name, all[2].Name})
			noError(t, err)
		})
	}
}
