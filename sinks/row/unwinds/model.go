// Package unwinds turns call frame information into rows, and opened rows into answers. The package doc of
// sinks/row specifies the form.
//
// A [Writer] makes blocks of ranges, and at the end the table of all rules that they refer to. A [Block] says which rules
// count at a position, [Rules] what they are. Both sides of a block share a model, which learns while it codes: which rules
// follow which, and how long their ranges are.
//
// Invariants:
//   - A block depends on the ranges that were added and on the numbers of their rules, and on nothing else.
//   - A block speaks for [from, last]: every position of it is in one range or one hole.
//   - The work for a part is bounded, whatever was learned.
package unwinds

import (
	"math/bits"
	"sync"

	"github.com/symlake/symlake/sinks/internal/column"
)

const (
	// maxParts closes a block. Half as many take 3 % more bytes, twice as many twice the time of a cold look-up.
	maxParts = 8192
	// maxSpan closes a block: starts of parts are kept in 32 bits.
	maxSpan = 1<<32 - 1
	// followers are remembered of each of a block's rules.
	followers = 12
	// align is what linkers align functions to: most holes reach to the next multiple.
	align = 16
	// literal is the first length that a byte of its column does not tell whole.
	literal = 192
	// learned is how many pairs a table of the model has room for. A pair takes the place of another with its hash.
	learned = 1 << learnedBits

	learnedBits = 12
)

// The columns of a block, in the order in which they stand. Durable.
const (
	colRules  = iota // per part: which rules
	colLow           // per new rule: low byte of its number in the table
	colHigh          // per new rule: the rest
	colHole          // per hole: its length
	colFar           // of lengths from literal on: their lower bits
	colLength        // per range: its length, in one of several columns, by the length that is expected
	columns   = colLength + lengthColumns
)

// lengthColumns is how many columns lengths are parted among.
const lengthColumns = 6

// lengthColumn is the column for the length of a range that is expected to be that long; 0: nothing is expected.
func lengthColumn(expected uint64) int {
	if expected == 0 {
		return colLength
	}
	return colLength + min(1+(bits.Len64(expected)-1)*2/3, lengthColumns-1)
}

// local numbers the rules of a block as they first occur. 0 is the hole.
type local = uint16

// model is what both sides of a block have learned of it. It is as good as new after reset.
type model struct {
	stamp   uint32
	pairs   [learned]pair   // by the two rules before
	lengths [learned]length // by a part's rules and the next part's
	next    [][followers]local
	count   []uint8 // of next
	before  local   // the rules of the last part but one
	last    local
}

type pair struct {
	stamp, key uint32
	next       local
}

type length struct {
	stamp, key uint32
	last       uint64
}

var models = sync.Pool{New: func() any { return new(model) }}

// reset forgets the block before. A block begins as if behind two holes.
func (m *model) reset() {
	if m.stamp++; m.stamp == 0 {
		clear(m.pairs[:])
		clear(m.lengths[:])
		m.stamp = 1
	}
	m.next, m.count = m.next[:0], m.count[:0]
	m.before, m.last = 0, 0
	m.meet()
}

// meet makes room for one more of the block's rules.
func (m *model) meet() {
	m.next = append(m.next, [followers]local{})
	m.count = append(m.count, 0)
}

// known is how many rules were met, the hole among them.
func (m *model) known() int { return len(m.count) }

func slot(a, b local) (key, at uint32) {
	key = uint32(a)<<16 | uint32(b)
	return key, key * 0x9E3779B1 >> (32 - learnedBits)
}

// expect tells which rules the next part should have. ok is false if nothing was learned of it.
func (m *model) expect() (r local, ok bool) {
	key, at := slot(m.before, m.last)
	if p := &m.pairs[at]; p.stamp == m.stamp && p.key == key {
		return p.next, true
	}
	if m.count[m.last] > 0 {
		return m.next[m.last][0], true
	}
	return 0, false
}

// code tells r, which may be the next new one, by what was learned.
func (m *model) code(r local) uint64 {
	expected, ok := m.expect()
	if ok && expected == r {
		return 0
	}
	if int(r) == m.known() {
		return followers + 1
	}
	at := uint64(1)
	for _, f := range m.next[m.last][:m.count[m.last]] {
		switch {
		case f == r:
			return at
		case !ok || f != expected:
			at++
		}
	}
	return followers + 2 + uint64(m.known()-1) - uint64(r)
}

// decode is the inverse of code; false: no code gave that.
func (m *model) decode(code uint64) (local, bool) {
	expected, ok := m.expect()
	switch {
	case code == 0:
		return expected, ok
	case code == followers+1:
		return local(m.known()), m.known() <= maxParts
	case code > followers:
		back := code - (followers + 2)
		return local(uint64(m.known()-1) - back), back < uint64(m.known())
	}
	at := uint64(1)
	for _, f := range m.next[m.last][:m.count[m.last]] {
		if ok && f == expected {
			continue
		}
		if at == code {
			return f, true
		}
		at++
	}
	return 0, false
}

// learn notes the rules of a part, which were met.
func (m *model) learn(r local) {
	key, at := slot(m.before, m.last)
	m.pairs[at] = pair{m.stamp, key, r}
	list, n := &m.next[m.last], int(m.count[m.last])
	i := 0
	for i < n && list[i] != r {
		i++
	}
	if i == n && n < followers {
		m.count[m.last]++
	}
	i = min(i, followers-1)
	copy(list[1:i+1], list[:i])
	list[0] = r
	m.before, m.last = m.last, r
}

// expected returns what is known of the length of a range: how long the last one was with these rules and these behind it.
func (m *model) expected(r, next local) *length {
	key, at := slot(r, next)
	l := &m.lengths[at]
	if l.stamp != m.stamp || l.key != key {
		*l = length{m.stamp, key, 0}
	}
	return l
}

// appendLength appends a length to a column; far takes what the byte does not tell.
func appendLength(col, far []byte, v uint64) (_, _ []byte) {
	if v < literal {
		return append(col, byte(v)), far
	}
	v -= literal - 1
	n := bits.Len64(v) - 1
	v &^= 1 << n
	for i := 0; i < n; i += 8 {
		far = append(far, byte(v>>i))
	}
	return append(col, byte(literal+n)), far
}

// nextLength reads what appendLength wrote.
func nextLength(col, far *column.Reader) uint64 {
	b := col.Byte()
	if b < literal {
		return uint64(b)
	}
	n := int(b - literal)
	v := uint64(0)
	for i := 0; i < n; i += 8 {
		v |= uint64(far.Byte()) << i
	}
	if v>>n != 0 {
		far.Bad = true
		return 0
	}
	return v + 1<<n + literal - 1
}
