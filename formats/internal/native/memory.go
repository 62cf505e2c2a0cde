package native

import (
	"cmp"
	"slices"
	"sort"

	"github.com/symlake/symlake/formats"
)

// Memory is what a loader makes of a program file: its bytes by their unslid address, and the words that it moves. It is
// safe for concurrent use once it is made.
type Memory struct {
	Order    ByteOrder
	AddrSize int     // 4 or 8
	Base     uint64  // the image base
	Blocks   []Block // ascending by Addr, see Sort
	Moved    []Moved // ascending by At, see Sort; words that the file itself does not hold
	// Chained says that pointers may be links of a chain: only their low 36 bits are an address, or an offset from Base.
	Chained bool
}

// Block is a loaded part of the file.
type Block struct {
	Addr    uint64
	In      *formats.Input // its stored bytes
	Written bool           // the program or its loader may write there
}

// Moved is a word that the loader sets: at an address, to an address.
type Moved struct{ At, To uint64 }

// Sort brings Blocks and Moved into order.
func (m *Memory) Sort() {
	slices.SortStableFunc(m.Blocks, func(a, b Block) int { return cmp.Compare(a.Addr, b.Addr) })
	slices.SortFunc(m.Moved, func(a, b Moved) int { return cmp.Compare(a.At, b.At) })
}

// Rest returns the stored bytes from addr to the end of its block: a view of the mapped file, else a copy. It is nil if
// no block holds addr.
func (m *Memory) Rest(addr uint64) ([]byte, error) {
	b, at := m.block(addr)
	if b == nil {
		return nil, nil
	}
	return b.In.View(at, b.In.Size-at)
}

// View returns n stored bytes at addr, nil if a block does not hold them all.
func (m *Memory) View(addr uint64, n int64) ([]byte, error) {
	b, at := m.block(addr)
	if b == nil || n < 0 || n > b.In.Size-at {
		return nil, nil
	}
	return b.In.View(at, n)
}

// block finds the last block that begins at or before addr, if it reaches there.
func (m *Memory) block(addr uint64) (b *Block, at int64) {
	i := sort.Search(len(m.Blocks), func(i int) bool { return m.Blocks[i].Addr > addr }) - 1
	if i < 0 || addr-m.Blocks[i].Addr >= uint64(m.Blocks[i].In.Size) {
		return nil, 0
	}
	return &m.Blocks[i], int64(addr - m.Blocks[i].Addr)
}

// Word returns the address-sized word at the beginning of b, which lies at addr: as the file has it or as the loader sets
// it. b must hold a whole word.
func (m *Memory) Word(b []byte, addr uint64) uint64 {
	if len(m.Moved) > 0 {
		if i, ok := slices.BinarySearchFunc(m.Moved, addr, func(w Moved, at uint64) int { return cmp.Compare(w.At, at) }); ok {
			return m.Moved[i].To
		}
	}
	if m.AddrSize == 4 {
		return uint64(m.Order.Uint32(b))
	}
	v := m.Order.Uint64(b)
	const target = 1<<36 - 1
	if m.Chained && v > target {
		if v &= target; v < m.Base {
			v += m.Base
		}
	}
	return v
}
