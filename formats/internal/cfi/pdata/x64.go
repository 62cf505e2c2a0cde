package pdata

import (
	"fmt"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/unwind"
)

// Operations of unwind information of x86-64.
const (
	pushRegister = 0
	allocLarge   = 1
	allocSmall   = 2
	setFrame     = 3
	saveRegister = 4
	saveFar      = 5
	epilog       = 6
	spare        = 7
	saveXMM      = 8
	saveXMMFar   = 9
	pushMachine  = 10

	flagChained = 4
	maxChain    = 32
)

// registersX64 maps the processor's numbers of registers to DWARF's.
var registersX64 = [16]uint8{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// infoX64 is unwind information.
type infoX64 struct {
	codes    []byte // two bytes a slot, the last step of the prolog first
	register uint8  // the frame pointer, by DWARF's number
	offset   int64  // from the stack pointer to it
	framed   bool
}

// x64 adds the rules of a function. want names the damage.
func (r *reader) x64(fn *pefile.Function) (want string, err error) {
	var chain []infoX64
	at := fn.Unwind
	for more := true; more; {
		if len(chain) == maxChain {
			return fmt.Sprintf("a chain of at most %d parts", maxChain), nil
		}
		if at&1 != 0 { // another entry of the table
			b, err := r.window.At(at&^1, 12)
			if b == nil || err != nil {
				return fmt.Sprintf("an entry at %#x", at&^1), err
			}
			at = native.Fields{B: b}.U32(8)
		}
		var info infoX64
		if info, at, more, want, err = r.infoX64(at); want != "" || err != nil {
			return want, err
		}
		chain = append(chain, info)
	}
	s := newState(r.arch)
	for i := len(chain) - 1; i > 0; i-- {
		if want := chain[i].run(&s, nil); want != "" {
			return want, nil
		}
	}
	done := uint64(0)
	want = chain[0].run(&s, func(offset uint64) {
		if offset > done && err == nil {
			err = r.add(fn, done, offset, s.rules())
			done = offset
		}
	})
	if want == "" && err == nil {
		err = r.add(fn, done, uint64(fn.End-fn.Start), s.rules())
	}
	return want, err
}

// infoX64 reads unwind information. If more is set, next is where the information of the function around this part is.
func (r *reader) infoX64(at uint32) (info infoX64, next uint32, more bool, want string, err error) {
	b, err := r.window.At(at, 4)
	if b == nil || err != nil {
		return info, 0, false, fmt.Sprintf("unwind information at %#x", at), err
	}
	version, flags, slots, frame := b[0]&7, b[0]>>3, int64(b[2]), b[3]
	if version != 1 && version != 2 {
		return info, 0, false, fmt.Sprintf("unwind information of version 1 or 2 at %#x, not %d", at, version), nil
	}
	info.framed, info.register, info.offset = frame&15 != 0, registersX64[frame&15], int64(frame>>4)*16
	r.work -= slots + 1
	if slots > 0 {
		if info.codes, err = r.window.At(at+4, 2*slots); info.codes == nil || err != nil {
			return info, 0, false, fmt.Sprintf("%d steps at %#x", slots, at), err
		}
	}
	if flags&flagChained == 0 {
		return info, 0, false, "", nil
	}
	b, err = r.window.At(at+4+2*uint32(slots+slots&1), 12)
	if b == nil || err != nil {
		return info, 0, false, fmt.Sprintf("an entry behind the steps at %#x", at), err
	}
	return info, native.Fields{B: b}.U32(8), true, "", nil
}

// slotsX64 are how many slots an operation has; an allocation may have one more.
var slotsX64 = [...]int{pushRegister: 1, allocLarge: 2, allocSmall: 1, setFrame: 1, saveRegister: 2, saveFar: 3, epilog: 2, spare: 3, saveXMM: 2, saveXMMFar: 3, pushMachine: 1}

// run takes the steps of a prolog. before, if it is set, is called before each with where the step ends.
func (info *infoX64) run(s *state, before func(offset uint64)) (want string) {
	var starts [256]uint8
	n := 0
	for i := 0; i < len(info.codes)/2; {
		kind, operand := info.codes[2*i+1]&15, info.codes[2*i+1]>>4
		if int(kind) >= len(slotsX64) {
			return fmt.Sprintf("a step of a known kind, not %d", kind)
		}
		starts[n] = uint8(i)
		n++
		i += slotsX64[kind]
		if kind == allocLarge && operand != 0 {
			i++
		}
		if i > len(info.codes)/2 {
			return "steps inside their table"
		}
	}
	for n--; n >= 0; n-- {
		step := info.codes[2*int(starts[n]):]
		if before != nil && step[1]&15 != epilog {
			before(uint64(step[0]))
		}
		if want := info.step(s, step); want != "" {
			return want
		}
	}
	return ""
}

// step takes one step.
func (info *infoX64) step(s *state, step []byte) (want string) {
	operand := step[1] >> 4
	near := func() int64 { return int64(native.Fields{B: step}.U16(2)) }
	far := func() int64 { return int64(int32(native.Fields{B: step}.U32(2))) }
	switch step[1] & 15 {
	case pushRegister:
		s.sp += 8
		s.save(registersX64[operand], 0)
	case allocLarge:
		if operand == 0 {
			s.sp += 8 * near()
		} else {
			s.sp += far()
		}
	case allocSmall:
		s.sp += 8*int64(operand) + 8
	case setFrame:
		if !info.framed {
			return "a frame pointer"
		}
		s.frame(info.register, info.offset)
	case saveRegister:
		s.save(registersX64[operand], info.place(s, 8*near()))
	case saveFar:
		s.save(registersX64[operand], info.place(s, far()))
	case pushMachine:
		// The processor has pushed RIP, CS, the flags, RSP and SS, and maybe a code of an error. The address is RIP's.
		s.sp = 0
		s.r.RA = unwind.Rule{How: unwind.Saved}
		s.r.Regs[s.arch.SP] = unwind.Rule{How: unwind.Saved, Offset: 24}
		if operand == 1 {
			s.sp = 8
		}
	}
	return ""
}

// place returns where a register is saved, from the stack pointer: offsets count from the place that it had when the frame pointer was set.
func (info *infoX64) place(s *state, offset int64) int64 {
	if s.base == s.arch.SP || !info.framed {
		return offset
	}
	return s.sp - s.fp - info.offset + offset
}
