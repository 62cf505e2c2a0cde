package unwind

import (
	"context"
)

// Frame is one step of a walk.
type Frame struct {
	PC     uint64 // where the thread stood, or where it returns to; without signature
	Raw    uint64 // as registers or memory have it
	At     uint64 // PC, stepped back into the call of a caller: what rules and functions are looked up by
	SP     uint64
	Trust  Trust
	Module int // of Process.Modules, by At; -1: none
}

// Place is an address in a module.
type Place struct {
	Module int    // of Process.Modules
	Offset uint64 // from its base
}

// Found is the rules at a place.
type Found struct {
	Rules string // coded; "": there are none
	Start uint64 // the offset that they hold from; 0: not known
}

// Known says what symbols say of a place.
type Known uint8

// The kinds of knowledge.
const (
	NoSymbols  Known = iota // the module has none
	NoFunction              // it has, and none is there
	Function
)

// Source knows modules. It is asked for all threads at once: out has an element for each place, all zero before. The
// only errors come from ctx, and end the walk.
type Source interface {
	Rules(ctx context.Context, at []Place, out []Found) error
	Functions(ctx context.Context, at []Place, out []Known) error
}

// Bounds of a walk.
const (
	MaxFrames = 10_000  // of a thread
	maxAll    = 1 << 17 // of all threads
	maxWork   = 1 << 26 // bytes of rules and words of memory that are looked at, and questions for what they cost
)

// What a question counts for in maxWork.
const (
	rulesWork    = 1 << 7
	functionWork = 1 << 6
)

// Scans look at so many words of the stack: more behind a frame that is sure, because what stands there may be code without
// a module.
const (
	scanWords     = 40
	scanWordsSure = 160
)

// Walk walks the stack of each thread. It returns frames of each, innermost first; nil for threads that are silent. source may
// be nil: then there are no rules, and each address in a module may be a function's.
func Walk(ctx context.Context, p *Process, source Source) ([][]Frame, error) {
	out := make([][]Frame, len(p.Threads))
	if p.Arch == nil {
		return out, nil
	}
	w := walker{p: p, source: source, mask: p.mask()}
	all := make([]*walk, len(p.Threads))
	active := make([]*walk, 0, len(p.Threads))
	for i := range p.Threads {
		t := &p.Threads[i]
		pc, ok := t.Registers.Get(p.Arch.PC)
		if t.Silent || !ok {
			continue
		}
		one := &walk{walker: &w, thread: t, regs: t.Registers}
		one.add(pc, pc&w.mask, Context)
		active = append(active, one)
		all[i] = one
	}
	w.frames = len(active)
	for len(active) > 0 && w.work < maxWork && w.frames < maxAll {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if active, err = w.level(ctx, active); err != nil {
			return nil, err
		}
	}
	for i, one := range all {
		if one != nil {
			out[i] = one.frames
		}
	}
	return out, nil
}

// walker is what the walks of all threads share.
type walker struct {
	p      *Process
	source Source
	mask   uint64
	work   int
	frames int

	places []Place
	found  []Found
	known  []Known
}

// walk is a thread on its way.
type walk struct {
	*walker
	thread *Thread
	frames []Frame
	regs   Registers // of the last frame
	params uint32    // bytes of parameters of the last frame's callee, as Windows' rules say; 0: there is no callee, or it is not said
	own    uint32    // of the last frame itself

	caller Registers // that a step found
	trust  Trust     // how
	raw    uint64

	words []candidate
	tried int // words of the scan that were looked at
}

// last is the frame that needs a caller.
func (w *walk) last() *Frame { return &w.frames[len(w.frames)-1] }

func (w *walk) add(raw, pc uint64, trust Trust) {
	f := Frame{PC: pc, Raw: raw, At: pc, Trust: trust}
	if trust != Context {
		f.At = w.p.Arch.stepBack(pc)
	}
	f.SP, _ = w.regs.Get(w.p.Arch.SP)
	f.Module = w.p.ModuleAt(f.At)
	w.frames = append(w.frames, f)
}

// level takes one step in each thread, and returns the threads that go on.
func (w *walker) level(ctx context.Context, active []*walk) ([]*walk, error) {
	if err := w.rules(ctx, active); err != nil {
		return nil, err
	}
	var scans []*walk
	for i, one := range active {
		one.trust = Untold
		if _, ok := one.regs.Get(w.p.Arch.SP); !ok {
			continue
		}
		switch {
		case one.byRules(&w.found[i]):
			one.trust = CFI
		case one.outermost(&w.found[i]):
		case one.byPointer():
			one.trust = FramePointer
		default:
			scans = append(scans, one)
		}
	}
	if err := w.scan(ctx, scans); err != nil {
		return nil, err
	}
	next := active[:0]
	for _, one := range active {
		if one.trust != Untold && one.accept() && len(one.frames) < MaxFrames && w.frames < maxAll {
			next = append(next, one)
		}
	}
	return next, nil
}

