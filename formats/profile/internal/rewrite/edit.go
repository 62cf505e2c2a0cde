package rewrite

import (
	"cmp"
	"slices"
)

// Edit puts text in the place of the bytes [From, To) of a value.
type Edit struct {
	From, To int
	Text     []byte
}

// Apply returns value with edits, which do not overlap. It appends to to.
func Apply(to, value []byte, edits []Edit) []byte {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.From, b.From) })
	at := 0
	for _, e := range edits {
		if e.From < at {
			continue
		}
		to = append(append(to, value[at:e.From]...), e.Text...)
		at = e.To
	}
	return append(to, value[at:]...)
}
