package sweep

import (
	"bytes"
	"fmt"

	"github.com/symlake/symlake/sinks/row/classes"
)

// ClassSource hands out packed classes in the order of their positions, classes of one position in the order of
// their mapping. The caller may still read into after the next call.
type ClassSource[O ~uint64] func(into *classes.Packed) (order O, ok bool, err error)

// Classes runs src to its end. Of the classes of one name, which have one position, the last one counts. What emit
// is given is valid during the call only; its error comes back unchanged.
func Classes[O ~uint64](src ClassSource[O], emit func(*classes.Packed) error) (Counts, error) {
	var counts Counts
	var read [2]classes.Packed
	var held *classes.Packed     // the class read last; nil: none
	var others []*classes.Packed // of other names at its position
	give := func(r *classes.Packed) error {
		counts.Runs++
		return emit(r)
	}
	flush := func() error {
		for _, r := range others {
			if err := give(r); err != nil {
				return err
			}
		}
		others = others[:0]
		if held == nil {
			return nil
		}
		return give(held)
	}
	for i := 0; ; i++ {
		r := &read[i%2]
		_, ok, err := src(r)
		if err != nil {
			return counts, err
		}
		if !ok {
			return counts, flush()
		}
		switch {
		case held == nil:
		case r.Position < held.Position:
			return counts, fmt.Errorf("sweep: class at %#x after one at %#x", r.Position, held.Position)
		case r.Position > held.Position:
			if err := flush(); err != nil {
				return counts, err
			}
		default:
			// Two names with one position are kept apart.
			before, err := classes.PackedName(held.Form)
			if err != nil {
				return counts, err
			}
			name, err := classes.PackedName(r.Form)
			if err != nil {
				return counts, err
			}
			if before != name {
				others, err = without(others, before)
				if err == nil {
					others, err = without(append(others, &classes.Packed{Position: held.Position, Form: bytes.Clone(held.Form)}), name)
				}
			}
			if err != nil {
				return counts, err
			}
		}
		held = r
	}
}

// without drops the class of that name.
func without(list []*classes.Packed, name string) ([]*classes.Packed, error) {
	kept := list[:0]
	for _, r := range list {
		n, err := classes.PackedName(r.Form)
		if err != nil {
			return nil, err
		}
		if n != name {
			kept = append(kept, r)
		}
	}
	return kept, nil
}
