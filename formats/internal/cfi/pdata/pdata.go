// Package pdata reads the call frame information of Windows: the function table (.pdata) and the unwind information that its
// entries lead to (.xdata), of x86-64, ARM64 and ARM.
//
// Rules follow from the steps of a prolog, forward from the function's first byte, so places before the end of a prolog
// have rules of their own. Epilogs of ARM and ARM64 are described, and have such rules too. Epilogs of x86-64 are known by their
// instructions alone: they have the rules of the function's body, as Breakpad's dump_syms gives them.
//
// Code between functions that has room for one has the rules of a leaf: Windows takes code without an entry for it.
//
// Invariants:
//   - damage costs one function, and is counted;
//   - work is bounded by the bytes of the image, though functions may share their unwind information.
package pdata

import (
	"context"

	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

const (
	section = ".pdata"
	// leafBytes is what a leaf needs at least with what fills the block before it.
	leafBytes = 16
)

// reader reads the functions of one image.
type reader struct {
	file   *pefile.File
	window *pefile.Window
	table  *cfi.Table
	arch   *unwind.Arch
	base   uint64
	work   int64 // steps that may still be read
	ops    []op

	states  []unwind.Rules // of a sequence that runs
	lengths []uint64       // in bytes, of the instructions between states
}

// Read adds what an image says to a table. Damage is counted there. An error is the input's, the taker's or ctx's.
func Read(ctx context.Context, f *pefile.File, t *cfi.Table) error {
	functions, err := f.Functions(ctx)
	if len(functions) == 0 || err != nil {
		return err
	}
	r := &reader{file: f, window: f.Window(), table: t, arch: unwind.ArchOf(f.Arch()), base: f.Base(), work: 1<<20 + f.In.Size}
	t.Rank = symbol.UnwindRuntime
	read := r.x64
	switch r.arch.Name {
	case "arm64":
		read = r.arm64
	case "arm":
		read = r.arm
	}
	leaf := newState(r.arch)
	gaps := gaps{code: f.Code(), at: 0}
	for i := range functions {
		fn := &functions[i]
		if i&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := gaps.before(r.base+uint64(fn.Start), r.base+uint64(fn.End), func(start, end uint64) error { return t.Add(start, end, leaf.rules()) }); err != nil {
			return err
		}
		t.Quality.Units++
		if r.work < 0 {
			t.Drop(section, uint64(fn.Place), "functions that do not share their unwind information without end")
			break
		}
		want, err := read(fn)
		if err != nil {
			return err
		}
		if want != "" {
			t.Drop(section, uint64(fn.Place), want)
		}
	}
	return nil
}

// add adds rules for a piece of a function, from and to its start.
func (r *reader) add(fn *pefile.Function, from, to uint64, rules *unwind.Rules) error {
	start, end := uint64(fn.Start)+from, min(uint64(fn.Start)+to, uint64(fn.End))
	if start >= end {
		return nil
	}
	return r.table.Add(r.base+start, r.base+end, rules)
}

// gaps finds the code between functions.
type gaps struct {
	code []native.Span
	at   uint64 // up to here code is passed
}

// before hands out the code from the last function to the next one, if a leaf can be there.
func (g *gaps) before(start, end uint64, emit func(start, end uint64) error) error {
	for len(g.code) > 0 {
		from, to := max(g.at, g.code[0].Start), min(start, g.code[0].End)
		if from+leafBytes <= to {
			if err := emit(from, to); err != nil {
				return err
			}
		}
		if start < g.code[0].End {
			break
		}
		g.code = g.code[1:]
	}
	g.at = max(g.at, end)
	return nil
}

// state is what a prolog has done so far. Places on the stack count from the canonical frame address.
type state struct {
	r    unwind.Rules
	arch *unwind.Arch
	sp   int64 // of the stack pointer, below the address
	fp   int64 // of the frame pointer, once base is one
	base uint8 // the register that the address follows from
}

func newState(a *unwind.Arch) state {
	s := state{arch: a, base: a.SP}
	if a.LR == unwind.None {
		s.sp = int64(a.Word)
		s.r.RA = unwind.Rule{How: unwind.Saved, Offset: -s.sp}
		s.r.Regs[4], s.r.Regs[5] = unwind.Rule{How: unwind.Same}, unwind.Rule{How: unwind.Same} // RSI and RDI: kept on Windows alone
	}
	return s
}

// rules returns the rules of the state; they are valid until it changes.
func (s *state) rules() *unwind.Rules {
	below := s.sp
	if s.base != s.arch.SP {
		below = s.fp
	}
	s.r.CFA = unwind.Rule{How: unwind.Register, Reg: s.base, Offset: below}
	return &s.r
}

// save notes that a register is kept at an offset from the stack pointer.
func (s *state) save(reg uint8, offset int64) {
	rule := unwind.Rule{How: unwind.Saved, Offset: offset - s.sp}
	if reg == s.arch.LR {
		s.r.RA = rule
		return
	}
	s.r.Regs[reg] = rule
}

// push notes that registers lie from the stack pointer on, a bit each. Arguments among them are of no use.
func (s *state) push(mask uint16) {
	at := int64(0)
	for reg := range uint8(15) {
		if mask>>reg&1 == 0 {
			continue
		}
		if s.arch.Kept>>reg&1 == 1 || reg == s.arch.LR {
			s.save(reg, at)
		}
		at += int64(s.arch.Word)
	}
}

// frame makes a register the frame pointer: the stack pointer and an offset.
func (s *state) frame(reg uint8, offset int64) { s.base, s.fp = reg, s.sp-offset }
