package ranges

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

const stringBytes = int(unsafe.Sizeof(""))

// Block is an opened row of ranges: all that it knows about the positions it
// speaks for, in flat arrays of small elements, because a look-up costs
// what it touches. Safe for concurrent use; it never changes.
type Block struct {
	from, last uint64 // it speaks for [from, last]
	base, end  uint64 // start of its first range, end of its last; both from if it has none
	parts      []part // partition of [base, end)
	nodes      []blockNode
	by         steps
	functions  names
	files      names
	script     *scriptParts // of a script's block
	bytes      int64
}

// part is a range or a hole, up to the start of the next one.
type part struct {
	start  uint32 // from base; 0 where a script's block has it
	node   uint16 // hole: it is one
	file   uint16
	line   uint32
	column uint32
}

// hole is no node: a block has fewer.
const hole = 1<<16 - 1

// blockNode is a function in one place of the inline tree.
type blockNode struct {
	parent   uint16 // hole: outermost
	function uint16
	file     uint16 // where parent calls it, with line and column
	line     uint32
	column   uint32
}

// steps finds a part: a table of equal steps leads to a few, which are halved.
type steps struct {
	shift uint8
	first []uint16 // by start>>shift: the first part that starts in or after that step
}

func (s *steps) build(parts []part, length uint64) {
	n := len(parts)
	s.shift = uint8(max(0, bits.Len64(length-1)-bits.Len(uint(n))+1)) // about n/2 to n steps
	most := uint64(parts[n-1].start) >> s.shift
	s.first = make([]uint16, most+2)
	i := 0
	for k := range s.first {
		for i < n && uint64(parts[i].start)>>s.shift < uint64(k) {
			i++
		}
		s.first[k] = uint16(i)
	}
}

// within bounds the last part that starts at or before off: it is before hi, and lo - 1 or
// later.
func (s *steps) within(off uint64) (lo, hi uint16) {
	k := min(off>>s.shift, uint64(len(s.first)-2))
	return s.first[k], s.first[k+1]
}

// holds tells whether some part holds pos.
func (b *Block) holds(pos uint64) bool {
	return pos >= b.base && (pos < b.end || b.end == 0) && len(b.parts) > 0
}

// at gives the index of the part that holds pos; -1: none does.
func (b *Block) at(pos uint64) int {
	if !b.holds(pos) {
		return -1
	}
	if b.script != nil && b.script.starts != nil {
		return b.script.at(pos)
	}
	lo, hi := b.by.within(pos - b.base)
	return b.search(pos-b.base, lo, hi)
}

// search returns the last part that starts at or before off, of the parts that within returned.
func (b *Block) search(off uint64, from, to uint16) int {
	lo, hi := int(from), int(to)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); uint64(b.parts[mid].start) <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// Find appends the answer for pos to to, innermost first: Linkage, File, Line
// and Column. found is false in a hole, and for a position that the block does
// not speak for. The strings are shared; nothing is allocated but for growing to.
func (b *Block) Find(pos uint64, to []symbol.Frame) (frames []symbol.Frame, found bool) {
	i := b.at(pos)
	if i < 0 || b.parts[i].node == hole {
		return to, false
	}
	return b.found(i, pos, to), true
}

// found appends the answer that part i, which is no hole, gives for pos.
func (b *Block) found(i int, pos uint64, to []symbol.Frame) []symbol.Frame {
	first := len(to)
	to = b.chain(&b.parts[i], to)
	if b.script != nil {
		b.script.tell(i, b.partStart(i), pos, &to[first], &b.functions)
	}
	return to
}

