package sourcemap

import (
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
)

// explodeTables emits what runtimes count by besides lines and columns, as
// ranges of one position each: where the functions of Hermes bytecode begin, and the
// modules of RAM bundles.
func (e *emitter) explodeTables(t *text, l *layout, segment uint32) error {
	if l.offsets != (span{}) {
		t.section = "x_hermes_function_offsets"
		t.seek(l.offsets.from)
		if !t.null() {
			err := t.object(0, func(key string) error {
				number, err := strconv.ParseUint(key, 10, 32)
				if err != nil {
					return t.fail("the number of a unit")
				}
				return e.table(t, func(i uint32) (uint64, bool) { return symbol.HermesFunction(segment, uint32(number), i) },
					func(v uint32) symbol.Site { return symbol.Site{Line: 1, Column: v} })
			})
			if err != nil {
				return err
			}
		}
	}
	if l.modules != (span{}) {
		t.section = "x_facebook_offsets"
		t.seek(l.modules.from)
		if !t.null() {
			return e.table(t, func(i uint32) (uint64, bool) { return symbol.ModuleOffset(segment, i), true },
				func(v uint32) symbol.Site { return symbol.Site{Line: v + 1} })
		}
	}
	return nil
}

// table emits a list of numbers, of which some may be null.
func (e *emitter) table(t *text, at func(i uint32) (uint64, bool), site func(v uint32) symbol.Site) error {
	return t.array(1, func(i int) error {
		if i >= t.in.Limits.Symbols {
			return tooMuch(t.section, t.offset(), "fewer numbers")
		}
		if t.null() {
			return nil
		}
		v, err := t.number(most)
		if err != nil {
			return err
		}
		pos, ok := at(uint32(i))
		if !ok {
			return tooMuch(t.section, t.offset(), "fewer functions or units")
		}
		return e.addAt(marked{Range: symbol.Range{Start: pos, End: pos + 1, At: site(uint32(v))}})
	})
}