// rules asks for the rules of all active threads: found has an element for each.
func (w *walker) rules(ctx context.Context, active []*walk) error {
	w.found = append(w.found[:0], make([]Found, len(active))...)
	if w.source == nil {
		return nil
	}
	w.places = w.places[:0]
	asked := make([]int, 0, len(active))
	for i, one := range active {
		if f := one.last(); f.Module >= 0 {
			w.places = append(w.places, Place{f.Module, f.At - w.p.Modules[f.Module].Base})
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	w.work += rulesWork * len(asked)
	out := make([]Found, len(asked))
	if err := w.source.Rules(ctx, w.places, out); err != nil {
		return err
	}
	for k, i := range asked {
		w.found[i] = out[k]
	}
	return nil
}

// read reads the stack, and other memory that the dump has.
func (w *walk) read(addr uint64, size int) (uint64, bool) {
	w.work++
	if v, ok := w.thread.Stack.Read(addr, size); ok {
		return v, true
	}
	return w.p.Memory.Read(addr, size)
}

// word reads a word of the stack alone.
func (w *walk) word(addr uint64) (uint64, bool) {
	w.work++
	return w.thread.Stack.Read(addr, w.p.Arch.Word)
}

// byRules finds the caller by rules.
func (w *walk) byRules(found *Found) bool {
	w.own = 0
	if found.Rules == "" {
		return false
	}
	w.work += len(found.Rules)
	rules, err := Decode(found.Rules)
	if err != nil {
		return false
	}
	if rules.Windows != nil {
		w.own = rules.Windows.Params
		caller, ok := rules.Windows.step(w.p.Arch, &w.regs, w.read, w.params, len(w.frames) == 1)
		w.caller = caller
		return ok && w.strip()
	}
	callee := w.regs
	f := w.last()
	if f.Trust == FramePointer && w.p.Arch.LR != None && found.Start != f.At-w.p.Modules[f.Module].Base {
		callee.Lose(w.p.Arch.LR) // its value is one of an earlier call, unless the function has only begun
	}
	caller, _, ok := rules.Step(w.p.Arch, &callee, w.read)
	w.caller = caller
	return ok && w.strip()
}

// outermost reports that rules say that there is no caller.
func (w *walk) outermost(found *Found) bool {
	if found.Rules == "" {
		return false
	}
	rules, err := Decode(found.Rules)
	return err == nil && rules.Windows == nil && rules.CFA.How != Unsaid && rules.RA.How == Undefined
}

// strip takes signatures and tags off the caller's pointers.
func (w *walk) strip() bool {
	a := w.p.Arch
	pc, ok := w.caller.Get(a.PC)
	if _, sp := w.caller.Get(a.SP); !ok || !sp {
		return false
	}
	w.raw = pc
	w.caller.Set(a.PC, pc&w.mask)
	if a == arm64 {
		for _, r := range [...]uint8{a.FP, a.LR} {
			if v, ok := w.caller.Get(r); ok {
				w.caller.Set(r, v&w.mask)
			}
		}
	}
	return true
}

// firstPage is where no code lies: a return address below it ends a stack.
const firstPage = 4096

// accept makes a frame of the caller that was found; false: the stack has ended, or the walk would not get on.
func (w *walk) accept() bool {
	a := w.p.Arch
	pc, _ := w.caller.Get(a.PC)
	sp, _ := w.caller.Get(a.SP)
	was, _ := w.regs.Get(a.SP)
	callee := w.last()
	switch {
	case pc < firstPage || sp < was:
		return false
	case sp == was:
		// A leaf may leave the stack alone, where calls do not push. With another place each time, that cannot go on forever:
		// see MaxFrames.
		leaf := callee.Trust == Context && (a == arm || a == arm64 || a == riscv64)
		entry := w.trust == CFI && (a == arm64 || a == riscv64)
		if !leaf && !entry || pc == callee.PC && a != arm {
			return false
		}
	}
	w.regs, w.params = w.caller, w.own
	w.walker.frames++
	w.add(w.raw, pc, w.trust)
	return true
}

// stepBack moves a return address into the call, as far as every call reaches.
func (a *Arch) stepBack(pc uint64) uint64 {
	switch a {
	case arm64:
		return pc&^3 - 4
	case arm: // bit 0 is the Thumb state
		return pc&^1 - 2
	case riscv64:
		return pc - 2
	}
	return pc - 1
}

// Trust says how a frame was found, in the words of stackwalkers. The value "" says nothing.
type Trust string

// The kinds of trust, best first.
const (
	Context      Trust = "context"   // from the registers of the thread
	Prewalked    Trust = "prewalked" // by another unwinder, before the dump was written
	CFI          Trust = "cfi"       // by rules
	FramePointer Trust = "fp"        // by the frame pointer of the callee
	CFIScan      Trust = "cfi_scan"  // by rules that a scan had to help
	Scan         Trust = "scan"      // a word of the stack that looks like a return address
	Untold       Trust = ""
)

// ParseTrust reads the words of Breakpad, rust-minidump and Sentry; "" for any other word.
func ParseTrust(word string) Trust {
	switch word {
	case "context", "prewalked", "cfi", "fp", "scan":
		return Trust(word)
	case "frame_pointer":
		return FramePointer
	case "cfi_scan", "cfi-scan", "cfiscan":
		return CFIScan
	}
	return Untold
}
