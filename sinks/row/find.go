package row

import "github.com/symlake/symlake/formats/symbol"

// Question is one of many positions that answers are asked for, and how far Locate has come with it.
type Question struct {
	Block *Block
	Pos   uint64

	lo, hi   uint16 // the part is before hi, and lo - 1 or later; both 0: that needs no search
	part     int32  // -1: none holds Pos
	node     uint16 // of the part; hole: there is no answer
	function uint16 // of the node
	seen     uint32 // of what was brought into the caches: it is a value so that it is loaded
}

// Locate prepares questions for Find. A look-up alone is a chain of loads of which each waits for the one
// before, and few are in the processor's caches: here each step is taken for all
// questions before the next one, so that they wait at the same time. Some dozens at once are best.
func Locate(qs []Question) {
	for i := range qs {
		q := &qs[i]
		q.lo, q.hi, q.part, q.node = 0, 0, -1, hole
		switch b := q.Block; {
		case !b.holds(q.Pos):
		case b.script != nil && b.script.starts != nil:
			q.part = int32(b.script.at(q.Pos))
		default:
			q.lo, q.hi = b.by.within(q.Pos - b.base)
		}
	}
	for i := range qs {
		if q := &qs[i]; q.hi > 0 {
			q.seen = q.Block.parts[(int(q.lo)+int(q.hi)-1)/2].start
		}
	}
	for i := range qs {
		q := &qs[i]
		if q.hi > 0 {
			q.part = int32(q.Block.search(q.Pos-q.Block.base, q.lo, q.hi))
		}
		if q.part >= 0 {
			q.node = q.Block.parts[q.part].node
		}
	}
	for i := range qs {
		if q := &qs[i]; q.node != hole {
			q.function = q.Block.nodes[q.node].function
		}
	}
	for i := range qs {
		if q := &qs[i]; q.node != hole {
			b := q.Block
			q.seen = b.functions.touch(q.function) + b.files.touch(b.parts[q.part].file)
		}
	}
}

// Find is Block.Find of a question that Locate has prepared.
func (q *Question) Find(to []symbol.Frame) (frames []symbol.Frame, found bool) {
	if q.node == hole {
		return to, false
	}
	return q.Block.found(int(q.part), q.Pos, to), true
}
