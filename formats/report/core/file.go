package core

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/symlake/symlake/formats/report/internal/walked"
	"github.com/symlake/symlake/formats/unwind"
)

// core is a core file.
type core struct {
	walked.File
	wide    bool      // 64 bits
	loads   []segment // of memory, ascending by address
	code    []uint64  // addresses of those with code, ascending
	notesAt []segment
	files   []mapping
	vdso    uint64 // where the kernel's own library was mapped; 0: it is not said
	notes   []string
	process unwind.Process
}

// segment is a program header.
type segment struct {
	flags              uint32
	offset, addr, size uint64 // size in the file
}

const (
	typeCore    = 4
	segmentLoad = 1
	segmentNote = 4
	flagExec    = 1

	maxSegments = 1 << 18
	manyHeaders = 0xffff // the number of program headers stands in the first section header
)

// architectures are the known processors, by e_machine.
var architectures = map[uint16]string{3: "x86", 40: "arm", 62: "x86_64", 183: "arm64", 243: "riscv64"}

// begins takes little-endian files of the type core.
func begins(head []byte) bool {
	return len(head) > 18 && string(head[:4]) == "\x7fELF" && (head[4] == 1 || head[4] == 2) && head[5] == 1 &&
		binary.LittleEndian.Uint16(head[16:]) == typeCore
}

// open reads the headers; false: the file is none, or of a processor that cannot be walked.
func (c *core) open() bool {
	head := c.At(0, 52)
	if head == nil || !begins(head) {
		return false
	}
	c.wide = head[4] == 2
	c.process.Arch = unwind.ArchOf(architectures[binary.LittleEndian.Uint16(head[18:])])
	if c.process.Arch == nil || (c.process.Arch.Word == 8) != c.wide {
		return false
	}
	if c.wide && c.At(0, 64) == nil {
		return false
	}
	c.headers(c.At(0, 64), 0, func(kind uint32, s segment) {
		switch {
		case kind == segmentLoad && len(c.loads) < maxSegments:
			c.loads = append(c.loads, s)
		case kind == segmentNote && len(c.notesAt) < maxSegments:
			c.notesAt = append(c.notesAt, s)
		}
	})
	slices.SortStableFunc(c.loads, func(a, b segment) int { return cmp.Compare(a.addr, b.addr) })
	for _, s := range c.loads {
		if s.flags&flagExec != 0 {
			c.code = append(c.code, s.addr)
		}
	}
	return len(c.notesAt) > 0
}

// headers visits the program headers of an ELF file that begins at an offset of this file with head.
func (c *core) headers(head []byte, at uint64, visit func(kind uint32, s segment)) {
	f := fields{head, c.wide}
	table, size, count := f.pick(28, 32), uint64(f.u16(f.either(42, 54))), uint64(f.u16(f.either(44, 56)))
	if count == manyHeaders {
		sections := c.At(at+f.pick(32, 40), uint64(f.either(40, 64)))
		count = uint64(fields{sections, c.wide}.u32(f.either(28, 44)))
	}
	if size < uint64(f.either(32, 56)) {
		return
	}
	for i := range min(count, maxSegments) {
		b := c.At(at+table+i*size, size)
		if b == nil {
			return
		}
		h := fields{b, c.wide}
		visit(h.u32(0), segment{h.u32(h.either(24, 4)), h.pick(4, 8), h.pick(8, 16), h.pick(16, 32)})
	}
}

// fields reads numbers of structures that have two widths. A number behind the end is 0.
type fields struct {
	b    []byte
	wide bool
}

// either returns the offset for the width.
func (f fields) either(narrow, wide int) int {
	if f.wide {
		return wide
	}
	return narrow
}

// pick returns the word at the offset for the width.
func (f fields) pick(narrow, wide int) uint64 { return f.word(f.either(narrow, wide)) }

func (f fields) word(at int) uint64 {
	if !f.wide {
		return uint64(f.u32(at))
	}
	if at < 0 || at+8 > len(f.b) {
		return 0
	}
	return binary.LittleEndian.Uint64(f.b[at:])
}

func (f fields) u32(at int) uint32 {
	if at < 0 || at+4 > len(f.b) {
		return 0
	}
	return binary.LittleEndian.Uint32(f.b[at:])
}

func (f fields) u16(at int) uint16 {
	if at < 0 || at+2 > len(f.b) {
		return 0
	}
	return binary.LittleEndian.Uint16(f.b[at:])
}
