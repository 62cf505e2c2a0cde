package loads

import (
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/unwinds"
)

// AddUnwind adds a range of call frame information, which comes after all runs, ascending. Its rules are an index into coded,
// which is the same in each call. A range that the full table of rules has no room for counts in UnwindLeft.
func (e *Encoder) AddUnwind(g symbol.UnwindRange, coded []string) error {
	if e.err == nil && e.unwinds == nil {
		e.end()
		e.unwinds = unwinds.NewWriter(coded, e.coder, e.emitUnwinds)
	}
	if e.err == nil {
		e.fail(e.unwinds.Add(g))
	}
	return e.err
}

// UnwindLeft is how many ranges of call frame information were left out.
func (e *Encoder) UnwindLeft() uint64 {
	if e.unwinds == nil {
		return 0
	}
	return e.unwinds.Left
}

func (e *Encoder) emitUnwinds(from, last uint64, body []byte, columns [][]byte) error {
	if len(e.out.Unwind) == 0 {
		e.out.Unwind = row.NewFence(0)
		e.sum.Write(unwindContent)
	}
	e.out.Unwind = e.out.Unwind.Append(from, last)
	addBlock(e.sum, last, columns)
	return e.emitUnwind(last, row.FormUnwinds, body)
}

// unwindContent stands in a digest before the blocks of call frame information.
var unwindContent = []byte("symlake unwind 1")

func (e *Encoder) emitUnwind(last uint64, form row.Form, body []byte) error {
	before := e.out.Bytes
	err := e.emit(row.Unwinds, last, form, body)
	e.out.UnwindBytes += e.out.Bytes - before
	return err
}

// endUnwinds writes the last block of call frame information, and the table of its rules.
func (e *Encoder) endUnwinds() error {
	body, count, columns, err := e.unwinds.Close()
	if err != nil || body == nil {
		return err
	}
	// The number of rules, which stands first, is known only now.
	e.out.Unwind = append(row.NewFence(count), e.out.Unwind[1:]...)
	e.out.UnwindRanges = e.unwinds.Ranges
	addCount(e.sum, count)
	addBlock(e.sum, unwinds.RulesAt, columns)
	return e.emitUnwind(unwinds.RulesAt, row.FormUnwindRules, body)
}

// unwindRows is where the rows of call frame information end, and how many rules they have. The zero value: there are none.
type unwindRows struct {
	rules int
	last  []uint64
	first []uint64
}

func newUnwindRows(f row.Fence) (u unwindRows, err error) {
	if u.rules, u.last, err = f.Rows(); err != nil {
		return u, fmt.Errorf("call frame information: %w", err)
	}
	u.first = make([]uint64, len(u.last))
	for i := range u.last {
		if i > 0 {
			u.first[i] = u.last[i-1] + 1
		}
	}
	return u, nil
}

// HasUnwind reports whether the load has call frame information.
func (o *Opened) HasUnwind() bool { return len(o.unwind.last) > 0 }

// UnwindIndex returns the row of call frame information that speaks for pos; false beyond the last one, where there is none.
func (o *Opened) UnwindIndex(pos uint64) (i int, ok bool) {
	lo, hi := 0, len(o.unwind.last)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); o.unwind.last[mid] < pos {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(o.unwind.last)
}

// UnwindRow is the span of exactly row i of UnwindIndex.
func (o *Opened) UnwindRow(i int) sinks.Span { return sinks.Exactly(o.unwindKey(o.unwind.last[i])) }

func (o *Opened) unwindKey(last uint64) []byte { return o.seals.Key(row.Unwinds, last) }

// UnwindRules is the span of the table of rules; false: the load has no call frame information, or the table is set.
func (o *Opened) UnwindRules() (sinks.Span, bool) {
	return sinks.Exactly(o.unwindKey(unwinds.RulesAt)), o.HasUnwind() && o.rules.Load() == nil
}

// SetUnwindRules opens the row of UnwindRules. Setting it again changes nothing.
func (o *Opened) SetUnwindRules(r sinks.Row) error {
	d := column.NewDecoder()
	defer d.Release()
	rules, _, err := o.unwindRules(d, r)
	if err == nil {
		o.rules.CompareAndSwap(nil, rules)
	}
	return err
}

// Rules returns the table of rules; nil: it is not set.
func (o *Opened) Rules() *unwinds.Rules { return o.rules.Load() }

// unwindRules opens the table of rules. Its columns are valid until d is used again.
func (o *Opened) unwindRules(d *column.Decoder, r sinks.Row) (*unwinds.Rules, [][]byte, error) {
	body, err := o.seals.Open(nil, o.unwindKey(unwinds.RulesAt), r, row.FormUnwindRules)
	if err != nil {
		return nil, nil, err
	}
	rules, columns, err := unwinds.DecodeRules(d, body)
	u := &o.unwind
	if err == nil && (rules.Len() != u.rules || rules.Rows != uint64(len(u.last)) || rules.Last != u.last[len(u.last)-1]) {
		err = fmt.Errorf("%d rules of %d rows up to %#x, want %d of %d up to %#x", rules.Len(), rules.Rows, rules.Last, u.rules, len(u.last), u.last[len(u.last)-1])
	}
	if err != nil {
		return nil, nil, fmt.Errorf("row %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	return rules, columns, nil
}

// Unwinds opens row i of call frame information, which r must be. row.ErrUnauthentic: r has another key, is not authentic,
// or speaks for other positions than the fence says.
func (o *Opened) Unwinds(i int, r sinks.Row) (*unwinds.Block, error) {
	d := column.NewDecoder()
	defer d.Release()
	b, _, err := o.unwinds(d, i, r)
	return b, err
}

func (o *Opened) unwinds(d *column.Decoder, i int, r sinks.Row) (*unwinds.Block, [][]byte, error) {
	body, err := o.seals.Open(d.Body[:0], o.unwindKey(o.unwind.last[i]), r, row.FormUnwinds)
	if err != nil {
		return nil, nil, err
	}
	d.Body = body // columns are copied out of it
	b, columns, err := unwinds.Decode(d, body, o.unwind.last[i], o.unwind.rules)
	if err == nil && b.From() != o.unwind.first[i] {
		err = fmt.Errorf("it speaks from %#x on, want %#x", b.From(), o.unwind.first[i])
	}
	if err != nil {
		return nil, nil, fmt.Errorf("row %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	return b, columns, nil
}

// addUnwind adds a row of call frame information or, behind them, the table of rules.
func (v *Verifier) addUnwind(r sinks.Row) error {
	d := column.NewDecoder()
	defer d.Release()
	if v.unwind == 0 {
		if v.classes != nil { // what follows them is hashed behind them
			v.classes.End(v.sum)
			v.classes = nil
		}
		v.sum.Write(unwindContent)
	}
	if i := v.unwind; i < len(v.o.unwind.last) {
		_, columns, err := v.o.unwinds(d, i, r)
		if err != nil {
			return err
		}
		v.unwind++
		addBlock(v.sum, v.o.unwind.last[i], columns)
		return nil
	}
	rules, columns, err := v.o.unwindRules(d, r)
	if err != nil {
		return err
	}
	v.ruled = true
	addCount(v.sum, rules.Len())
	addBlock(v.sum, unwinds.RulesAt, columns)
	return nil
}
