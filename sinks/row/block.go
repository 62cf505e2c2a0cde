package row

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

const stringBytes = int(unsafe.Sizeof(""))

// Block is an opened row of ranges: all that it knows about the positions it
// speaks for, in flat arrays. Safe for concurrent use; it never changes.
type Block struct {
	last             uint64
	parts            []part // partition of [parts[0].start, last]
	nodes            []blockNode
	functions, files names
	by               search
	bytes            int64
}

// part is a range or a hole, up to the start of the next one.
type part struct {
	start  uint64
	node   int32 // -1: a hole
	file   uint32
	line   uint32
	column uint32
}

// blockNode is a function in one place of the inline tree.
type blockNode struct {
	parent   int32 // -1: outermost
	function uint32
	file     uint32 // where parent calls it, with line and column
	line     uint32
	column   uint32
}

// at gives the index of the part that holds pos; ok: the block speaks for pos.
func (b *Block) at(pos uint64) (i int, ok bool) {
	if pos < b.parts[0].start || pos > b.last {
		return 0, false
	}
	lo, hi := b.by.within(pos)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); b.parts[mid].start <= pos {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1, true
}

// Find appends the answer for pos to to, innermost first: Linkage, File, Line
// and Column. found is false in a hole, and for a position that the block does
// not speak for. The strings are shared; nothing is allocated but for growing to.
func (b *Block) Find(pos uint64, to []symbol.Frame) (frames []symbol.Frame, found bool) {
	i, ok := b.at(pos)
	if !ok || b.parts[i].node < 0 {
		return to, false
	}
	return b.chain(&b.parts[i], to), true
}

func (b *Block) chain(p *part, to []symbol.Frame) []symbol.Frame {
	file, line, column := p.file, p.line, p.column
	for n := p.node; n >= 0; {
		d := &b.nodes[n]
		to = append(to, symbol.Frame{Linkage: b.functions.get(d.function), File: b.files.get(file), Line: line, Column: column})
		file, line, column, n = d.file, d.line, d.column, d.parent
	}
	return to
}

// Range gives [start, end) of the range or hole that holds pos. end is 0 where
// that is beyond the last position there is; both are 0 for a position that
// the block does not speak for.
func (b *Block) Range(pos uint64) (start, end uint64) {
	i, ok := b.at(pos)
	if !ok {
		return 0, 0
	}
	return b.parts[i].start, b.partEnd(i)
}

func (b *Block) partEnd(i int) uint64 {
	if i+1 < len(b.parts) {
		return b.parts[i+1].start
	}
	return b.last + 1
}

// Each emits the block's ranges, ascending, with their answers; chain is valid
// during the call. emit's error comes back unchanged.
func (b *Block) Each(emit func(start, end uint64, chain []symbol.Frame) error) error {
	var chain []symbol.Frame
	for i := range b.parts {
		p := &b.parts[i]
		if p.node < 0 {
			continue
		}
		chain = b.chain(p, chain[:0])
		if err := emit(p.start, b.partEnd(i), chain); err != nil {
			return err
		}
	}
	return nil
}

// Bytes is the memory that the block holds, without the dictionary's.
func (b *Block) Bytes() int64 { return b.bytes }

func (b *Block) measure(text int) {
	b.bytes = int64(unsafe.Sizeof(*b)) + int64(text) +
		int64(cap(b.parts))*int64(unsafe.Sizeof(part{})) + int64(cap(b.nodes))*int64(unsafe.Sizeof(blockNode{})) +
		int64(cap(b.by.step))*4 + int64(len(b.functions.strings)+len(b.files.strings))*int64(stringBytes+4)
}

// names are functions or files of a block. Those of the dictionary are fetched
// when they are first asked for, so that a cold look-up decodes few pages.
type names struct {
	strings []string
	shared  []uint32 // by name: its number in the dictionary plus 1; 0: none
	from    *dictionary
	ready   []atomic.Uint64 // bit n: strings[n] is set, and stays
	fetch   sync.Mutex
}

// fill takes over the numbers of names as the block's reader gathered them.
func (n *names) fill(numbers []uint32, inline []string, d *dictionary) {
	n.strings, n.shared, n.from = make([]string, len(numbers)), slices.Clone(numbers), d
	n.ready = make([]atomic.Uint64, (len(numbers)+63)/64)
	for i, v := range n.shared {
		if v&here != 0 {
			n.strings[i], n.shared[i] = inline[v&^here], 0
			n.ready[i/64].Or(1 << (i % 64))
		}
	}
}

func (n *names) get(i uint32) string {
	if n.ready[i/64].Load()>>(i%64)&1 == 0 {
		n.set(i)
	}
	return n.strings[i]
}

// set fetches name i. The bit is set after the string, so whoever sees the bit
// sees the string.
func (n *names) set(i uint32) {
	n.fetch.Lock()
	defer n.fetch.Unlock()
	if n.ready[i/64].Load()>>(i%64)&1 == 0 {
		n.strings[i] = n.from.string(n.shared[i] - 1)
		n.ready[i/64].Or(1 << (i % 64))
	}
}
