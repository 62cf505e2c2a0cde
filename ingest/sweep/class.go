package sweep

import (
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
)

// ClassSource hands out classes in the order of their positions, and those of one position in the order
// in which their mapping has them. What it puts into into may still be read after the next call.
type ClassSource[O ~uint64] func(into *symbol.Run) (order O, ok bool, err error)

// Classes runs src to its end, which may know positions itself (symbol.Run.Plain). Of the classes of one name, which have one position, the last one counts. What emit
// is given is valid during the call only; its error comes back unchanged.
func Classes[O ~uint64](src ClassSource[O], position func(name string) uint64, emit func(*symbol.Run) error) (Counts, error) {
	var counts Counts
	var runs [2]symbol.Run
	var held *symbol.Run // the class read last; nil: none
	var others []symbol.Run
	var at uint64
	flush := func() error {
		if held == nil {
			return nil
		}
		for _, r := range append(others, *held) {
			counts.Runs++
			if err := emit(&r); err != nil {
				return err
			}
		}
		others = others[:0]
		return nil
	}
	for i := 0; ; i++ {
		r := &runs[i%2]
		_, ok, err := src(r)
		if err != nil {
			return counts, err
		}
		if !ok {
			return counts, flush()
		}
		pos := r.Position
		if r.Plain == nil {
			pos = position(r.Class.Name)
		}
		switch {
		case held == nil:
			at = pos
		case pos < at:
			return counts, fmt.Errorf("sweep: class at %#x after one at %#x", pos, at)
		case pos > at:
			if err := flush(); err != nil {
				return counts, err
			}
			at = pos
		case held.Class.Name != r.Class.Name:
			// Two names with one position: they are kept apart.
			others = append(without(others, held.Class.Name), symbol.Run{Rank: held.Rank, Class: held.Class.Clone()})
			others = without(others, r.Class.Name)
		}
		held = r
	}
}

// without drops the class of that name.
func without(runs []symbol.Run, name string) []symbol.Run {
	kept := runs[:0]
	for _, r := range runs {
		if r.Class.Name != name {
			kept = append(kept, r)
		}
	}
	return kept
}
