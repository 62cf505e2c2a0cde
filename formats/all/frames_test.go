package all_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/breakpad"
	"github.com/symlake/symlake/formats/elf"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/macho"
	"github.com/symlake/symlake/formats/unwind"
)

// The rules of an image are the rules that dump_syms wrote of it. SYMLAKE_FRAME_PAIRS names more pairs, IMAGE=SYM. STACK CFI cannot
// take a rule back, so dump_syms keeps registers that a function has restored: some rows of an epilog differ.
func TestFramesOfDumpSyms(t *testing.T) {
	pairs := [][2]string{
		{formattest.Fixture(t, "elf/dump_syms/basic.full"), formattest.Fixture(t, "elf/dump_syms/basic.full.sym")},
		{formattest.Fixture(t, "macho/symbolic/crash"), formattest.Fixture(t, "macho/symbolic/golden/crash.sym")},
	}
	for _, p := range strings.Fields(os.Getenv("SYMLAKE_FRAME_PAIRS")) {
		image, sym, _ := strings.Cut(p, "=")
		pairs = append(pairs, [2]string{image, sym})
	}
	for _, p := range pairs {
		f := &elf.Format
		if b, err := os.ReadFile(p[0]); err != nil || string(b[:4]) != "\x7fELF" {
			f = &macho.Format
		}
		ours, theirs := framesOf(t, f, p[0]), framesOf(t, &breakpad.Format, p[1])
		r := rand.New(rand.NewPCG(1, 2))
		bad := 0
		for range 10000 {
			g := theirs.Ranges[r.IntN(len(theirs.Ranges))]
			pos := g.Start + r.Uint64N(g.End-g.Start)
			got, want := plainRules(t, ours, pos), plainRules(t, theirs, pos)
			if got == want || strings.TrimSuffix(got, " .ra: .undef") == want {
				continue
			}
			if bad++; bad <= 5 {
				t.Logf("%s at %#x: %s, want %s", p[0], pos, got, want)
			}
		}
		if t.Logf("%s: %d of 10000 places differ", p[0], bad); bad > 50 {
			t.Errorf("%s: %d of 10000 places differ", p[0], bad)
		}
	}
}

func framesOf(t *testing.T, f *formats.Format, path string) *formattest.Unwound {
	t.Helper()
	obj := formattest.Open(t, f, formattest.Input(t, path))
	return formattest.UnwindOf(t, f, &obj.Artifacts[0])
}

// plainRules returns the rules at a position without the register of the return address, which dump_syms says twice.
func plainRules(t *testing.T, w *formattest.Unwound, pos uint64) string {
	t.Helper()
	r, err := unwind.Decode(w.At(pos))
	if err != nil {
		t.Fatal(err)
	}
	if lr := w.Arch.LR; lr != unwind.None {
		if r.Regs[lr] = (unwind.Rule{}); r.RA == (unwind.Rule{How: unwind.Register, Reg: lr}) {
			r.RA = unwind.Rule{}
		}
	}
	for i := range r.Regs {
		if r.Regs[i] == (unwind.Rule{How: unwind.Register, Reg: uint8(i)}) {
			r.Regs[i] = unwind.Rule{How: unwind.Same}
		}
	}
	return r.Text(w.Arch)
}
