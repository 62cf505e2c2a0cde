package dwarf

import (
	"math"
	"slices"
)

func (l *lineReader) reset() {
	l.loaded, l.Broken = false, 0
	l.rows, l.Sequences = l.rows[:0], l.Sequences[:0]
	l.header.reset()
}

// prepare fills the tables, unless the unit before had the same: all
// units of a compiler have the same.
func (l *lineReader) prepare() {
	h := &l.header
	if is := [4]uint8{uint8(h.lineBase), h.lineRange, h.opcodeBase, h.minInst}; is != l.tables {
		l.tables = is
	} else {
		return
	}
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
// the others say nothing about any code; neighbors that say the same are one, unless repeats are asked for.
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
		case last.Place == p && !l.unsorted && !l.repeats:
			return nil
		}
	}
	if len(l.rows) >= maxRows {
		return errProgram
	}
	l.add(Row{l.addr, p})
	return nil
}

// add appends a row. The list is doubled: by append, five times as much would be left behind as used. And append
// writes to all of the room, which is not in memory before.
func (l *lineReader) add(r Row) {
	if len(l.rows) == cap(l.rows) {
		l.rows = append(make([]Row, 0, max(2*len(l.rows), 1024)), l.rows...)
	}
	l.rows = append(l.rows, r)
}

// reserve makes room for the rows of a program of n bytes, should the room that is left of other units be far too little.
func (l *lineReader) reserve(n int) {
	if n = min(n/bytesPerRow, maxReserved); n > 2*cap(l.rows) {
		l.rows = make([]Row, 0, n)
	}
}

const (
	// bytesPerRow is the least that compilers take to say a row: clang 4.3 to 7 bytes, gcc more.
	bytesPerRow = 4
	// maxReserved is 2 MB of rows, the most of a unit of ceph-osd. A program may be long and say nothing.
	maxReserved = 1 << 17
)

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
			if !simple {
				l.step(uint64(op-h.opcodeBase) / uint64(h.lineRange))
			} else {
				l.addr += l.advance[op]
			}
			l.line = uint64(uint32(int64(l.line) + l.lines[op]))
			if n := len(l.rows); n > l.start && n < maxRows && l.rows[n-1].Addr < l.addr && !l.unsorted {
				// The common case of row.
				if at := place(l.file, l.line, l.column); l.rows[n-1].Place != at || l.repeats {
					l.add(Row{l.addr, at})
				}
				continue
			}
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
		default: // flags, and unknown opcodes: their operands are
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
