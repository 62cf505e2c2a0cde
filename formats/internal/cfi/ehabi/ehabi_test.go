package ehabi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/elffile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// read returns the rules of functions by address, as text.
func read(t testing.TB, x *Index, base uint64, code []native.Span) (map[uint64]string, symbol.Quality) {
	t.Helper()
	lim := formats.Limits{}.WithDefaults()
	rows := map[uint64]string{}
	tab := cfi.NewTable(base, code, &lim, func(u *symbol.Unwind) error {
		for _, g := range u.Ranges {
			r, err := unwind.Decode(u.Rules[g.Rules])
			if err != nil {
				t.Fatal(err)
			}
			rows[g.Start+base] = r.Text(unwind.ArchOf("arm"))
		}
		return nil
	})
	tab.Rank = symbol.UnwindCompact
	if err := Read(context.Background(), x, tab); err != nil {
		t.Fatal(err)
	}
	if err := tab.Flush(); err != nil {
		t.Fatal(err)
	}
	return rows, tab.Quality
}

var (
	functionLine = regexp.MustCompile(`FunctionAddress: 0x([0-9A-F]+)`)
	opcodeLine   = regexp.MustCompile(`^ *0x[0-9A-F ]+x?[0-9A-F]* *; (.*)$`)
	cannotLine   = regexp.MustCompile(`Model: (CantUnwind|Generic)`)
)

// Rules follow from the opcodes that llvm-readobj prints. SYMLAKE_FRAMES names more files.
func TestIndex(t *testing.T) {
	tool := formattest.Tool(t, "llvm-readobj-19", "apt install llvm-19")
	files := []string{formattest.Testdata(t, "elf/libgame-armv7-dw4.so"), formattest.Testdata(t, "elf/libgame-armv7thumb-dw5.so")}
	for _, file := range append(files, strings.Fields(os.Getenv("SYMLAKE_FRAMES"))...) {
		f, err := elffile.Open(formattest.Input(t, file))
		if err != nil {
			t.Fatal(err)
		}
		code, err := f.Code()
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.ARMIndex()
		if s == nil || err != nil {
			t.Fatal(s, err)
		}
		memory, err := f.Loaded(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, q := read(t, &Index{In: s.In, Addr: s.Addr, Memory: memory.View}, f.Base(), code)
		if q.UnitsBroken != 0 {
			t.Errorf("%s: %+v", file, q)
		}
		out, err := exec.Command(tool, "--unwind", file).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := map[uint64]string{}
		var order []uint64
		for _, text := range strings.Split(string(out), "      Entry {")[1:] {
			addr, _ := strconv.ParseUint(functionLine.FindStringSubmatch(text)[1], 16, 64)
			order = append(order, addr)
			want[addr] = expected(text)
		}
		last := ""
		for i, addr := range order {
			rules, ours := got[addr]
			if !ours {
				rules = last // joined with the function before
			}
			if last = rules; rules != want[addr] && want[addr] != "" && i+1 < len(order) {
				t.Errorf("%s at %#x: %s, want %s", file, addr, rules, want[addr])
			}
		}
		t.Logf("%s: %d functions", file, len(order))
	}
}

// expected is a plain reading of an entry that llvm-readobj prints. "": it prints no opcodes.
func expected(text string) string {
	if m := cannotLine.FindStringSubmatch(text); m != nil {
		if m[1] == "Generic" {
			return ""
		}
		return ".cfa: $sp 0 + .ra: .undef"
	}
	base, offset := "sp", 0
	saved := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		m := opcodeLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var n int
		switch op := m[1]; {
		case op == "finish":
		case strings.HasPrefix(op, "pop {d"):
			offset += 8 * (strings.Count(op, ",") + 1)
		case strings.HasPrefix(op, "pop {"):
			for _, r := range strings.Split(strings.Trim(op[4:], "{}"), ", ") {
				saved[r] = offset
				offset += 4
			}
		case scan(op, "vsp = vsp + %d", &n):
			offset += n
		case scan(op, "vsp = vsp - %d", &n):
			offset -= n
		default:
			base, offset = strings.TrimPrefix(op, "vsp = "), 0
		}
	}
	rules := fmt.Sprintf(".cfa: $%s %d +", base, offset)
	if at, ok := saved["lr"]; ok {
		rules += fmt.Sprintf(" .ra: .cfa %d + ^", at-offset)
	}
	for _, r := range unwind.ArchOf("arm").Names {
		name := r
		if r == "r11" {
			name = "fp"
		}
		if r == "r12" {
			name = "ip"
		}
		if at, ok := saved[name]; ok && r != "lr" {
			rules += fmt.Sprintf(" $%s: .cfa %d + ^", r, at-offset)
		}
	}
	return strings.Replace(strings.Replace(rules, "$fp ", "$r11 ", 1), "$ip ", "$r12 ", 1)
}

func scan(text, format string, to *int) bool {
	n, err := fmt.Sscanf(text, format, to)
	return n == 1 && err == nil
}
