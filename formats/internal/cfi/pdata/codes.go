package pdata

// Steps that end a sequence, of ARM64.
const (
	endAll  = 0xe4
	endPart = 0xe5
)

// codeARM64 reads one step of ARM64 and returns how many bytes it has.
func codeARM64(b []byte) (op, int) {
	c := int64(b[0])
	two := func() int64 {
		if len(b) < 2 {
			return 0
		}
		return c<<8 | int64(b[1])
	}
	saved := func(v int64) uint8 { return uint8(19 + v) }
	switch {
	case c < 0x20:
		return alloc(16 * c), 1
	case c < 0x40:
		return push(19, 20, 8*(c&0x1f)), 1
	case c < 0x80:
		return pair(x29, x30, 8*(c&0x3f)), 1
	case c < 0xc0:
		return push(x29, x30, 8*(c&0x3f)+8), 1
	case c < 0xc8:
		return alloc(16 * (two() & 0x7ff)), 2
	case c < 0xcc:
		r := saved(two() >> 6 & 15)
		return pair(r, r+1, 8*(two()&0x3f)), 2
	case c < 0xd0:
		r := saved(two() >> 6 & 15)
		return push(r, r+1, 8*(two()&0x3f)+8), 2
	case c < 0xd4:
		return pair(saved(two()>>6&15), none, 8*(two()&0x3f)), 2
	case c < 0xd6:
		return push(saved(two()>>5&15), none, 8*(two()&0x1f)+8), 2
	case c < 0xd8:
		return pair(saved(2*(two()>>6&7)), x30, 8*(two()&0x3f)), 2
	case c < 0xda: // pairs of floating-point registers
		return alloc(0), 2
	case c < 0xdc:
		return alloc(8*(two()&0x3f) + 8), 2
	case c < 0xde:
		return alloc(0), 2
	case c == 0xde:
		return alloc(8*(two()&0x1f) + 8), 2
	}
	return codeARM64Special(b)
}

// codeARM64Special reads a step with a first byte of its own.
func codeARM64Special(b []byte) (op, int) {
	switch b[0] {
	case 0xe0:
		if len(b) < 4 {
			return op{}, 4
		}
		return alloc(16 * (int64(b[1])<<16 | int64(b[2])<<8 | int64(b[3]))), 4
	case 0xe1:
		return op{kind: opFrame, reg: x29}, 1
	case 0xe2:
		if len(b) < 2 {
			return op{}, 2
		}
		return op{kind: opFrame, reg: x29, offset: 8 * int64(b[1])}, 2
	case 0xe3, 0xfc: // nothing; a return address that is signed
		return op{}, 1
	case 0xe6:
		return op{kind: opNext}, 1
	case 0xe7:
		return anyRegister(b)
	case 0xe9:
		return op{kind: opMachine, quiet: true}, 1
	case 0xea:
		return op{kind: opContext, quiet: true}, 1
	case 0xec: // the function was reached by a call
		return op{quiet: true}, 1
	}
	return op{kind: opUnknown}, 1
}

// anyRegister reads the step for registers that have none of their own.
func anyRegister(b []byte) (op, int) {
	if len(b) < 3 {
		return op{}, 3
	}
	double, moves, reg := b[1]&0x40 != 0, b[1]&0x20 != 0, b[1]&0x1f
	integer, offset := b[2]&0xc0 == 0, int64(b[2]&0x3f)
	unit := int64(8)
	if double || moves || !integer && b[2]&0xc0 == 0x80 {
		unit = 16
	}
	if b[1]&0x80 != 0 || b[2]&0xc0 == 0xc0 {
		return op{kind: opUnknown}, 3
	}
	o := op{}
	if moves {
		o.size = (offset + 1) * unit
	} else {
		o.offset = offset * unit
	}
	if integer {
		o.kind, o.reg, o.second = opSave, reg, none
		if double && reg < x30 {
			o.second = reg + 1
		}
		if reg > x30 {
			return op{kind: opUnknown}, 3
		}
	}
	return o, 3
}

// packedARM64 is unwind information of 30 bits.
type packedARM64 struct {
	integers, floats int64 // saved registers from x19 and d8 on
	homed            bool  // x0 to x7 are stored
	link             uint32
	frame            int64 // bytes
}

// The ways to save the link register.
const (
	linkSaved  = 1
	linkSigned = 2 // and there is a frame pointer
	linkFrame  = 3
)

// steps returns the prolog that unwind information of 30 bits stands for, the last step first. false: there is no such prolog.
func (p *packedARM64) steps(all []op) ([]op, bool) {
	integers, floats := 8*p.integers, 8*p.floats
	if p.link == linkSaved {
		integers += 8
	}
	if p.floats > 0 {
		floats += 8
	}
	saved := integers + floats
	if p.homed {
		saved += 64
	}
	saved = (saved + 15) &^ 15
	local := p.frame - saved
	framed := p.link == linkSigned || p.link == linkFrame
	if local < 0 || p.link == linkSaved && p.integers == 1 || p.integers > 10 {
		return all, false
	}
	if framed {
		all = append(all, op{kind: opFrame, reg: x29})
		if local <= 512 {
			all = append(all, push(x29, x30, local))
		} else {
			all = append(all, pair(x29, x30, 0))
		}
	}
	switch {
	case local > 4080:
		all = append(all, alloc(local-4080), alloc(4080))
	case local > 512 || !framed && local > 0:
		all = append(all, alloc(local))
	}
	if p.homed {
		first := int64(0)
		if p.integers == 0 && p.floats == 0 && p.link != linkSaved {
			first = saved
		}
		all = append(all, alloc(0), alloc(0), alloc(0), alloc(first))
	}
	if p.floats > 0 {
		for i := (p.floats+2)/2 - 1; i >= 0; i-- {
			if i == 0 && integers == 0 {
				all = append(all, alloc(saved))
			} else {
				all = append(all, alloc(0))
			}
		}
	}
	return p.integerSteps(all, saved, integers), true
}

// integerSteps returns the steps that save integer registers, which come first.
func (p *packedARM64) integerSteps(all []op, saved, bytes int64) []op {
	if p.link == linkSaved && p.integers%2 == 0 {
		if p.integers == 0 {
			all = append(all, push(x30, none, saved))
		} else {
			all = append(all, pair(x30, none, bytes-8))
		}
	}
	for i := (p.integers+1)/2 - 1; i >= 0; i-- {
		o := pair(uint8(19+2*i), uint8(20+2*i), 16*i)
		if 2*i+1 == p.integers {
			if o.second = none; p.link == linkSaved {
				o.second = x30
			}
		}
		if i == 0 {
			o.size = saved
		}
		all = append(all, o)
	}
	if p.link == linkSigned {
		all = append(all, alloc(0))
	}
	return all
}
