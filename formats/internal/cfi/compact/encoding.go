package compact

import (
	"slices"

	"github.com/symlake/symlake/formats/unwind"
)

const (
	modeMask = 0x0f000000

	intelFrame     = 0x01000000
	intelImmediate = 0x02000000 // the size of the frame stands in the word
	intelIndirect  = 0x03000000 // it stands in an instruction of the function
	intelDWARF     = 0x04000000

	armFrameless = 0x02000000
	armDWARF     = 0x03000000
	armFrame     = 0x04000000
)

func saved(offset int64) unwind.Rule { return unwind.Rule{How: unwind.Saved, Offset: offset} }

// intel reads the words of x86 and x86-64, which differ in registers and in the size of one.
type intel struct {
	word      int64
	registers [7]uint8 // by their numbers in words; the last is the frame pointer
}

// intelRegisters are the numbers of package unwind for the numbers 1 to 6 of words.
func intelRegisters(a *unwind.Arch) (r [7]uint8) {
	names := [...]string{"", "rbx", "r12", "r13", "r14", "r15", "rbp"}
	if a.Word == 4 {
		names = [...]string{"", "ebx", "ecx", "edx", "edi", "esi", "ebp"}
	}
	for i, n := range names[1:] {
		r[i+1] = a.Register(n)
	}
	return r
}

func (e *intel) rules(r *unwind.Rules, word uint32, code func(uint64) (uint32, bool, error)) (want string, err error) {
	switch word & modeMask {
	case intelFrame:
		return e.frame(r, word), nil
	case intelImmediate:
		return e.frameless(r, word, int64(word>>16&0xff)*e.word), nil
	case intelIndirect:
		size, ok, err := code(uint64(word >> 16 & 0xff))
		if !ok || err != nil {
			return "a function with the size of its frame", err
		}
		return e.frameless(r, word, int64(size)+int64(word>>13&7)*e.word), nil
	case intelDWARF, 0:
		return "", nil
	}
	return "a frame of modes 1 to 4", nil
}

// frame is a function that keeps a frame pointer.
func (e *intel) frame(r *unwind.Rules, word uint32) (want string) {
	fp := e.registers[6]
	r.CFA = unwind.Rule{How: unwind.Register, Reg: fp, Offset: 2 * e.word}
	r.RA, r.Regs[fp] = saved(-e.word), saved(-2*e.word)
	at := -(2 + int64(word>>16&0xff)) * e.word
	for i := range 5 {
		n := word >> (3 * i) & 7
		if n > 5 {
			return "registers that a function saves"
		}
		if n > 0 {
			r.Regs[e.registers[n]] = saved(at)
		}
		at += e.word
	}
	return ""
}

// frameless is a function with a frame of a known size.
func (e *intel) frameless(r *unwind.Rules, word uint32, size int64) (want string) {
	count := int(word >> 10 & 7)
	list, ok := permutation(int(word&0x3ff), count)
	if !ok || size < int64(count+1)*e.word || size > 1<<31 {
		return "a frame with its registers"
	}
	sp := uint8(7)
	if e.word == 4 {
		sp = 4
	}
	r.CFA = unwind.Rule{How: unwind.Register, Reg: sp, Offset: size}
	r.RA = saved(-e.word)
	for i, n := range list[:count] {
		r.Regs[e.registers[n]] = saved(int64(i-1-count) * e.word)
	}
	return ""
}

// permutation takes apart the order in which registers were pushed: each number counts the registers that are left.
func permutation(code, count int) (list [6]int, ok bool) {
	if count > 6 {
		return list, false
	}
	left := []int{1, 2, 3, 4, 5, 6}
	room := 1 // orders of the registers behind the one at hand
	for i := 1; i < count; i++ {
		room *= 6 - i
	}
	for i := range count {
		pick := code / room
		if code %= room; pick >= len(left) {
			return list, false
		}
		list[i] = left[pick]
		left = slices.Delete(left, pick, pick+1)
		room = max(1, room/max(1, len(left)))
	}
	return list, true
}

// arm64 reads the words of 64-bit ARM.
type arm64 struct{}

// Registers that are saved in pairs, by the bits of a word; floating-point ones take their room alone.
const (
	armFP       = 29
	armSP       = 31
	armFirst    = 19 // of the pairs 19 and 20 to 27 and 28
	integerBits = 5
	floatBits   = 4
	floatShift  = 8
)

func (arm64) rules(r *unwind.Rules, word uint32, _ func(uint64) (uint32, bool, error)) (want string, err error) {
	at := int64(-8)
	switch word & modeMask {
	case armFrame:
		r.CFA = unwind.Rule{How: unwind.Register, Reg: armFP, Offset: 16}
		r.RA, r.Regs[armFP] = saved(-8), saved(-16)
		at = -24
	case armFrameless:
		r.CFA = unwind.Rule{How: unwind.Register, Reg: armSP, Offset: int64(word>>12&0xfff) * 16}
	case armDWARF, 0:
		return "", nil
	default:
		return "a frame of modes 2 to 4", nil
	}
	for i := range integerBits {
		if word>>i&1 != 0 {
			r.Regs[armFirst+2*i], r.Regs[armFirst+2*i+1] = saved(at), saved(at-8)
			at -= 16
		}
	}
	return "", nil
}
