package formattest

import (
	"bufio"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// Frames compares the call frame information of an artifact with the rows that llvm-dwarfdump prints of the files, at the
// first and the last place of each row. It returns how many rows it has compared.
func Frames(t *testing.T, f *formats.Format, a *formats.Artifact, files ...string) int {
	t.Helper()
	tool := Tool(t, "llvm-dwarfdump-19", "apt install llvm-19")
	want := &Unwound{Arch: unwind.ArchOf(a.Arch), Rules: []string{""}}
	var pieces []unwindPiece
	for _, file := range files {
		for i, section := range []string{"--debug-frame", "--eh-frame"} {
			out, err := exec.Command(tool, append(dumpArch(a), section, file)...).Output()
			if err != nil {
				t.Fatalf("llvm-dwarfdump %s %s: %v", section, file, err)
			}
			d := frameDump{t: t, arch: want.Arch, w: want, base: a.Base, end: a.End, rank: symbol.UnwindRank(i) + symbol.UnwindDebug, seen: map[string]uint32{}}
			d.read(string(out), section == "--eh-frame")
			pieces = append(pieces, d.pieces...)
		}
	}
	want.settle(pieces)
	got := UnwindOf(t, f, a)
	bad := 0
	for _, g := range want.Ranges {
		for _, pos := range []uint64{g.Start, g.End - 1} {
			if w := want.At(pos); w != got.At(pos) {
				if bad++; bad <= 5 {
					t.Errorf("%s at %#x: %q, want %q", files[0], pos+a.Base, got.Text(pos), want.Text(pos))
				}
			}
		}
	}
	if bad > 0 {
		t.Errorf("%s: %d of %d places differ", files[0], bad, 2*len(want.Ranges))
	}
	compact := a.Kind == symbol.MachO || want.Arch.Name == "arm" // another table speaks of other functions
	for _, g := range got.Ranges {
		if !compact && bad < 10 && (want.At(g.Start) == "" || want.At(g.End-1) == "") {
			bad++
			t.Errorf("%s: [%#x, %#x) has rules, want none: %s", files[0], g.Start+a.Base, g.End+a.Base, got.Text(g.Start))
		}
	}
	return len(want.Ranges)
}

// FrameRow returns the coded rules of a row as llvm-dwarfdump prints it, "CFA=RSP+8: RIP=[CFA-8]".
func FrameRow(t *testing.T, arch, row string) string {
	t.Helper()
	d := frameDump{t: t, arch: unwind.ArchOf(arch)}
	d.ra = map[string]string{"x86_64": "16", "arm64": "30"}[arch]
	return d.rules(row)
}

// dumpArch is the flag by which llvm-dwarfdump picks a slice.
func dumpArch(a *formats.Artifact) []string {
	switch {
	case a.Kind != symbol.MachO:
		return nil
	case a.Arch == "x86":
		return []string{"--arch=i386"}
	}
	return []string{"--arch=" + a.Arch}
}

// frameDump reads what llvm-dwarfdump prints.
type frameDump struct {
	t         *testing.T
	arch      *unwind.Arch
	w         *Unwound
	base, end uint64
	rank      symbol.UnwindRank
	ra        string
	ras       map[string]string // by the offset of a common part
	seen      map[string]uint32
	pieces    []unwindPiece
}

var (
	frameHead = regexp.MustCompile(`^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (CIE|FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.\.([0-9a-f]+))`)
	frameRA   = regexp.MustCompile(`^  Return address column: (\d+)`)
	frameRow  = regexp.MustCompile(`^  0x([0-9a-f]+): CFA=(.*)$`)
	frameRule = regexp.MustCompile(`(?:: |, )([A-Za-z0-9_]+)=`)
)

func (d *frameDump) read(text string, runtime bool) {
	d.ras = map[string]string{}
	var cie string
	var end uint64
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := frameHead.FindStringSubmatch(line); m != nil {
			cie = m[1]
			if m[3] != "" {
				d.ra = d.ras[strings.TrimLeft(m[3], "0")]
				end, _ = strconv.ParseUint(m[5], 16, 64)
			}
		}
		if m := frameRA.FindStringSubmatch(line); m != nil {
			d.ras[strings.TrimLeft(cie, "0")] = m[1]
		}
		if m := frameRow.FindStringSubmatch(line); m != nil {
			start, _ := strconv.ParseUint(m[1], 16, 64)
			d.row(start, end, m[2])
		}
	}
	// A row reaches to the next one of its function.
	for i := range d.pieces {
		if i+1 < len(d.pieces) && d.pieces[i+1].Start < d.pieces[i].End && d.pieces[i+1].End == d.pieces[i].End {
			d.pieces[i].End = d.pieces[i+1].Start
		}
	}
}

