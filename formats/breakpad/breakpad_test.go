package breakpad

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

var fixtures = []string{
	"elf/dump_syms/basic.dbg.sym",
	"elf/dump_syms/basic.dwz.inlines.sym",
	"elf/dump_syms/basic.full.inlines.sym",
	"elf/dump_syms/basic.full.sym",
	"elf/dump_syms/basic.minidebuginfo.sym",
	"macho/symbolic/golden/crash.inlines.sym",
	"macho/symbolic/golden/crash.sym",
}

func flat(t *testing.T, path string) *formattest.Flat {
	t.Helper()
	obj := formattest.Open(t, &Format, formattest.Input(t, path))
	if len(obj.Artifacts) != 1 {
		t.Fatalf("%s: %d artifacts", path, len(obj.Artifacts))
	}
	fl, err := formattest.Flatten(t.Context(), &Format, &obj.Artifacts[0])
	if err != nil {
		t.Fatal(err)
	}
	return fl
}

// TestImages: what symbol files say of an image is what llvm-symbolizer says of
// the image itself, but for columns, which they do not have.
func TestImages(t *testing.T) {
	for _, c := range []struct {
		file, golden string
		base         uint64
		inlines      bool
		cases        int
	}{
		{"elf/dump_syms/basic.full.inlines.sym", "elf/dump_syms/basic.full.golden.json", 0, true, 19},
		{"elf/dump_syms/basic.full.sym", "elf/dump_syms/basic.full.golden.json", 0, false, 19},
		{"elf/dump_syms/basic.dbg.sym", "elf/dump_syms/basic.dbg.golden.json", 0, false, 19},
		{"macho/symbolic/golden/crash.inlines.sym", "macho/symbolic/crash.dSYM.golden.json", 1 << 32, true, 150},
		{"macho/symbolic/golden/crash.sym", "macho/symbolic/crash.dSYM.golden.json", 1 << 32, false, 150},
	} {
		t.Run(c.file, func(t *testing.T) {
			b, err := os.ReadFile(formattest.Fixture(t, c.golden))
			if err != nil {
				t.Fatal(err)
			}
			var golden struct {
				Cases []struct {
					Addr   string
					Frames []struct {
						Linkage, Demangled, File string
						Line                     uint32
					}
				}
			}
			if err := json.Unmarshal(b, &golden); err != nil {
				t.Fatal(err)
			}
			fl := flat(t, formattest.Fixture(t, c.file))
			reasons := map[string]int{}
			for _, k := range golden.Cases {
				addr, err := strconv.ParseUint(k.Addr, 0, 64)
				if err != nil {
					t.Fatal(err)
				}
				var want []symbol.Frame
				for _, f := range k.Frames {
					name := f.Demangled
					if name == "" {
						name = f.Linkage
					}
					want = append(want, symbol.Frame{Linkage: name, File: f.File, Line: f.Line})
				}
				got := fl.At(addr - c.base)
				if n := len(want) - 1; !c.inlines && n > 0 { // the outermost function, and where it calls; in old files, the innermost place
					place := want[n]
					if c.base != 0 {
						place = want[0]
					}
					want = []symbol.Frame{{Linkage: want[n].Linkage, File: place.File, Line: place.Line}}
				}
				if reason := differs(want, got); reason == "?" {
					t.Errorf("%s:\nwant %v\ngot  %v", k.Addr, want, got)
				} else if reason != "" {
					reasons[reason]++
				}
			}
			if len(golden.Cases) < c.cases {
				t.Errorf("%d cases, want %d", len(golden.Cases), c.cases)
			}
			for reason, n := range reasons {
				t.Logf("%d of %d: %s", n, len(golden.Cases), reason)
			}
		})
	}
}

// differs says why an answer may be another than the image's: "" if it is not,
// "?" if there is no reason.
func differs(want, got []symbol.Frame) string {
	if len(got) == 0 && len(want) == 1 && want[0].Line == 0 {
		return "dump_syms left the symbol out"
	}
	if len(want) != len(got) {
		return "?"
	}
	reason := ""
	for i, w := range want {
		if g := got[i]; g != w {
			if g.File != w.File && g.File != path.Clean(w.File) || g.Line != w.Line {
				return "?"
			}
			reason = "dump_syms spells the name otherwise"
		}
	}
	return reason
}

