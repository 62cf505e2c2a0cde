package cfi

import (
	"fmt"

	"github.com/symlake/symlake/formats/unwind"
)

const (
	maxStates = 64       // remembered at once; the most that a known program has is 4
	baseWork  = 64 << 10 // what a program may cost beside byteWork a byte
	byteWork  = 256      // sound ones cost less than 50
	stateWork = 512      // of remembering and going back
	maxRow    = 1 << 10  // bytes of coded rules; the longest known ones have 150
	maxExpr   = 256      // bytes of an expression
)

// row is a range of a function with coded rules: a piece of program.coded.
type row struct {
	start, end uint64
	from, to   int
}

// program runs the instructions of a function.
type program struct {
	f    *frames
	cie  *common
	body int64 // offset in the section of the instructions' piece

	at, end uint64 // places
	rules   unwind.Rules
	states  []unwind.Rules
	depth   int
	changed bool // since the last row
	work    int

	rows  []row
	coded []byte
}

func (p *program) begin(f *frames, cie *common, start, end uint64) {
	p.f, p.cie, p.at, p.end = f, cie, start, end
	p.depth, p.changed, p.work = 0, true, 0
	p.rows, p.coded = p.rows[:0], p.coded[:0]
	p.rules = cie.initial
}

// shared runs the instructions of a common part. If it is damaged, want says what should stand there.
func (p *program) shared(c *cursor) (want string) {
	p.work = -baseWork - byteWork*c.left()
	for c.left() > 0 {
		if want := p.step(c); want != "" {
			return want
		}
	}
	return ""
}

// function makes rows of the instructions of a function. If it is damaged, want says what should stand there.
func (p *program) function(c *cursor) (want string) {
	p.work = -baseWork - byteWork*c.left()
	for c.left() > 0 && p.at < p.end {
		if want := p.step(c); want != "" {
			return want
		}
	}
	return p.advance(p.end)
}

// advance ends a row and goes to another place.
func (p *program) advance(to uint64) (want string) {
	if to < p.at {
		return "places that ascend"
	}
	end := min(to, p.end)
	if end == p.at {
		return ""
	}
	switch n := len(p.rows); {
	case p.rules.CFA.How == unwind.Unsaid:
		p.changed = true
	case p.changed || n == 0:
		from := len(p.coded)
		p.coded = p.rules.Append(p.coded)
		p.work += len(p.coded) - from
		if len(p.coded)-from > maxRow {
			return fmt.Sprintf("rules of at most %d bytes", maxRow)
		}
		p.rows = append(p.rows, row{p.at, end, from, len(p.coded)})
		p.changed = false
	default:
		p.rows[n-1].end = end
	}
	p.at = to
	if p.work > 0 {
		return "a program that is not larger than its bytes say"
	}
	return ""
}

// set makes the rule of a column. Columns that are no integer registers are passed over.
func (p *program) set(column uint64, r unwind.Rule) {
	if to := p.column(column); to != nil {
		*to = r
		p.changed = true
	}
}

// restore gives a column the rule that it had in the beginning.
func (p *program) restore(column uint64) {
	to := p.column(column)
	if to == nil {
		return
	}
	p.changed = true
	if column == p.cie.ra {
		*to = p.cie.initial.RA
		return
	}
	*to = p.cie.initial.Regs[p.register(column)]
}

func (p *program) column(column uint64) *unwind.Rule {
	if column == p.cie.ra {
		return &p.rules.RA
	}
	if n := p.register(column); n != unwind.None {
		return &p.rules.Regs[n]
	}
	return nil
}

// register is the number of an integer register, or unwind.None.
func (p *program) register(column uint64) uint8 {
	if column >= uint64(len(p.f.s.Arch.Names)) {
		return unwind.None
	}
	if p.f.s.Swapped && (column == 4 || column == 5) {
		column ^= 1
	}
	return uint8(column)
}

// defineCFA makes the frame address a register's value and an offset.
func (p *program) defineCFA(column uint64, offset int64) (want string) {
	n := p.register(column)
	if n == unwind.None {
		return fmt.Sprintf("a frame address of an integer register, not of %d", column)
	}
	p.rules.CFA = unwind.Rule{How: unwind.Register, Reg: n, Offset: offset}
	p.changed = true
	return ""
}

// moveCFA changes the register or the offset of the frame address.
func (p *program) moveCFA(column uint64, isColumn bool, offset int64) (want string) {
	r := &p.rules.CFA
	if r.How != unwind.Register {
		return "a frame address of a register and an offset, to change it"
	}
	if isColumn {
		return p.defineCFA(column, r.Offset)
	}
	r.Offset = offset
	p.changed = true
	return ""
}