// row adds the rules of one row, which is taken to reach to the function's end.
func (d *frameDump) row(start, end uint64, text string) {
	if start < d.base || start-d.base >= d.end || start >= end {
		return
	}
	coded := d.rules("CFA=" + text)
	n, ok := d.seen[coded]
	if !ok {
		n = uint32(len(d.w.Rules))
		d.w.Rules, d.seen[coded] = append(d.w.Rules, coded), n
	}
	d.pieces = append(d.pieces, unwindPiece{symbol.UnwindRange{Start: start - d.base, End: min(end-d.base, d.end), Rules: n}, d.rank})
}

func (d *frameDump) rules(text string) string {
	var r unwind.Rules
	at := frameRule.FindAllStringSubmatchIndex(text, -1)
	end := len(text)
	if len(at) > 0 {
		end = at[0][0]
	}
	r.CFA = d.rule(text[len("CFA="):end])
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		switch n := d.register(text[m[2]:m[3]]); {
		case strconv.Itoa(int(n)) == d.ra:
			r.RA = d.rule(text[m[1]:end])
		case n != unwind.None:
			r.Regs[n] = d.rule(text[m[1]:end])
		}
	}
	return string(r.Append(nil))
}

func (d *frameDump) rule(text string) unwind.Rule {
	switch text {
	case "same":
		return unwind.Rule{How: unwind.Same}
	case "undefined":
		return unwind.Rule{How: unwind.Undefined}
	case "unspecified":
		return unwind.Rule{}
	}
	inner, saved := strings.CutPrefix(text, "[")
	inner = strings.TrimSuffix(inner, "]")
	words := d.words(inner)
	if saved {
		words += " ^"
	}
	var r unwind.Rules
	if err := r.Merge(d.arch, ".cfa: "+words); err != nil {
		d.t.Fatalf("%q as %q: %v", text, words, err)
	}
	return r.CFA
}

// words turns a place as llvm-dwarfdump prints it into an expression of Breakpad's.
func (d *frameDump) words(text string) string {
	if !strings.HasPrefix(text, "DW_OP_") {
		return d.based(text)
	}
	var out []string
	for _, op := range strings.Split(text, ", ") {
		name, operand, _ := strings.Cut(strings.TrimPrefix(op, "DW_OP_"), " ")
		plain := map[string]string{"and": "&", "or": "|", "plus": "+", "minus": "-", "mul": "*", "shl": "<<", "shr": ">>", "shra": "sar",
			"ge": ">=", "le": "<=", "gt": ">", "lt": "<", "eq": "==", "ne": "!=", "deref": "^", "call_frame_cfa": ".cfa"}[name]
		switch {
		case plain != "":
			out = append(out, plain)
		case strings.HasPrefix(name, "lit"):
			out = append(out, name[3:])
		case strings.HasPrefix(name, "breg"):
			out = append(out, d.based(operand))
		case name == "plus_uconst":
			out = append(out, operand, "+")
		case strings.HasPrefix(name, "const"):
			out = append(out, strings.TrimPrefix(operand, "+"))
		default:
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// based is a register with an offset, "RSP+8".
func (d *frameDump) based(text string) string {
	i := strings.IndexAny(text, "+-")
	if i < 0 {
		i = len(text)
	}
	name := ".cfa"
	if text[:i] != "CFA" {
		n := d.register(text[:i])
		if n == unwind.None {
			d.t.Fatalf("a place of register %q", text)
		}
		name = "$" + d.arch.Names[n]
	}
	if i == len(text) || text[i:] == "+0" {
		return name
	}
	return name + " " + strings.TrimPrefix(text[i:], "+") + " +"
}

// register is the number of a register by LLVM's name; None: it is no integer register.
func (d *frameDump) register(name string) uint8 {
	lower := strings.ToLower(name)
	if rest, ok := strings.CutPrefix(lower, "reg"); ok {
		if n, err := strconv.Atoi(rest); err == nil && n < len(d.arch.Names) {
			return uint8(n)
		}
		return unwind.None
	}
	switch d.arch.Name {
	case "arm64":
		if lower == "wsp" {
			lower = "sp"
		} else if lower[0] == 'w' {
			lower = "x" + lower[1:]
		}
	case "riscv64":
		if n, err := strconv.Atoi(strings.TrimPrefix(lower, "x")); err == nil && n < 32 {
			return uint8(n)
		}
	}
	return d.arch.Register(lower)
}
