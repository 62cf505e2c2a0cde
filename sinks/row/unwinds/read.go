package unwinds

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/symlake/symlake/sinks/internal/column"
)

// Rules is the table of rules of a load. Safe for concurrent use; it never changes.
type Rules struct {
	Rows  uint64 // how many blocks the load has
	Last  uint64 // the last position that one of them speaks for
	coded []string
	bytes int64
}

// Len is the number of rules.
func (r *Rules) Len() int { return len(r.coded) }

// Get returns rules in their coded form, see formats/unwind. i must be below Len.
func (r *Rules) Get(i uint32) string { return r.coded[i] }

// Bytes is the memory that the table holds.
func (r *Rules) Bytes() int64 { return r.bytes }

// numbers takes n numbers from the front of a body.
func numbers(body []byte, to ...*uint64) ([]byte, error) {
	for _, v := range to {
		n := 0
		if *v, n = binary.Uvarint(body); n <= 0 {
			return nil, fmt.Errorf("%w: want a number", column.ErrBroken)
		}
		body = body[n:]
	}
	return body, nil
}

// DecodeRules reads the body of a table of rules, and returns its columns, too. They are valid until d is used again.
func DecodeRules(d *column.Decoder, body []byte) (*Rules, [][]byte, error) {
	r := &Rules{}
	var count uint64
	body, err := numbers(body, &r.Rows, &r.Last, &count)
	if err != nil {
		return nil, nil, err
	}
	cols, err := d.Columns(body, 2, column.MaxRowBytes)
	if err != nil {
		return nil, nil, err
	}
	if count == 0 || count > uint64(len(cols[0])) || r.Rows == 0 {
		return nil, nil, fmt.Errorf("%w: want the numbers of rules and of rows", column.ErrBroken)
	}
	if r.coded, err = column.Strings(make([]string, 0, count), int(count), column.Reader{B: cols[0]}, cols[1]); err != nil {
		return nil, nil, err
	}
	r.bytes = int64(len(cols[1])) + int64(count)*int64(unsafe.Sizeof(""))
	return r, cols, nil
}

// Block says which rules count at a position. Safe for concurrent use; it never changes.
type Block struct {
	from, base, last uint64
	starts           []uint32 // of parts, from base; a part ends where the next begins
	rules            []local
	numbers          []uint32 // in the table, by local number - 1
}

// Decode reads the body of a block that speaks up to last, of a load with that many rules, and returns its columns, too.
// They are valid until d is used again.
func Decode(d *column.Decoder, body []byte, last uint64, rules int) (*Block, [][]byte, error) {
	b := &Block{last: last}
	var lead, count uint64
	body, err := numbers(body, &b.from, &lead, &count)
	if err != nil {
		return nil, nil, err
	}
	cols, err := d.Columns(body, columns, column.MaxRowBytes)
	if err != nil {
		return nil, nil, err
	}
	b.base = b.from + lead
	if count == 0 || count > maxParts || count > uint64(len(cols[colRules])) || b.base < b.from || b.base > last || last == math.MaxUint64 {
		return nil, nil, fmt.Errorf("%w: want the number of parts", column.ErrBroken)
	}
	m := models.Get().(*model)
	defer models.Put(m)
	m.reset()
	if err := b.readRules(m, int(count), cols, rules); err != nil {
		return nil, nil, err
	}
	return b, cols, b.readLengths(m, cols)
}

// readRules reads the rules of n parts.
func (b *Block) readRules(m *model, n int, cols [][]byte, rules int) error {
	codes, low, high := column.Reader{B: cols[colRules]}, column.Reader{B: cols[colLow]}, column.Reader{B: cols[colHigh]}
	b.rules = make([]local, n)
	b.numbers = make([]uint32, 0, len(cols[colLow]))
	for i := range b.rules {
		r, ok := m.decode(codes.Next())
		if !ok || codes.Bad {
			return fmt.Errorf("%w: want the rules of part %d", column.ErrBroken, i)
		}
		if int(r) == m.known() {
			number := uint64(low.Byte()) | high.Next()<<8
			if low.Bad || high.Bad || number >= uint64(rules) {
				return fmt.Errorf("%w: want rules below %d in part %d", column.ErrBroken, rules, i)
			}
			b.numbers = append(b.numbers, uint32(number))
			m.meet()
		}
		m.learn(r)
		b.rules[i] = r
	}
	if !codes.Done() || !low.Done() || !high.Done() {
		return fmt.Errorf("%w: want the rules of no more than %d parts", column.ErrBroken, n)
	}
	return nil
}

// readLengths reads where the parts begin. They end with the block.
func (b *Block) readLengths(m *model, cols [][]byte) error {
	var readers [columns]column.Reader
	for i := range readers {
		readers[i].B = cols[i]
	}
	far := &readers[colFar]
	b.starts = make([]uint32, len(b.rules))
	at := b.base
	for i, r := range b.rules {
		if at < b.base || at > b.last || at-b.base > maxSpan {
			return fmt.Errorf("%w: want the start of part %d", column.ErrBroken, i)
		}
		b.starts[i] = uint32(at - b.base)
		v := uint64(0)
		if r == 0 {
			if v = nextLength(&readers[colHole], far); v == 0 {
				v = -at % align
			}
		} else {
			next := local(0)
			if i+1 < len(b.rules) {
				next = b.rules[i+1]
			}
			l := m.expected(r, next)
			if v = nextLength(&readers[lengthColumn(l.last)], far); v == 0 {
				v = l.last
			}
			l.last = v
		}
		if v == 0 || v > b.last+1-at {
			return fmt.Errorf("%w: want the length of part %d", column.ErrBroken, i)
		}
		at += v
	}
	for i := colHole; i < columns; i++ {
		if !readers[i].Done() {
			return fmt.Errorf("%w: want no further lengths in column %d", column.ErrBroken, i)
		}
	}
	if at != b.last+1 {
		return fmt.Errorf("%w: the parts end at %#x, want %#x", column.ErrBroken, at, b.last+1)
	}
	return nil
}

// From is the first position that the block speaks for.
func (b *Block) From() uint64 { return b.from }

// Find returns the number of the rules at a position that the block speaks for, and the range [start, end) that has
// them; false: there are none, and it is a hole.
func (b *Block) Find(pos uint64) (rules uint32, start, end uint64, ok bool) {
	if pos < b.base || pos > b.last {
		return 0, b.from, b.base, false
	}
	i, exact := slices.BinarySearch(b.starts, uint32(min(pos-b.base, maxSpan)))
	if !exact {
		i--
	}
	start, end = b.base+uint64(b.starts[i]), b.last+1
	if i+1 < len(b.starts) {
		end = b.base + uint64(b.starts[i+1])
	}
	if b.rules[i] == 0 {
		return 0, start, end, false
	}
	return b.numbers[b.rules[i]-1], start, end, true
}

// Each emits the ranges of the block, ascending, with the numbers of their rules.
func (b *Block) Each(emit func(start, end uint64, rules uint32) error) error {
	for i, r := range b.rules {
		if r == 0 {
			continue
		}
		end := b.last + 1
		if i+1 < len(b.starts) {
			end = b.base + uint64(b.starts[i+1])
		}
		if err := emit(b.base+uint64(b.starts[i]), end, b.numbers[r-1]); err != nil {
			return err
		}
	}
	return nil
}

// Bytes is the memory that the block holds.
func (b *Block) Bytes() int64 {
	return int64(unsafe.Sizeof(*b)) + int64(len(b.starts))*4 + int64(len(b.rules))*2 + int64(cap(b.numbers))*4
}
