package cfi

import (
	"fmt"

	"github.com/symlake/symlake/formats/unwind"
)

// The instructions, by DWARF's DW_CFA numbers.
const (
	opAdvance = 0x40 // place in the low 6 bits
	opOffset  = 0x80 // column in the low 6 bits
	opRestore = 0xc0 // column in the low 6 bits

	opNop              = 0x00
	opSetLoc           = 0x01
	opAdvance1         = 0x02
	opAdvance2         = 0x03
	opAdvance4         = 0x04
	opOffsetExtended   = 0x05
	opRestoreExtended  = 0x06
	opUndefined        = 0x07
	opSameValue        = 0x08
	opRegister         = 0x09
	opRemember         = 0x0a
	opBack             = 0x0b
	opDefCFA           = 0x0c
	opDefCFARegister   = 0x0d
	opDefCFAOffset     = 0x0e
	opDefCFAExpression = 0x0f
	opExpression       = 0x10
	opOffsetSigned     = 0x11
	opDefCFASigned     = 0x12
	opDefCFAOffsetSig  = 0x13
	opValOffset        = 0x14
	opValOffsetSigned  = 0x15
	opValExpression    = 0x16
	opAdvance8         = 0x1d
	opNegateWithPC     = 0x2c
	opNegate           = 0x2d // arm64: the return address is signed from here on, or no longer
	opArgsSize         = 0x2e
	opNegativeOffset   = 0x2f
)

// step runs one instruction.
func (p *program) step(c *cursor) (want string) {
	start := c.p
	op := c.byte()
	low := uint64(op & 0x3f)
	switch op & 0xc0 {
	case opAdvance:
		return p.advanceBy(low)
	case opOffset:
		p.set(low, p.saved(int64(c.uleb())))
	case opRestore:
		p.restore(low)
	default:
		want = p.extended(op, c)
	}
	if want == "" && c.bad {
		want = fmt.Sprintf("whole operands of the instruction %#x in its byte %d", op, start)
	}
	return want
}

func (p *program) extended(op byte, c *cursor) (want string) {
	switch op {
	case opNop, opNegate, opNegateWithPC:
	case opArgsSize:
		c.uleb()
	case opSetLoc:
		to, known := p.f.pointer(c, p.cie.encoding, p.cie.addrSize, p.body)
		if !known {
			return "a place"
		}
		return p.advance(to)
	case opAdvance1, opAdvance2, opAdvance4:
		return p.advanceBy(c.uint(1 << (op - opAdvance1)))
	case opAdvance8:
		return p.advanceBy(c.uint(8))
	case opRemember:
		return p.remember()
	case opBack:
		return p.back()
	case opDefCFA, opDefCFARegister, opDefCFAOffset, opDefCFAExpression, opDefCFASigned, opDefCFAOffsetSig:
		return p.frame(op, c)
	default:
		return p.rule(op, c.uleb(), c)
	}
	return ""
}

// frame runs an instruction for the frame address.
func (p *program) frame(op byte, c *cursor) (want string) {
	switch op {
	case opDefCFA:
		column := c.uleb()
		return p.defineCFA(column, int64(c.uleb()))
	case opDefCFASigned:
		column := c.uleb()
		return p.defineCFA(column, c.sleb()*p.cie.data)
	case opDefCFARegister:
		return p.moveCFA(c.uleb(), true, 0)
	case opDefCFAOffset:
		return p.moveCFA(0, false, int64(c.uleb()))
	case opDefCFAOffsetSig:
		return p.moveCFA(0, false, c.sleb()*p.cie.data)
	}
	r, want := p.expression(c, unwind.Value, false)
	if want == "" {
		p.rules.CFA = r
		p.changed = true
	}
	return want
}

// rule runs an instruction for one column.
func (p *program) rule(op byte, column uint64, c *cursor) (want string) {
	r := unwind.Rule{}
	switch op {
	case opOffsetExtended:
		r = p.saved(int64(c.uleb()))
	case opOffsetSigned:
		r = p.saved(c.sleb())
	case opNegativeOffset:
		r = p.saved(-int64(c.uleb()))
	case opValOffset:
		r = unwind.Rule{How: unwind.Near, Offset: int64(c.uleb()) * p.cie.data}
	case opValOffsetSigned:
		r = unwind.Rule{How: unwind.Near, Offset: c.sleb() * p.cie.data}
	case opRestoreExtended:
		p.restore(column)
		return ""
	case opUndefined:
		r.How = unwind.Undefined
	case opSameValue:
		r.How = unwind.Same
	case opRegister:
		n := p.register(c.uleb())
		if r = (unwind.Rule{How: unwind.Register, Reg: n}); n == unwind.None {
			r = unwind.Rule{How: unwind.Undefined} // it is kept where no integer register is
		}
	case opExpression, opValExpression:
		how := unwind.Memory
		if op == opValExpression {
			how = unwind.Value
		}
		if p.column(column) == nil {
			c.take(c.uleb())
			return ""
		}
		if r, want = p.expression(c, how, true); want != "" {
			return want
		}
	default:
		return fmt.Sprintf("an instruction that is known, not %#x", op)
	}
	p.set(column, r)
	return ""
}

// saved is the rule of a value in memory, n factored offsets from the frame address.
func (p *program) saved(n int64) unwind.Rule {
	return unwind.Rule{How: unwind.Saved, Offset: n * p.cie.data}
}

func (p *program) advanceBy(n uint64) (want string) {
	if n > 0 && p.cie.code > (1<<64-1-p.at)/n {
		return "places inside the address space"
	}
	return p.advance(p.at + n*p.cie.code)
}

func (p *program) remember() (want string) {
	if p.depth == maxStates {
		return fmt.Sprintf("at most %d remembered states", maxStates)
	}
	if p.work += stateWork; p.depth == len(p.states) {
		p.states = append(p.states, p.rules)
	}
	p.states[p.depth] = p.rules
	p.depth++
	return ""
}

func (p *program) back() (want string) {
	if p.depth == 0 {
		return "a remembered state"
	}
	p.depth--
	p.work += stateWork
	p.rules, p.changed = p.states[p.depth], true
	return ""
}
