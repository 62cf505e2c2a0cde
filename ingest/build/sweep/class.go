package sweep

import (
	"bytes"
	"fmt"

	"github.com/symlake/symlake/sinks/row"
)

// ClassSource hands out packed classes in the order of their positions, classes of one position in the order of
// their mapping. The caller may still read into after the next call.
type ClassSource[O ~uint64] func(into *row.Packed) (order O, ok bool, err error)

// Classes runs src to its end. Of the classes of one name, which have one position, the last one counts. What emit
// is given is valid during the call only; its error comes back unchanged.
func Classes[O ~uint64](src ClassSource[O], emit func(*row.Packed) error) (Counts, error) {
	var counts Counts
	var read [2]row.Packed
	var held *row.Packed     // the class read last; nil: none
	var others []*row.Packed // of other names at its position
	give := func(r *row.Packed) error {
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
			before, err := row.PackedName(held.Form)
			if err != nil {
				return counts, err
			}
			name, err := row.PackedName(r.Form)
			if err != nil {
				return counts, err
			}
			if before != name {
				others, err = without(others, before)
				if err == nil {
					others, err = without(append(others, &row.Packed{Position: held.Position, Form: bytes.Clone(held.Form)}), name)
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
func without(classes []*row.Packed, name string) ([]*row.Packed, error) {
	kept := classes[:0]
	for _, r := range classes {
		n, err := row.PackedName(r.Form)
		if err != nil {
			return nil, err
		}
		if n != name {
			kept = append(kept, r)
		}
	}
	return kept, nil
}