// chain appends the frames of a part. They are written field by field: a literal is made elsewhere and copied
// in wider words than it was written, which a processor cannot forward, so it waits for all stores before.
func (b *Block) chain(p *part, to []symbol.Frame) []symbol.Frame {
	file, line, column := p.file, p.line, p.column
	for n := p.node; n != hole; {
		d := &b.nodes[n]
		if len(to) == cap(to) {
			to = slices.Grow(to, 1)
		}
		to = to[:len(to)+1]
		f := &to[len(to)-1]
		f.Function, f.Linkage, f.File = "", b.functions.get(d.function), b.files.get(file)
		f.Line, f.Column = line, column
		f.Name, f.Ignored, f.Compiled = "", false, ""
		file, line, column, n = d.file, d.line, d.column, d.parent
	}
	return to
}

// Range gives [start, end) of the range or hole that holds pos. end is 0 where
// that is beyond the last position there is; both are 0 for a position that
// the block does not speak for.
func (b *Block) Range(pos uint64) (start, end uint64) {
	switch i := b.at(pos); {
	case pos < b.from || pos > b.last:
		return 0, 0
	case i >= 0:
		return b.partStart(i), b.partEnd(i)
	case pos < b.base:
		return b.from, b.base
	}
	return b.end, b.last + 1
}

// Entry gives where the ranges begin that lead up to pos without a gap and have its outermost function:
// the function's own start, unless it has several parts or an equally named neighbor. open: they reach
// the block's first position, and may go on in the row before. ok is false in a hole.
func (b *Block) Entry(pos uint64) (start uint64, open, ok bool) {
	i := b.at(pos)
	if i < 0 || b.parts[i].node == hole {
		return 0, false, false
	}
	name := b.outermost(i)
	for i > 0 && b.parts[i-1].node != hole && b.outermost(i-1) == name {
		i--
	}
	start = b.partStart(i)
	return start, start == b.from, true
}

// outermost is the number of the outermost function of part i.
func (b *Block) outermost(i int) uint16 {
	n := b.parts[i].node
	for b.nodes[n].parent != hole {
		n = b.nodes[n].parent
	}
	return b.nodes[n].function
}

func (b *Block) partStart(i int) uint64 {
	if b.script != nil && b.script.starts != nil {
		return b.script.starts[i]
	}
	return b.base + uint64(b.parts[i].start)
}

func (b *Block) partEnd(i int) uint64 {
	if i+1 < len(b.parts) {
		return b.partStart(i + 1)
	}
	return b.end
}

// Each emits the block's ranges, ascending, with their answers; chain is valid
// during the call. emit's error comes back unchanged.
func (b *Block) Each(emit func(start, end uint64, chain []symbol.Frame) error) error {
	var chain []symbol.Frame
	for i := range b.parts {
		p := &b.parts[i]
		if p.node == hole {
			continue
		}
		chain = b.chain(p, chain[:0])
		start := b.partStart(i)
		if b.script != nil {
			b.script.tell(i, start, start, &chain[0], &b.functions)
		}
		if err := emit(start, b.partEnd(i), chain); err != nil {
			return err
		}
	}
	return nil
}

// From is the first position that the block speaks for.
func (b *Block) From() uint64 { return b.from }

// Bytes is the memory that the block holds, without the dictionary's.
func (b *Block) Bytes() int64 { return b.bytes }

func (b *Block) measure(text int) {
	b.bytes = int64(unsafe.Sizeof(*b)) + int64(text) +
		int64(cap(b.parts))*int64(unsafe.Sizeof(part{})) + int64(cap(b.nodes))*int64(unsafe.Sizeof(blockNode{})) +
		int64(cap(b.by.first))*2 + b.script.bytes() + int64(len(b.functions.strings)+len(b.files.strings))*int64(stringBytes+4)
}

// Question is one of many positions that answers are asked for, and how far Locate has come with it.
type Question struct {
	Block *Block
	Pos   uint64

	lo, hi   uint16 // the part is before hi, and lo - 1 or later; both 0: that needs no search
	part     int32  // -1: none holds Pos
	node     uint16 // of the part; hole: there is no answer
	function uint16 // of the node
	seen     uint32 // depends on the memory brought into the caches, so that it is loaded
}

// Locate prepares questions for Find. A look-up alone is a chain of loads. Each waits for the load
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
