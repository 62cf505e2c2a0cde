package sourcemap

import (
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/symbol"
)

// explodeTables emits what runtimes count by besides lines and columns, as
// ranges of one position each: where the functions of Hermes bytecode begin, and the
// modules of RAM bundles.
func (e *emitter) explodeTables(t *json.Reader, l *mapfile.Layout, segment uint32) error {
	if l.HermesOffsets != (mapfile.Span{}) {
		t.Section = "x_hermes_function_offsets"
		t.SeekTo(l.HermesOffsets.From)
		if !t.Null() {
			err := t.Object(0, func(key string) error {
				number, err := strconv.ParseUint(key, 10, 32)
				if err != nil {
					return t.Fail("the number of a unit")
				}
				return e.table(t, func(i uint32) (uint64, bool) { return symbol.HermesFunction(segment, uint32(number), i) },
					func(v uint32) symbol.Site { return symbol.Site{Line: 1, Column: v} })
			})
			if err != nil {
				return err
			}
		}
	}
	if l.ModuleOffsets != (mapfile.Span{}) {
		t.Section = "x_facebook_offsets"
		t.SeekTo(l.ModuleOffsets.From)
		if !t.Null() {
			return e.table(t, func(i uint32) (uint64, bool) { return symbol.ModuleOffset(segment, i), true },
				func(v uint32) symbol.Site { return symbol.Site{Line: v + 1} })
		}
	}
	return nil
}

// table emits a list of numbers. Some may be null.
func (e *emitter) table(t *json.Reader, at func(i uint32) (uint64, bool), site func(v uint32) symbol.Site) error {
	return t.Array(1, func(i int) error {
		if i >= t.In.Limits.Symbols {
			return mapfile.TooMuch(t.Section, t.Offset(), "fewer numbers")
		}
		if t.Null() {
			return nil
		}
		v, err := t.Number(mapfile.MostNumber)
		if err != nil {
			return err
		}
		pos, ok := at(uint32(i))
		if !ok {
			return mapfile.TooMuch(t.Section, t.Offset(), "fewer functions or units")
		}
		return e.addAt(marked{Range: symbol.Range{Start: pos, End: pos + 1, At: site(uint32(v))}})
	})
}
