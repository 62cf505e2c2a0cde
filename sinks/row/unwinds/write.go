package unwinds

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// RulesAt is the position of the table of rules.
	RulesAt = math.MaxUint64
	// maxRules and maxRuleBytes bound the table, which is one row. Ranges with further rules are left out.
	maxRules     = row.MaxStrings
	maxRuleBytes = column.MaxRowBytes / 2
)

// Emit takes the body of a block, of the form row.FormUnwinds, that speaks for [from, last], and the columns that it is
// made of. It keeps neither.
type Emit func(from, last uint64, body []byte, columns [][]byte) error

// Writer turns the call frame information of a load into blocks. One goroutine.
type Writer struct {
	Ranges uint64 // added to blocks
	Left   uint64 // ranges left out: the table has no room for their rules

	emit    Emit
	coder   *column.Encoder
	coded   []string
	numbers []uint32 // by the caller's number of rules: the table's, plus 1; 0: it has none yet
	table   []uint32 // the caller's numbers, in the table's order
	bytes   int      // of the table's rules

	rows  uint64
	next  uint64 // first position that no block speaks for
	base  uint64 // of the open block: start of its first range
	end   uint64 // of the range that was added last
	model *model
	parts []part
	locals
	cols [columns][]byte
	out  []byte
}

type part struct {
	rules  local
	length uint64
}

// locals numbers the rules of the open block.
type locals struct {
	of    []stamped // by the table's number
	stamp uint32
	met   []uint32 // the table's numbers, in the order of the block
}

type stamped struct {
	stamp uint32
	at    local
}

// NewWriter returns a writer of ranges whose rules are indices into coded. It keeps coded.
func NewWriter(coded []string, coder *column.Encoder, emit Emit) *Writer {
	return &Writer{emit: emit, coder: coder, coded: coded, numbers: make([]uint32, len(coded)), model: models.Get().(*model), locals: locals{stamp: 1}}
}

// Add encodes a range, which begins where the one before ends, or after that.
func (w *Writer) Add(g symbol.UnwindRange) error {
	if g.Start < w.end || g.End <= g.Start || g.End == math.MaxUint64 || int(g.Rules) >= len(w.coded) {
		return fmt.Errorf("call frame information [%#x, %#x) with rules %d of %d after a range that ends at %#x", g.Start, g.End, g.Rules, len(w.coded), w.end)
	}
	if w.coded[g.Rules] == "" {
		return nil // a hole
	}
	number, ok := w.number(g.Rules)
	if !ok {
		w.Left++
		return nil
	}
	if len(w.parts) >= maxParts-1 || len(w.parts) > 0 && g.Start-w.base > maxSpan {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.parts) == 0 {
		w.base = g.Start
	} else if g.Start > w.end {
		w.parts = append(w.parts, part{0, g.Start - w.end})
	}
	w.parts = append(w.parts, part{w.local(number), g.End - g.Start})
	w.end = g.End
	w.Ranges++
	return nil
}

// number returns the number that rules have in the table; false: there is no room for them.
func (w *Writer) number(rules uint32) (uint32, bool) {
	if n := w.numbers[rules]; n > 0 {
		return n - 1, true
	}
	if len(w.table) == maxRules || w.bytes+len(w.coded[rules]) > maxRuleBytes {
		return 0, false
	}
	w.bytes += len(w.coded[rules])
	w.table = append(w.table, rules)
	w.numbers[rules] = uint32(len(w.table))
	w.of = append(w.of, stamped{})
	return uint32(len(w.table) - 1), true
}

// local returns the number that rules of the table have in the open block.
func (w *Writer) local(number uint32) local {
	s := &w.of[number]
	if s.stamp != w.stamp {
		w.met = append(w.met, number)
		*s = stamped{w.stamp, local(len(w.met))}
	}
	return s.at
}

// flush writes the open block, which ends with the range that was added last.
func (w *Writer) flush() error {
	if len(w.parts) == 0 {
		return nil
	}
	w.encode()
	b := binary.AppendUvarint(w.out[:0], w.next)
	b = binary.AppendUvarint(b, w.base-w.next)
	b = binary.AppendUvarint(b, uint64(len(w.parts)))
	for _, col := range w.cols {
		b = w.coder.Append(b, col, column.TryEntropy)
	}
	w.out = b
	from := w.next
	w.next = w.end
	w.rows++
	w.parts, w.met = w.parts[:0], w.met[:0]
	w.stamp++ // at most maxRanges / maxParts blocks
	return w.emit(from, w.end-1, b, w.cols[:])
}

// encode fills the columns with the open block.
func (w *Writer) encode() {
	m := w.model
	m.reset()
	for i := range w.cols {
		w.cols[i] = w.cols[i][:0]
	}
	c := &w.cols
	at := w.base
	for i, p := range w.parts {
		code := m.code(p.rules)
		c[colRules] = column.Append(c[colRules], code)
		if code == followers+1 {
			number := w.met[p.rules-1]
			c[colLow] = append(c[colLow], byte(number))
			c[colHigh] = column.Append(c[colHigh], uint64(number>>8))
			m.meet()
		}
		m.learn(p.rules)
		if p.rules == 0 {
			v := p.length
			if v == -at%align {
				v = 0
			}
			c[colHole], c[colFar] = appendLength(c[colHole], c[colFar], v)
		} else {
			next := local(0)
			if i+1 < len(w.parts) {
				next = w.parts[i+1].rules
			}
			l := m.expected(p.rules, next)
			col, v := lengthColumn(l.last), p.length
			if v == l.last {
				v = 0
			}
			c[col], c[colFar] = appendLength(c[col], c[colFar], v)
			l.last = p.length
		}
		at += p.length
	}
}

// Close writes the last block. It returns the body of the table of rules, of the form row.FormUnwindRules, how many
// rules it has, and its columns; nil if no range was added.
func (w *Writer) Close() (body []byte, rules int, columns [][]byte, err error) {
	defer func() {
		models.Put(w.model)
		w.model = nil
	}()
	if err := w.flush(); err != nil || w.rows == 0 {
		return nil, 0, nil, err
	}
	var lengths, text []byte
	for _, i := range w.table {
		lengths = binary.AppendUvarint(lengths, uint64(len(w.coded[i])))
		text = append(text, w.coded[i]...)
	}
	body = binary.AppendUvarint(nil, w.rows)
	body = binary.AppendUvarint(body, w.end-1)
	body = binary.AppendUvarint(body, uint64(len(w.table)))
	body = w.coder.Append(body, lengths, column.TryEntropy)
	body = w.coder.Append(body, text, column.TryZstd)
	return body, len(w.table), [][]byte{lengths, text}, nil
}