// TestRecords reads every line record again, in the plainest way: at its first
// and its last byte the answer is the record's place, in the record's function.
func TestRecords(t *testing.T) {
	for _, name := range fixtures {
		t.Run(name, func(t *testing.T) {
			path := formattest.Fixture(t, name)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fl := flat(t, path)
			files := map[string]string{}
			function, end, n := "", uint64(0), 0
			hex := func(s string) uint64 {
				v, err := strconv.ParseUint(s, 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			for line := range strings.Lines(string(b)) {
				w := strings.Fields(line)
				switch w[0] {
				case "FILE":
					files[w[1]] = strings.Join(w[2:], " ")
				case "FUNC":
					if w[1] == "m" {
						w = w[1:]
					}
					function, end = strings.Join(w[4:], " "), hex(w[1])+hex(w[2])
				case "MODULE", "INFO", "INLINE", "INLINE_ORIGIN", "STACK":
				case "PUBLIC":
					w = w[1:]
					if got := fl.At(hex(w[0])); len(got) == 0 {
						t.Errorf("no answer at %s", line)
					}
				default:
					first := hex(w[0])
					last := min(first+hex(w[1]), end) - 1
					for _, at := range []uint64{first, last} {
						got := fl.At(at)
						if len(got) == 0 || got[len(got)-1].Linkage != function || got[0].File != files[w[3]] || strconv.Itoa(int(got[0].Line)) != w[2] {
							t.Errorf("%#x: %v, want %s %s:%s", at, got, function, files[w[3]], w[2])
						}
						n++
					}
				}
			}
			t.Logf("%d places", n)
		})
	}
}

func TestConformance(t *testing.T) {
	var paths []string
	for _, n := range fixtures[:6] {
		paths = append(paths, formattest.Fixture(t, n))
	}
	formattest.Run(t, &Format, paths...)
}

const small = `MODULE Linux arm64 0102030405060708090A0B0C0D0E0F100 libx.so
INFO CODE_ID 04030201060508070 9
FILE 0 a.c
FILE 7 b c.h
INLINE_ORIGIN 0 in(int)
INLINE_ORIGIN 1 deeper
FUNC 1000 40 0 outer(char const*)
INLINE 0 5 0 0 1010 20
INLINE 1 9 7 1 1014 4 1020 8
1000 10 4 0
1010 4 20 7
1014 4 30 7
1018 8 21 7
1020 8 31 7
1030 8 6 0
FUNC m 1040 10 0 same
PUBLIC m 1100 0 _start
PUBLIC 1080 0 init
STACK CFI INIT 1000 40 .cfa: sp 0 +
`

func TestSmall(t *testing.T) {
	in := formattest.InputOf("x.sym", []byte(small), formats.Limits{})
	obj := formattest.Open(t, &Format, in)
	a := &obj.Artifacts[0]
	if a.Canonical != "0403020106050807090a0b0c0d0e0f10" || a.Arch != "arm64" || a.Kind != symbol.ELF || a.End != 0x2000 {
		t.Errorf("%+v", a.Artifact)
	}
	fl, err := formattest.Flatten(t.Context(), &Format, a)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[uint64]string{
		0xfff:  "",
		0x1000: "outer(char const*) a.c:4",
		0x1010: "in(int) b c.h:20 < outer(char const*) a.c:5",
		0x1014: "deeper b c.h:30 < in(int) b c.h:9 < outer(char const*) a.c:5",
		0x1018: "in(int) b c.h:21 < outer(char const*) a.c:5",
		0x1027: "deeper b c.h:31 < in(int) b c.h:9 < outer(char const*) a.c:5",
		0x1028: "in(int) :0 < outer(char const*) a.c:5",
		0x1037: "outer(char const*) a.c:6",
		0x1038: "outer(char const*) :0",
		0x1040: "same :0",
		0x1050: "",
		0x1080: "init :0",
		0x10ff: "init :0",
		0x1100: "_start :0",
		0x1fff: "_start :0",
		0x2000: "",
	} {
		var frames []string
		for _, f := range fl.At(at) {
			frames = append(frames, f.Linkage+" "+f.File+":"+strconv.Itoa(int(f.Line)))
		}
		if got := strings.Join(frames, " < "); got != want {
			t.Errorf("%#x: %q, want %q", at, got, want)
		}
	}
}

// The form of 2021: the place of a call has a line and no file, and an origin has a file before its name.
func TestOldInlines(t *testing.T) {
	text := strings.NewReplacer("INLINE 0 5 0 0 ", "INLINE 0 5 0 ", "INLINE 1 9 7 1 ", "INLINE 1 9 1 ",
		"ORIGIN 0 in", "ORIGIN 0 7 in", "ORIGIN 1 deeper", "ORIGIN 1 -1 deeper").Replace(small)
	a := &formattest.Open(t, &Format, formattest.InputOf("x.sym", []byte(text), formats.Limits{})).Artifacts[0]
	fl, err := formattest.Flatten(t.Context(), &Format, a)
	if err != nil {
		t.Fatal(err)
	}
	want := []symbol.Frame{{Linkage: "deeper", File: "b c.h", Line: 30}, {Linkage: "in(int)", Line: 9}, {Linkage: "outer(char const*)", Line: 5}}
	if got := fl.At(0x1014); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func FuzzObject(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("MODULE mac arm64 0102030405060708090A0B0C0D0E0F100 x\nFUNC 0 ffffffffffffffff 0 a\nINLINE 0 0 0 0 0 ffffffffffffffff\nffffffffffffffff 1 1 1\nPUBLIC ffffffffffffffff 0 x\n"))
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &Format, "MODULE ", data) })
}
