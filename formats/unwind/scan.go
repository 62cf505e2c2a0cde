package unwind

import "context"

// candidate is a word of the stack that lies in a module.
type candidate struct {
	at uint64 // its address
	pc uint64 // without signature
}

// chunk is how many candidates of a thread are asked for together: most often the first one is right.
const chunk = 8

// scan finds callers of all threads at once among the words of their stacks. It sets trust of walks that found one.
func (w *walker) scan(ctx context.Context, walks []*walk) error {
	for _, one := range walks {
		one.words, one.tried = one.words[:0], 0
		one.candidates()
	}
	for len(walks) > 0 {
		w.places = w.places[:0]
		for _, one := range walks {
			for _, c := range one.next() {
				m := w.p.ModuleAt(c.pc - 1)
				w.places = append(w.places, Place{m, c.pc - 1 - w.p.Modules[m].Base})
			}
		}
		w.known = append(w.known[:0], make([]Known, len(w.places))...)
		w.work += functionWork * len(w.places)
		if w.source != nil && len(w.places) > 0 {
			if err := w.source.Functions(ctx, w.places, w.known); err != nil {
				return err
			}
		}
		at, left := 0, walks[:0]
		for _, one := range walks {
			some := one.next()
			one.tried += len(some)
			found := false
			for i, c := range some {
				if w.known[at+i] != NoFunction && !found {
					found = one.believe(c)
				}
			}
			at += len(some)
			if !found && one.tried < len(one.words) {
				left = append(left, one)
			}
		}
		walks = left
	}
	return nil
}

// next returns the candidates to ask for.
func (w *walk) next() []candidate { return w.words[w.tried:min(w.tried+chunk, len(w.words))] }

// candidates notes the words of the stack that lie in modules.
func (w *walk) candidates() {
	a := w.p.Arch
	sp, _ := w.regs.Get(a.SP)
	words := scanWords
	if t := w.last().Trust; t == Context || t == CFI {
		words = scanWordsSure
	}
	for i := range uint64(words) {
		at := sp + i*uint64(a.Word)
		v, ok := w.word(at)
		if !ok || at < sp {
			return
		}
		pc := v & w.mask
		switch {
		case pc <= 1, a == x86_64 && !canonical(pc), a == arm64 && !userCode(pc):
		case w.p.ModuleAt(pc-1) >= 0:
			w.words = append(w.words, candidate{at, pc})
		}
	}
}

// mostGap is the longest frame that a scan takes for one, in bytes. Almost all frames are shorter.
const mostGap = 128 << 10

// believe takes a candidate for the return address.
func (w *walk) believe(c candidate) bool {
	a, word := w.p.Arch, uint64(w.p.Arch.Word)
	sp, _ := w.regs.Get(a.SP)
	w.caller = Registers{}
	w.caller.Set(a.PC, c.pc)
	w.caller.Set(a.SP, a.cut(c.at+word))
	if (a == x86 || a == x86_64) && c.at > sp {
		w.scanPointer(c.at)
	}
	w.trust, w.raw = Scan, c.pc
	return true
}

// scanPointer restores the frame pointer of x86 beside a return address at an address: it stands right below, if the callee
// has pushed it, or is still the callee's.
func (w *walk) scanPointer(at uint64) {
	a, word := w.p.Arch, uint64(w.p.Arch.Word)
	below := at - word
	bp, ok := w.word(below)
	old, known := w.regs.Get(a.FP)
	if !ok || a == x86_64 && !known {
		return
	}
	pushed := bp > at && bp-below <= mostGap
	if a == x86_64 {
		pushed = pushed && old == below
	}
	switch {
	case pushed:
		if _, in := w.word(bp); in {
			w.caller.Set(a.FP, bp)
		}
	case known && old >= at+word:
		if _, in := w.word(old); in || a == x86_64 {
			w.caller.Set(a.FP, old)
		}
	}
}
