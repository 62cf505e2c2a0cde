package pe

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/unwind"
)

// undone is a function as llvm-readobj prints it: steps in the order in which an unwinder undoes them.
type undone struct {
	start, length uint64
	frame         uint8 // of x86-64
	frameOffset   int64
	prolog        []step
	epilogs       map[uint64][]step // by offset in bytes
	last          []step            // of the one epilog at the end
	chained       uint64            // where the function begins that this is a part of
}

type step struct {
	text string
	end  uint64 // of its instruction, from the function's start
}

// TestFramesOracle takes each function of our images back step by step, as llvm-readobj prints its unwind information, and
// compares what follows with our rules, which go forward. Under make bench, images below SYMLAKE_PE_IMAGES are read too.
func TestFramesOracle(t *testing.T) {
	tool := formattest.Tool(t, "llvm-readobj-19", "apt-get install llvm-19")
	paths := []string{formattest.Testdata(t, "pe/libgame-x64-dw5.dll"), formattest.Testdata(t, "pe/libgame-x64-dw4.dll"), formattest.Testdata(t, "pe/libgame-arm64-dw5.dll")}
	if dir := os.Getenv("SYMLAKE_PE_IMAGES"); dir != "" {
		formattest.Bench(t)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch filepath.Ext(path) {
			case ".dll", ".exe", ".pyd", ".node":
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { framesOracle(t, tool, path) })
	}
}

func framesOracle(t *testing.T, tool, path string) {
	_, obj, err := formats.Open(t.Context(), []*formats.Format{&Format}, formattest.Input(t, path))
	if err != nil {
		t.Fatal(err)
	}
	if len(obj.Artifacts) == 0 || obj.Artifacts[0].Unwind == nil || obj.Artifacts[0].Arch != "x86_64" && obj.Artifacts[0].Arch != "arm64" {
		t.Skip("an image without unwind information that is read here")
	}
	a := &obj.Artifacts[0]
	w := formattest.UnwindOf(t, &Format, a)
	out, err := exec.Command(tool, "--unwind", path).Output()
	if err != nil {
		t.Logf("%s: llvm-readobj: %v: what it printed before counts", path, err)
	}
	functions := parseUnwind(out)
	byStart := map[uint64]*undone{}
	for _, f := range functions {
		byStart[f.start] = f
	}
	asked, differ := 0, 0
	for _, f := range functions {
		for at, skip := range f.places(a.Arch) {
			want, out, ok := f.undo(a.Arch, skip, byStart)
			if !ok {
				continue
			}
			asked++
			rules, err := unwind.Decode(w.At(f.start + at - a.Base))
			if err != nil {
				t.Fatal(err)
			}
			if got := plain(&rules, w.Arch, out); got != want {
				if differ++; differ <= 5 {
					t.Errorf("%#x+%d: %s, want %s", f.start, at, got, want)
				}
			}
		}
	}
	t.Logf("%s: %d functions, %d places, %d differ", path, len(functions), asked, differ)
}

// places are the offsets of each step's end, and of the body, with the steps that are undone there.
func (f *undone) places(arch string) map[uint64][]step {
	all := map[uint64][]step{}
	if arch == "x86_64" {
		all[0] = nil
		for i := len(f.prolog) - 1; i >= 0; i-- {
			all[f.prolog[i].end] = f.prolog[i:]
		}
		return all
	}
	own := ownSteps(f.prolog)
	for i := range own + 1 {
		all[uint64(4*(own-i))] = f.prolog[i:]
	}
	for start, steps := range f.epilogs {
		for j := range ownSteps(steps) + 1 {
			all[start+uint64(4*j)] = steps[j:]
		}
	}
	if start := uint64(4 * (ownSteps(f.last) + 1)); f.last != nil && start <= f.length {
		for j := range ownSteps(f.last) + 1 {
			all[f.length-start+uint64(4*j)] = f.last[j:]
		}
	}
	for at := range all {
		if at >= f.length {
			delete(all, at)
		}
	}
	return all
}

// ownSteps counts the steps up to the end of a part of a function.
func ownSteps(steps []step) int {
	for i, s := range steps {
		if s.text == "end_c" {
			return i
		}
	}
	return len(steps)
}

// plain prints the compared rules: of the address, the return address, and saved registers but the left out ones.
func plain(r *unwind.Rules, a *unwind.Arch, out map[uint8]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%+d", a.Names[r.CFA.Reg], r.CFA.Offset)
	if r.RA.How == unwind.Saved && !out[a.LR] {
		fmt.Fprintf(&b, " ra%+d", r.RA.Offset)
	}
	for i := range r.Regs {
		if r.Regs[i].How == unwind.Saved && !out[uint8(i)] {
			fmt.Fprintf(&b, " %s%+d", a.Names[i], r.Regs[i].Offset)
		}
	}
	return b.String()
}

var (
	number  = regexp.MustCompile(`(?:0x[0-9A-F]+|\d+)`)
	storing = regexp.MustCompile(`^(?:stp|str|ldp|ldr) (\w+),(?: (\w+),)? \[sp(?:, #(-?\d+))?\](!|, #(\d+))?$`)
)

