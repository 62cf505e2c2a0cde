package dwarf

import (
	"errors"
	"math"
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

// maxRows bounds the rows of one unit: 256 MiB of them. The largest unit of
// the corpus has 200,000.
const maxRows = 16 << 20

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
	start              int // of the sequence in rows
	unsorted           bool
}

func (l *lineReader) reset() {
	l.loaded, l.Broken = false, 0
	l.rows, l.Sequences = l.rows[:0], l.Sequences[:0]
	l.header.reset()
}

// Lines runs the line number program of the open unit. keep tells of each
// sequence whether it is code of the image. An error is one of the input, or
// of limits: damage is counted in Broken.
func (r *Reader) Lines(keep func(low, high uint64) bool) (*Lines, error) {
	l := &r.line
	if err := r.lineHeader(); err != nil || l.header.bad {
		return &l.Lines, err
	}
	h := &l.header
	if err := r.d.charge(&r.d.line, h.program, int(h.end-h.program)); err != nil {
		return nil, err
	}
	l.prepare()
	l.begin()
	s := &r.d.line
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
		n, err = l.run(b, off, final, r.d, keep)
		off += uint64(n)
	}
	if len(l.rows) > l.start || err != nil {
		l.rows = l.rows[:l.start] // a sequence without an end
		l.Broken++
	}
	l.order()
	return &l.Lines, nil
}

func (l *lineReader) prepare() {
	h := &l.header
	for op := int(h.opcodeBase); op < 256; op++ {
		adj := op - int(h.opcodeBase)
		l.advance[op] = uint64(adj/int(h.lineRange)) * uint64(h.minInst)
		l.lines[op] = int64(h.lineBase) + int64(adj%int(h.lineRange))
	}
}

// begin sets the registers as at the beginning of a sequence.
func (l *lineReader) begin() {
	l.addr, l.opIndex, l.file, l.line, l.column = 0, 0, 1, 1, 0
	l.start, l.unsorted = len(l.rows), false
}

// errProgram is a program that cannot be read on.
var errProgram = errors.New("line number program")

// step advances by n operations.
func (l *lineReader) step(n uint64) {
	h := &l.header
	if h.maxOps <= 1 {
		l.addr += n * uint64(h.minInst)
		return
	}
	n += l.opIndex
	l.addr += n / uint64(h.maxOps) * uint64(h.minInst)
	l.opIndex = n % uint64(h.maxOps)
}

// row appends the registers. Of several rows at an address the last counts,
// the others say nothing about any code; neighbours that say the same are one.
func (l *lineReader) row() error {
	p := place(l.file, l.line, l.column)
	if n := len(l.rows); n > l.start {
		last := &l.rows[n-1]
		switch {
		case last.Addr == l.addr:
			last.Place = p
			return nil
		case last.Addr > l.addr:
			l.unsorted = true
		case last.Place == p && !l.unsorted:
			return nil
		}
	}
	if len(l.rows) >= maxRows {
		return errProgram
	}
	l.rows = append(l.rows, Row{l.addr, p})
	return nil
}

// run executes b, which lies at off. It stops before the end of b, unless it
// is the final piece, where an instruction may be cut off, and returns how
// far it came, which may be behind b.
func (l *lineReader) run(b []byte, off uint64, final bool, d *Data, keep func(low, high uint64) bool) (int, error) {
	h := &l.header
	stop := len(b)
	if !final {
		stop -= marginBytes
	}
	simple := h.maxOps <= 1
	p := 0
	for p < stop {
		op := b[p]
		p++
		if op >= h.opcodeBase {
			if simple {
				l.addr += l.advance[op]
			} else {
				l.step(uint64(op-h.opcodeBase) / uint64(h.lineRange))
			}
			l.line = uint64(uint32(int64(l.line) + l.lines[op]))
			if err := l.row(); err != nil {
				return p, err
			}
			continue
		}
		switch op {
		case 0:
			n, q := uleb(b, p)
			if q < 0 || n > uint64(math.MaxInt32) {
				return p, errProgram
			}
			if n == 0 {
				p = q
				continue
			}
			end := q + int(n)
			if err := l.extended(b, q, end, off, d, keep); err != nil {
				return p, err
			}
			p = end
		case lnsCopy:
			if err := l.row(); err != nil {
				return p, err
			}
		case lnsAdvancePC:
			var n uint64
			if n, p = uleb(b, p); p < 0 {
				return 0, errProgram
			}
			l.step(n)
		case lnsAdvanceLine:
			var n int64
			if n, p = sleb(b, p); p < 0 {
				return 0, errProgram
			}
			l.line = uint64(uint32(int64(l.line) + n))
		case lnsSetFile:
			if l.file, p = uleb(b, p); p < 0 {
				return 0, errProgram
			}
		case lnsSetColumn:
			if l.column, p = uleb(b, p); p < 0 {
				return 0, errProgram
			}
		case lnsConstAddPC:
			if simple {
				l.addr += l.advance[255]
			} else {
				l.step(uint64(255-h.opcodeBase) / uint64(h.lineRange))
			}
		case lnsFixedAdvancePC:
			if len(b)-p < 2 {
				return p, errProgram
			}
			l.addr += number(b[p:p+2], d.big)
			l.opIndex = 0
			p += 2
		default: // flags, and what is not known: its operands are
			for n := h.operands[op]; n > 0; n-- {
				if _, p = uleb(b, p); p < 0 {
					return 0, errProgram
				}
			}
		}
	}
	if final && p > len(b) {
		return p, errProgram
	}
	return p, nil
}

// extended executes the extended instruction at b[p:end]; end may lie behind
// b for instructions that are not known.
func (l *lineReader) extended(b []byte, p, end int, off uint64, d *Data, keep func(low, high uint64) bool) error {
	if p >= len(b) {
		return errProgram
	}
	switch b[p] {
	case lneEndSequence:
		l.endSequence(keep)
		l.begin()
	case lneSetAddress:
		n := end - p - 1
		if end > len(b) || n != 2 && n != 4 && n != 8 {
			return errProgram
		}
		l.addr, l.opIndex = number(b[p+1:end], d.big), 0
	case lneDefineFile:
		if end > len(b) {
			return errProgram
		}
		return l.header.define(b[p+1:end], off+uint64(p+1), d)
	}
	return nil
}

func (l *lineReader) endSequence(keep func(low, high uint64) bool) {
	rows, high := l.rows[l.start:], l.addr
	if len(rows) == 0 {
		return
	}
	if l.unsorted {
		// Some compilers jump back. The order of the addresses is what they
		// mean, and of equal ones the last counts.
		slices.SortStableFunc(rows, func(a, b Row) int {
			switch {
			case a.Addr < b.Addr:
				return -1
			case a.Addr > b.Addr:
				return 1
			}
			return 0
		})
		n := 0
		for i := range rows {
			if n > 0 && rows[n-1].Addr == rows[i].Addr {
				n--
			}
			rows[n] = rows[i]
			n++
		}
		rows = rows[:n]
	}
	low := rows[0].Addr
	switch {
	case low > high || low == high && len(rows) > 1:
		l.Broken++
	case low < high && keep(low, high):
		l.Sequences = append(l.Sequences, Sequence{Low: low, High: high, first: l.start, rows: len(rows)})
		l.rows = l.rows[:l.start+len(rows)]
		return
	}
	l.rows = l.rows[:l.start]
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
	if !r.root.hasLines {
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
