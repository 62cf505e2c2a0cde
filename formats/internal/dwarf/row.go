package dwarf

import (
	"errors"
	"fmt"
)

// Place is file, line and column of a row, packed: rows are most of what a
// unit holds while it is exploded.
type Place uint64

// What does not fit reads as unknown. 2^28 lines and 2^16 columns are more
// than compilers count.
const (
	fileBits   = 20
	lineBits   = 28
	columnBits = 16
	noFile     = 1<<fileBits - 1
)

func place(file, line, column uint64) Place {
	if file >= noFile {
		file = noFile
	}
	if line >= 1<<lineBits {
		line = 0
	}
	if column >= 1<<columnBits {
		column = 0
	}
	return Place(file<<(lineBits+columnBits) | line<<columnBits | column)
}

// File is the raw index of the file, as in DW_AT_call_file of the unit.
func (p Place) File() uint32 { return uint32(p >> (lineBits + columnBits)) }

// Line is 0 if it is unknown.
func (p Place) Line() uint32 { return uint32(p>>columnBits) & (1<<lineBits - 1) }

// Column is 0 if it is unknown.
func (p Place) Column() uint32 { return uint32(p) & (1<<columnBits - 1) }

// Row says where the code from Addr on comes from, up to the next row or the
// end of its sequence.
type Row struct {
	Addr  uint64
	Place Place
}

// Sequence is a piece of code without gaps, [Low, High).
type Sequence struct {
	Low, High   uint64
	first, rows int
}

// Lines is the line table of a unit.
type Lines struct {
	// Sequences ascend and are disjoint: where two claim an address, the one
	// that begins first has it, of several that begin together the first in
	// the file.
	Sequences []Sequence
	// Broken counts sequences and programs that were dropped.
	Broken int
	rows   []Row
}

// Rows are the rows of a sequence, ascending, each address once. The first
// may lie below Low.
func (l *Lines) Rows(s *Sequence) []Row { return l.rows[s.first : s.first+s.rows] }

// lineReader runs line number programs.
type lineReader struct {
	Lines
	header lineHeader
	loaded bool
	room   []byte

	// Registers, and tables of what a special opcode adds.
	addr, opIndex      uint64
	file, line, column uint64
	advance            [256]uint64
	lines              [256]int64
	tables             [4]uint8 // the parameters that they were made from
	start              int      // of the sequence in rows
	unsorted           bool
	repeats            bool // rows that say what the one before them says are kept
}

// maxRows bounds the rows of one unit: 256 MiB of them, from a program of some
// 50 MB; what comes behind is dropped. The largest unit of ceph-osd has 115,000.
const maxRows = 16 << 20

// errProgram is a program that cannot be read on.
var errProgram = errors.New("line number program")

// lineHeader is the header of a line table: how its program is read, and the
// files that rows and call sites name.
type lineHeader struct {
	bad          bool
	version      uint16
	addrSize     uint8
	offSize      uint8
	minInst      uint8
	maxOps       uint8
	lineBase     int8
	lineRange    uint8
	opcodeBase   uint8
	operands     [256]uint8
	program, end uint64 // in .debug_line
	dirs         []Text
	files        []fileEntry
	maxFiles     int
}

type fileEntry struct {
	name Text
	dir  uint64
}

func (h *lineHeader) reset() {
	h.dirs, h.files, h.bad = h.dirs[:0], h.files[:0], true
}

func (h *lineHeader) room(d *Data, n int, off uint64) error {
	if n >= h.maxFiles {
		return d.corrupt(&d.line, off, fmt.Sprintf("at most %d files", h.maxFiles))
	}
	return nil
}

// define adds a file that the program itself names.
func (h *lineHeader) define(b []byte, off uint64, d *Data) error {
	c := cursor{b: b, big: d.big}
	c.skipString()
	dir := c.uleb()
	if c.bad || h.room(d, len(h.files), off) != nil {
		return errProgram
	}
	h.files = append(h.files, fileEntry{textLine<<textShift | Text(off), dir})
	return nil
}
