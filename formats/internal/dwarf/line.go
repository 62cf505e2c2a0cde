package dwarf

import (
	"errors"
	"slices"

	"github.com/symlake/symlake/formats"
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
	// that begins first has it, of those that begin together the first in
	// the file.
	Sequences []Sequence
	// Broken counts sequences and programs that were dropped.
	Broken int
	rows   []Row
}

// Rows are the rows of a sequence, ascending, each address once. The first
// may lie below Low.
func (l *Lines) Rows(s *Sequence) []Row { return l.rows[s.first : s.first+s.rows] }

// maxRows bounds the rows of one unit: 256 MiB of them, from a program of some
// 50 MB; what comes behind is dropped. The largest unit of ceph-osd has 115,000.
const maxRows = 16 << 20

// Lines runs the line number program of the open unit. keep tells of each
// sequence whether it is code of the image. A row that says what the one before
// it says is left out, unless repeats are asked for: of interest is then which
// addresses have rows. An error is one of the input, or of limits: damage is
// counted in Broken.
func (r *Reader) Lines(keep func(low, high uint64) bool, repeats bool) (*Lines, error) {
	l := &r.line
	l.repeats = repeats
	if err := r.lineHeader(); err != nil || l.header.bad {
		return &l.Lines, err
	}
	h := &l.header
	if err := r.home.charge(&r.home.line, h.program, int(h.end-h.program)); err != nil {
		return nil, err
	}
	l.prepare()
	l.reserve(int(h.end - h.program))
	l.begin()
	s := &r.home.line
	var err error
	for off := h.program; off < h.end && err == nil; {
		b := s.b
		final := true
		if b != nil {
			b = b[off:h.end:h.end]
		} else {
			n := min(h.end-off, windowBytes)
			if uint64(cap(l.room)) < n {
				l.room = make([]byte, n)
			}
			if b = r.readAt(s, off, l.room[:n]); b == nil {
				return nil, r.err
			}
			final = off+n == h.end
		}
		var n int
		n, err = l.run(b, off, final, r.home, keep)
		off += uint64(n)
	}
	if len(l.rows) > l.start || err != nil {
		l.rows = l.rows[:l.start] // a sequence without an end
		l.Broken++
	}
	l.order()
	return &l.Lines, nil
}

// order sorts the sequences and cuts those that overlap.
func (l *Lines) order() {
	s := l.Sequences
	less := func(a, b Sequence) int {
		switch {
		case a.Low < b.Low || a.Low == b.Low && a.first < b.first:
			return -1
		case a.Low > b.Low || a.Low == b.Low && a.first > b.first:
			return 1
		}
		return 0
	}
	if !slices.IsSortedFunc(s, less) {
		slices.SortFunc(s, less)
	}
	n, end := 0, uint64(0)
	for i := range s {
		s[i].Low = max(s[i].Low, end)
		if s[i].Low < s[i].High {
			end = s[i].High
			s[n] = s[i]
			n++
		}
	}
	l.Sequences = s[:n]
}

// lineHeader reads the header of the unit's line table, once. Damage is
// counted and leaves the header bad.
func (r *Reader) lineHeader() error {
	l := &r.line
	if l.loaded {
		return nil
	}
	l.loaded, l.header.bad = true, true
	if !r.outer.hasLines {
		return nil
	}
	err := r.readHeader(&l.header)
	switch {
	case err == nil:
		l.header.bad = false
	case errors.Is(err, formats.ErrCorrupt) || errors.Is(err, formats.ErrUnsupported):
		l.Broken++
	default:
		return err
	}
	return nil
}
