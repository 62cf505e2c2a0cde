package ehabi

import (
	"encoding/binary"
	"math/bits"

	"github.com/symlake/symlake/formats/unwind"
)

const (
	regSP = 13
	regLR = 14
	regPC = 15

	opFinish = 0xb0
)

// program runs opcodes: they move a stack pointer and pop registers from it.
type program struct {
	rules  unwind.Rules
	base   uint8 // the register that the stack pointer counts from
	offset int64
	moved  bool // base was changed
	popped uint32
	at     [16]int64 // of popped registers, from base
	early  [16]bool  // popped before base was changed: at counts from the stack pointer
}

// run makes rules of opcodes. If they are damaged, want says what should stand there.
func (p *program) run(ops []byte) (want string) {
	p.base = regSP
	for len(ops) > 0 && ops[0] != opFinish {
		op := ops[0]
		ops = ops[1:]
		switch {
		case op < 0x40:
			p.offset += int64(op&0x3f)<<2 + 4
		case op < 0x80:
			p.offset -= int64(op&0x3f)<<2 + 4
		case op < 0x90:
			if len(ops) == 0 {
				return "a whole opcode"
			}
			mask := uint32(op&0xf)<<8 | uint32(ops[0])
			ops = ops[1:]
			if mask == 0 { // it refuses to be unwound
				p.rules = unwind.Rules{}
				outermost(&p.rules)
				return ""
			}
			want = p.pop(mask << 4)
		case op < 0xa0:
			want = p.move(op & 0xf)
		case op < 0xb0:
			mask := uint32(1<<(op&7+1)-1) << 4
			if op&8 != 0 {
				mask |= 1 << regLR
			}
			want = p.pop(mask)
		default:
			ops, want = p.special(op, ops)
		}
		if want != "" {
			return want
		}
	}
	p.finish()
	return ""
}

// special runs an opcode from 0xb0 on: most of them pop registers that are no integers.
func (p *program) special(op byte, ops []byte) (rest []byte, want string) {
	operand := func() (b byte) {
		if len(ops) == 0 {
			want = "a whole opcode"
			return 0
		}
		b, ops = ops[0], ops[1:]
		return b
	}
	switch {
	case op == 0xb1:
		if mask := operand(); mask == 0 || mask > 0xf {
			want = "a mask of the registers 0 to 3"
		} else {
			want = p.pop(uint32(mask))
		}
	case op == 0xb2:
		v, n := binary.Uvarint(ops)
		if n <= 0 || v > 1<<29 {
			return nil, "a number of words"
		}
		ops = ops[n:]
		p.offset += 0x204 + int64(v)<<2
	case op == 0xb3:
		p.offset += int64(operand()&0xf)*8 + 12
	case op == 0xb4: // a code that signs the return address
		p.offset += 4
	case op >= 0xb8 && op < 0xc0:
		p.offset += int64(op&7)*8 + 12
	case op == 0xc7:
		if mask := operand(); mask == 0 || mask > 0xf {
			want = "a mask of four registers"
		} else {
			p.offset += int64(bits.OnesCount8(mask)) * 4
		}
	case op == 0xc6, op == 0xc8, op == 0xc9:
		p.offset += int64(operand()&0xf)*8 + 8
	case op >= 0xc0 && op < 0xc6, op >= 0xd0 && op < 0xd8:
		p.offset += int64(op&7)*8 + 8
	default:
		want = "an opcode that is known"
	}
	return ops, want
}

// pop takes registers from the stack, the lowest first.
func (p *program) pop(mask uint32) (want string) {
	if mask>>regSP&1 != 0 {
		return "a stack pointer that is not popped"
	}
	for n := range 16 {
		if mask>>n&1 != 0 {
			p.at[n], p.early[n] = p.offset, !p.moved
			p.offset += 4
		}
	}
	p.popped |= mask
	return ""
}

// move makes the stack pointer a register's value.
func (p *program) move(n uint8) (want string) {
	if n == regSP || n == regPC || p.moved || p.popped>>n&1 != 0 {
		return "a stack pointer from a register that the function has not changed"
	}
	p.base, p.offset, p.moved = n, 0, true
	return ""
}

// finish makes the rules.
func (p *program) finish() {
	p.rules = unwind.Rules{CFA: unwind.Rule{How: unwind.Register, Reg: p.base, Offset: p.offset}}
	for n := range uint8(16) {
		if p.popped>>n&1 == 0 {
			continue
		}
		r := unwind.Rule{How: unwind.Saved, Offset: p.at[n] - p.offset}
		if p.early[n] && p.moved {
			var e unwind.Expr
			e.Byte(unwind.OpRegister, regSP)
			if p.at[n] != 0 {
				e.Const(p.at[n]).Op(unwind.OpAdd)
			}
			r = unwind.Rule{How: unwind.Memory, Expr: e.String()}
		}
		switch n {
		case regPC:
			p.rules.RA = r
		case regLR:
			if p.popped>>regPC&1 == 0 {
				p.rules.RA = r
			}
		default:
			p.rules.Regs[n] = r
		}
	}
}
