package pdata

import (
	"math/bits"

	"github.com/symlake/symlake/formats/internal/pefile"
)

// Registers of ARM.
const (
	r4  = 4
	r11 = 11
	lr  = 14
)

// arm adds the rules of a function of 32-bit ARM, in Thumb code. want names the damage.
func (r *reader) arm(fn *pefile.Function) (want string, err error) {
	switch fn.Unwind & 3 {
	case 0:
		return r.full(fn, 2, func(b []byte) sequence { return r.decode(b, codeARM) })
	case 3:
		return "unwind information of kind 0, 1 or 2, not 3", nil
	}
	r.ops = packedARM(r.ops[:0], fn.Unwind)
	r.work -= int64(len(r.ops))
	q := sequence{ops: r.ops, own: len(r.ops)}
	if fn.Unwind&3 == 2 {
		q.own = 0
	}
	e := emitter{r: r, fn: fn, end: uint64(fn.End - fn.Start)}
	if want, err = e.prolog(q); want != "" || err != nil {
		return want, err
	}
	return "", e.finish()
}

// pushed is a step that pushes registers, with an instruction of so many bytes.
func pushed(mask uint16, bytes uint8) op {
	return op{kind: opPush, mask: mask, size: 4 * int64(bits.OnesCount16(mask)), bytes: bytes}
}

// grown is a step that moves the stack pointer by words.
func grown(words int64, bytes uint8) op { return op{size: 4 * words, bytes: bytes} }

// ending returns the bytes of the instruction behind an epilog that a step for its end stands for. false: the step is no end.
func ending(code byte) (back uint64, ends bool) {
	switch code {
	case 0xfd:
		return 2, true
	case 0xfe:
		return 4, true
	case 0xff:
		return 0, true
	}
	return 0, false
}

// upTo is the registers from r4 to another, and the link register if it is set.
func upTo(last int, link bool) uint16 {
	mask := uint16(1)<<(last+1) - 1<<r4
	if link {
		mask |= 1 << lr
	}
	return mask
}

// codeARM reads one step of ARM and returns how many bytes it has.
func codeARM(b []byte) (op, int) {
	c := b[0]
	n := 1
	switch {
	case c >= 0x80 && c < 0xc0, c >= 0xe8 && c < 0xf0, c == 0xf5, c == 0xf6:
		n = 2
	case c == 0xf7, c == 0xf9:
		n = 3
	case c == 0xf8, c == 0xfa:
		n = 4
	}
	if n > len(b) {
		return op{}, n
	}
	v := uint32(0)
	for _, c := range b[:n] {
		v = v<<8 | uint32(c)
	}
	switch {
	case c < 0x80:
		return grown(int64(c), 2), n
	case c < 0xc0:
		return pushed(uint16(v&0x1fff)|uint16(v>>13&1)<<lr, 4), n
	case c < 0xd0:
		return op{kind: opFrame, reg: c & 15, bytes: 2}, n
	case c < 0xd8:
		return pushed(upTo(4+int(c&3), c&4 != 0), 2), n
	case c < 0xe0:
		return pushed(upTo(8+int(c&3), c&4 != 0), 4), n
	case c < 0xe8: // d8 and more
		return grown(2*int64(c&7)+2, 4), n
	}
	return codeARMSpecial(c, v), n
}

// codeARMSpecial reads a step with a first byte from 0xe8 on; v are all its bytes.
func codeARMSpecial(c byte, v uint32) op {
	switch {
	case c < 0xec:
		return grown(int64(v&0x3ff), 4)
	case c < 0xee:
		link := uint16(v>>8&1) << lr
		return pushed(uint16(v&0xff)|link, 2)
	case c == 0xef && v&0xf0 == 0:
		return op{kind: opPush, mask: 1 << lr, size: 4 * int64(v&15)}
	case c == 0xf5 || c == 0xf6:
		return grown(2*max(0, int64(v&15)-int64(v>>4&15)+1), 4)
	case c == 0xf7:
		return grown(int64(v&0xffff), 2)
	case c == 0xf8:
		return grown(int64(v&0xffffff), 2)
	case c == 0xf9:
		return grown(int64(v&0xffff), 4)
	case c == 0xfa:
		return grown(int64(v&0xffffff), 4)
	case c == 0xfb:
		return op{bytes: 2}
	case c == 0xfc:
		return op{}
	}
	return op{kind: opUnknown}
}

// packedARM returns the prolog that unwind information of 30 bits stands for, the last step first.
func packedARM(all []op, v uint32) []op {
	homed, count, floats, link, chained := v>>15&1 == 1, int(v>>16&7), v>>19&1 == 1, v>>20&1 == 1, v>>21&1 == 1
	adjust, folded := int64(v>>22), false
	if adjust >= 0x3f4 {
		folded = adjust&4 != 0
		adjust = adjust&3 + 1
	}
	mask := uint16(0)
	if !floats {
		mask = upTo(4+count, false)
	}
	if chained {
		mask |= 1 << r11
	}
	if link {
		mask |= 1 << lr
	}
	if folded {
		mask |= 1<<r4 - 1<<(r4-adjust)
		adjust = 0
	}
	if adjust > 0 {
		size := uint8(2)
		if adjust >= 0x7f {
			size = 4
		}
		all = append(all, grown(adjust, size))
	}
	if floats && count != 7 {
		all = append(all, grown(2*int64(count)+2, 4))
	}
	if chained { // the frame pointer leads to where its caller's is saved
		size := uint8(4)
		if mask&^(1<<r11) == 0 {
			size = 2
		}
		all = append(all, op{bytes: size})
	}
	if mask != 0 {
		size := uint8(2)
		if mask&^(0xff|1<<lr) != 0 {
			size = 4
		}
		all = append(all, pushed(mask, size))
	}
	if homed {
		all = append(all, pushed(0xf, 2))
	}
	return all
}
