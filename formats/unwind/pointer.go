package unwind

// byPointer finds the caller by the frame pointer. Each architecture has its own frame record, and its own pitfalls.
func (w *walk) byPointer() bool {
	switch w.p.Arch {
	case x86_64:
		return w.pointer64()
	case x86:
		return w.pointer32()
	case arm64:
		return w.pointerRecord(w.p.Arch.FP, 0)
	case arm:
		// Only Apple's systems chain frames in one way, by r7.
		return w.p.System == Apple && w.pointerRecord(appleFP, 0)
	case riscv64: // the pointer stands behind the record
		return w.pointerRecord(w.p.Arch.FP, 2*8)
	}
	return false
}

const appleFP = 7

// keep sets the registers that a frame record gives.
func (w *walk) keep(pc, sp, fp uint64, register uint8) bool {
	a := w.p.Arch
	w.caller = Registers{}
	w.caller.Set(a.PC, pc)
	w.caller.Set(a.SP, a.cut(sp))
	w.caller.Set(register, fp)
	return w.strip()
}

// Windows sets the frame pointer of x86-64 up to 240 bytes below the frame record, in steps of 16.
const (
	windowsSteps = 15
	windowsStep  = 16
)

// pointer64 is x86-64: push rbp, mov rbp, rsp.
func (w *walk) pointer64() bool {
	a := w.p.Arch
	bp, ok := w.regs.Get(a.FP)
	sp, _ := w.regs.Get(a.SP)
	steps := uint64(0)
	if w.p.System == MSWindows {
		steps = windowsSteps
	}
	if !ok || bp >= ^uint64(0)-(steps+1)*windowsStep {
		return false
	}
	for i := uint64(0); i <= steps; i++ {
		at := bp + i*windowsStep
		pc, ok := w.word(at + 8)
		next, below := w.word(at)
		if !ok || !below {
			return false
		}
		callerSP := at + 16
		if next < callerSP {
			continue
		}
		if _, ok := w.word(next); !ok {
			return false
		}
		if _, ok := w.word(callerSP); canonical(pc) && ok && callerSP > sp {
			return w.keep(pc, callerSP, next, a.FP)
		}
	}
	return false
}

// canonical: bits 47 to 63 of an address of x86-64 are alike.
func canonical(addr uint64) bool { return addr <= 1<<47-1 || addr >= ^uint64(1<<47-1) }

// pointer32 is x86: push ebp, mov ebp, esp. Any record counts that is in the stack.
func (w *walk) pointer32() bool {
	bp, ok := w.regs.Get(w.p.Arch.FP)
	if !ok || bp >= 1<<32-1-8 {
		return false
	}
	pc, ok := w.word(bp + 4)
	next, below := w.word(bp)
	return ok && below && w.keep(pc, bp+8, next, w.p.Arch.FP)
}

// pointerRecord is a record of frame pointer and link register, which begins behind bytes below the pointer. A pointer of 0 ends
// the stack; arm64 is scanned even then.
func (w *walk) pointerRecord(register uint8, behind uint64) bool {
	a, word := w.p.Arch, uint64(w.p.Arch.Word)
	fp, ok := w.regs.Get(register)
	sp, _ := w.regs.Get(a.SP)
	if !ok || fp >= a.cut(^uint64(0))-2*word {
		return false
	}
	if fp == 0 {
		return a != arm64 && w.keep(0, sp, 0, register)
	}
	next, ok := w.word(fp - behind)
	pc, above := w.word(fp - behind + word)
	if !ok || !above {
		return false
	}
	if a == arm64 && !userCode(pc&w.mask) {
		return false
	}
	if !w.keep(pc, fp-behind+2*word, next, register) {
		return false
	}
	if next &= w.mask; a == arm64 && next != 0 { // what the caller saved is where it returns to
		if lr, ok := w.word(next + word); ok {
			w.caller.Set(a.LR, lr&w.mask)
		}
	}
	return true
}

// userCode: arm64 has no code in the first page, and none of programs above 52 bits.
func userCode(addr uint64) bool { return addr >= firstPage && addr < 1<<52 }