// undo takes the steps back. out are registers that were saved before the frame pointer was set back: where they are follows from
// another register than the address. false: an answer of ours and the oracle's cannot be compared.
func (f *undone) undo(arch string, steps []step, byStart map[uint64]*undone) (want string, out map[uint8]bool, ok bool) {
	a := unwind.ArchOf(arch)
	base, d := a.SP, int64(0)
	saved := map[uint8]int64{} // from base
	out = map[uint8]bool{}
	rebase := func(to uint8, at int64) {
		for r := range saved {
			out[r] = true
		}
		base, d, saved = to, at, map[uint8]int64{}
	}
	next := 0
	for part := f; ; {
		frame := int64(0) // of x86-64: offsets of saved registers count from here
		for _, s := range steps {
			if strings.HasPrefix(s.text, "SET_FPREG") {
				rebase(part.frame, -part.frameOffset)
				frame = d
				for _, s := range steps {
					if strings.HasPrefix(s.text, "SAVE_NONVOL") {
						return "", nil, false
					}
				}
			}
			n := int64(0)
			if all := number.FindAllString(s.text[strings.LastIndexAny(s.text, "=#")+1:], -1); len(all) > 0 {
				n, _ = strconv.ParseInt(all[0], 0, 64)
			}
			reg := unwind.None
			if _, rest, ok := strings.Cut(s.text, "reg="); ok {
				name, _, _ := strings.Cut(rest, ",")
				reg = int(a.Register(strings.ToLower(name)))
			}
			word, _, _ := strings.Cut(s.text, " ")
			switch word {
			case "ALLOC_SMALL", "ALLOC_LARGE":
				d += n
			case "PUSH_NONVOL":
				saved[uint8(reg)] = d
				d += 8
			case "SAVE_NONVOL":
				saved[uint8(reg)] = frame + n
			case "SET_FPREG", "SAVE_XMM128", "end", "end_c", "nop", "pacibsp", "autibsp":
			case "save", "restore":
				next++
			case "sub", "add":
				if strings.HasPrefix(s.text, "add fp") || strings.HasPrefix(s.text, "add x29") || strings.HasPrefix(s.text, "sub sp, fp") {
					rebase(a.FP, -n)
				} else {
					d += n
				}
			case "mov":
				rebase(a.FP, 0)
			case "stp", "str", "ldp", "ldr":
				m := storing.FindStringSubmatch(s.text)
				if m == nil {
					return "", nil, false
				}
				at, _ := strconv.ParseInt(m[3], 10, 64)
				grow := int64(0)
				if m[4] == "!" {
					at, grow = 0, -at
				} else if m[5] != "" {
					grow, _ = strconv.ParseInt(m[5], 10, 64)
					at = 0
				}
				for i, name := range m[1:3] {
					if r := a.Register(strings.Replace(name, "lr", "x30", 1)); name != "" && r != unwind.None {
						saved[r] = d + at + 8*int64(i)
						for k := 1; k <= next && (i == 1 || m[2] == ""); k++ {
							saved[r-1+2*uint8(k)], saved[r+2*uint8(k)] = d+at+16*int64(k), d+at+16*int64(k)+8
						}
					}
				}
				next = 0
				d += grow
			default:
				return "", nil, false
			}
		}
		if part.chained == 0 {
			break
		}
		if part = byStart[part.chained]; part == nil {
			return "", nil, false
		}
		steps = part.prolog
	}
	r := unwind.Rules{}
	if arch == "x86_64" {
		r.RA = unwind.Rule{How: unwind.Saved, Offset: -8}
		d += 8
	}
	r.CFA = unwind.Rule{How: unwind.Register, Reg: base, Offset: d}
	for reg, at := range saved {
		rule := unwind.Rule{How: unwind.Saved, Offset: at - d}
		if reg == a.LR {
			r.RA = rule
		} else {
			r.Regs[reg] = rule
		}
	}
	return plain(&r, a, out), out, true
}

// parseUnwind reads what llvm-readobj --unwind prints.
func parseUnwind(out []byte) (all []*undone) {
	var f *undone
	var steps *[]step
	var epilog []step
	offset, chain := uint64(0), false
	value := func(line string) uint64 {
		found := number.FindAllString(line, -1)
		if len(found) == 0 {
			return 0
		}
		v, _ := strconv.ParseUint(found[len(found)-1], 0, 64)
		return v
	}
	flush := func() {
		if f != nil && epilog != nil {
			f.epilogs[offset] = epilog
		}
		epilog = nil
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		key, rest, _ := strings.Cut(line, ": ")
		switch {
		case line == "RuntimeFunction {":
			flush()
			f = &undone{epilogs: map[uint64][]step{}}
			all, chain = append(all, f), false
		case f == nil:
		case line == "Chained {":
			chain = true
		case key == "StartAddress" && chain:
			f.chained = value(rest)
		case chain:
		case key == "StartAddress" || key == "Function":
			f.start = value(rest)
		case key == "EndAddress":
			f.length = value(rest) - f.start
		case key == "FunctionLength":
			f.length = value(rest)
		case key == "FrameRegister" && rest != "-":
			name, _, _ := strings.Cut(strings.ToLower(rest), " ")
			f.frame = unwind.ArchOf("x86_64").Register(name)
		case key == "FrameOffset" && rest != "-":
			f.frameOffset = int64(value(rest)) * 16
		case line == "UnwindCodes [" || line == "Prologue [":
			steps = &f.prolog
		case line == "Epilogue [":
			f.last = []step{}
			steps = &f.last
		case key == "StartOffset":
			flush()
			offset = value(rest) * 4
		case line == "Opcodes [":
			epilog = []step{}
			steps = &epilog
		case line == "]":
			steps = nil
		case steps != nil:
			at := uint64(0)
			if code, text, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(code, "0x") {
				at, _ = strconv.ParseUint(code, 0, 64)
				line = text
			}
			if _, text, ok := strings.Cut(line, "; "); ok {
				line = text
			}
			if line != "end" {
				*steps = append(*steps, step{line, at})
			}
		}
	}
	flush()
	return all
}
