package lookup_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
	"github.com/symlake/symlake/sinks/row/loads"
)

// A row of classes that is gone, another one's, or changed makes its classes corrupt, never absent; classes of other rows are
// given, and all are again when the row is back.
func TestBadClassRow(t *testing.T) {
	w := lookuptest.NewWorld(t)
	all := lookuptest.MappingOf(3000)
	id := w.PublishClasses(all)
	rec, err := w.Catalog.Artifacts.Get(t.Context(), id)
	w.Must(err)
	opened, err := loads.Open(w.Ring, id, rec.Published)
	w.Must(err)
	lookuptest.FailIf(t, opened.Rows() < 3, "%d rows", opened.Rows())
	bad, other := opened.Row(1).From, opened.Row(0).From
	var good sinks.Row
	w.Must(w.Blocks.Blocks.Scan(t.Context(), sinks.Span{}, func(r sinks.Row) error {
		if bytes.Equal(r.Key, other) {
			good = sinks.Row{Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)}
		}
		return nil
	}))
	for name, change := range map[string]func(sinks.Row) (sinks.Row, error){
		"gone":        func(sinks.Row) (sinks.Row, error) { return sinks.Row{}, nil },
		"value moved": func(r sinks.Row) (sinks.Row, error) { return sinks.Row{Key: r.Key, Value: good.Value}, nil },
		"neighbor":    func(sinks.Row) (sinks.Row, error) { return good, nil },
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
			w.Blocks.Change.Store(&broken)
			defer w.Blocks.Change.Store(nil)
			c := w.Client()
			hit := 0
			for _, class := range all[:200] {
				got, err := c.Classes(t.Context(), id, []string{class.Name})
				if i, _ := opened.IndexOf(class.Name); i != 1 {
					lookuptest.NoError(t, err)
					lookuptest.FailIf(t, got[0] == nil || got[0].Original != class.Original, "%q: %+v", class.Name, got[0])
					continue
				}
				hit++
				var why *lookup.ClassError
				lookuptest.FailIf(t, !errors.As(err, &why) || why.Status != symbol.Corrupt || why.Err == nil || got != nil, "%q: %v %v", class.Name, got, err)
			}
			lookuptest.FailIf(t, hit == 0, "no class in the bad row")
			w.Blocks.Change.Store(nil)
			_, err := w.Client().Classes(t.Context(), id, []string{all[1].Name, all[2].Name})
			lookuptest.NoError(t, err)
		})
	}
}
