// Package pclntab reads the table of functions that a Go program carries for its own stack traces: names, files, lines and
// inlined calls. It survives -ldflags=-s -w and strip.
//
// It reads the tables of Go 1.16, 1.18, and 1.20 and later, in both byte orders, with addresses of 32 and 64 bits. A chain
// of frames is what runtime.CallersFrames makes of the same place, with the wrappers that it leaves out, and with the types
// of generic functions, which it does not print.
//
// A table has no addresses of its own since Go 1.26, and inlined calls lie outside of it since 1.18. Both are found through
// the runtime's moduledata: the words in writable memory that point at the table and at its first part.
//
// Invariants:
//   - bytes that are no table are no error: programs may hide theirs;
//   - a damaged function is counted and left out; of a damaged chain the outermost frames stay;
//   - the work of a part is bounded by the bytes of the table and by the size of the code.
package pclntab

import (
	"bytes"
	"context"

	"github.com/symlake/symlake/formats/internal/native"
)

// version is a layout, named by the first release of Go that has it.
type version uint8

const (
	go116 version = iota
	go118
	go120
)

// magics are the first byte of a table, in the order of versions; three bytes of ones follow.
var magics = [...]byte{go116: 0xfa, go118: 0xf0, go120: 0xf1}

const (
	headerWords = 8       // of go118; go116 has one less
	maxFuncs    = 1 << 24 // the largest real programs have 500,000
	// partFuncs is how many functions one part holds.
	partFuncs = 8 << 10
)

// Table is the table of one program. It is safe for concurrent use.
type Table struct {
	mem     *native.Memory
	addr    uint64 // unslid
	b       []byte // from the header on
	version version
	quantum uint64

	count                     int
	names, units, files, data int    // offsets into b
	tab                       []byte // of values by program counter
	funcs                     int    // offset of the list of functions

	module module
	trees  trees
}

// Find returns the table of a program: at the beginning of a span of own, else anywhere in a span of merged. It is nil if
// there is none, or if the program hides it.
func Find(ctx context.Context, mem *native.Memory, own, merged []native.Span) (*Table, error) {
	for _, s := range own {
		t, err := at(ctx, mem, s.Start)
		if t != nil || err != nil {
			return t, err
		}
	}
	for _, s := range merged {
		b, err := mem.View(s.Start, int64(min(s.End-s.Start, 1<<40)))
		if err != nil {
			return nil, err
		}
		t, err := search(ctx, mem, s.Start, b)
		if t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

// maxTries bounds the headers that one search looks into.
const maxTries = 64

// search looks for a table in b, which lies at addr.
func search(ctx context.Context, mem *native.Memory, addr uint64, b []byte) (*Table, error) {
	tries := 0
	for v := range magics {
		word := make([]byte, 6) // the magic number, and two zeros
		mem.Order.PutUint32(word, 0xffffff00|uint32(magics[v]))
		for from := 0; from < len(b) && tries < maxTries; from++ {
			i := bytes.Index(b[from:], word)
			if i < 0 {
				break
			}
			from += i
			if !plausible(b[from:], mem) {
				continue
			}
			tries++
			t, err := at(ctx, mem, addr+uint64(from))
			if t != nil || err != nil {
				return t, err
			}
		}
	}
	return nil, nil
}

// plausible reports whether b begins with a magic number, two zeros, a quantum and the size of an address.
func plausible(b []byte, mem *native.Memory) bool {
	return len(b) >= 8 && b[4] == 0 && b[5] == 0 && (b[6] == 1 || b[6] == 2 || b[6] == 4) && int(b[7]) == mem.AddrSize
}

// at reads the table at addr, nil if there is none.
func at(ctx context.Context, mem *native.Memory, addr uint64) (*Table, error) {
	head, err := mem.View(addr, 8)
	if err != nil || !plausible(head, mem) {
		return nil, err
	}
	magic := mem.Order.Uint32(head)
	v := bytes.IndexByte(magics[:], byte(magic))
	if magic>>8 != 0xffffff || v < 0 {
		return nil, nil
	}
	b, err := mem.Rest(addr)
	if err != nil {
		return nil, err
	}
	t := &Table{mem: mem, addr: addr, b: b, version: version(v), quantum: uint64(head[6])}
	if !t.header() {
		return nil, nil
	}
	if err := t.findModule(ctx); err != nil || !t.placed() {
		return nil, err
	}
	return t, nil
}

// header reads the header and reports whether it describes a table that fits.
func (t *Table) header() bool {
	size, words := t.mem.AddrSize, headerWords
	if t.version == go116 {
		words--
	}
	if len(t.b) < 8+words*size {
		return false
	}
	word := func(i int) uint64 {
		v := native.Fields{B: t.b[8+i*size:], Order: t.mem.Order}
		if size == 4 {
			return uint64(v.U32(0))
		}
		return v.U64(0)
	}
	n, at := word(0), 2
	if t.version >= go118 {
		t.module.text = t.mem.Word(t.b[8+2*size:], t.addr+8+2*uint64(size))
		at++
	}
	last := uint64(8 + words*size)
	for _, off := range []*int{&t.names, &t.units, &t.files, &t.data, &t.funcs} {
		v := word(at)
		if v < last || v >= uint64(len(t.b)) { // they stand in this order
			return false
		}
		*off, last = int(v), v
		at++
	}
	t.tab = t.b[t.data:t.funcs]
	t.count = int(n)
	return n > 0 && n <= maxFuncs && (2*n+1)*uint64(t.entrySize()) <= uint64(len(t.b)-t.funcs)
}

// entrySize is the size of a number in the list of functions.
func (t *Table) entrySize() int {
	if t.version == go116 {
		return t.mem.AddrSize
	}
	return 4
}

// number reads a number of the list of functions.
func (t *Table) number(i int) uint64 {
	at := t.funcs + i*t.entrySize()
	if t.version == go116 {
		return t.mem.Word(t.b[at:], t.addr+uint64(at))
	}
	return uint64(t.mem.Order.Uint32(t.b[at:]))
}

// entry returns where function i begins, unslid; function Count is the end of the last one.
func (t *Table) entry(i int) uint64 {
	v := t.number(2 * i)
	if t.version == go116 {
		return v
	}
	return t.module.address(v)
}

// Parts returns the number of parts.
func (t *Table) Parts() int { return (t.count + partFuncs - 1) / partFuncs }
