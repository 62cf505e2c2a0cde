package breakpad

import (
	"encoding/json"
	"fmt"
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

// dump_syms of Windows writes PDBs: an id of GUID and age, the image's file in INFO CODE_ID, STACK WIN records.
const windows = "MODULE windows x86_64 0B2B9C7E5F4D4A3C8E1D2F3A4B5C6D7E2A game.pdb\nINFO CODE_ID 65A1B2C31F000 game.exe\n" +
	"FILE 1 d:\\src\\main.cpp\nFUNC m 1000 20 8 static void Cart::add(int)\n1000 8 4 1\n1008 18 5 1\n" +
	"PUBLIC m 1020 0 __chkstk\nPUBLIC 1040 10 ?run@@YAXXZ\nSTACK WIN 4 1000 20 5 0 8 0 0 0 1 $eip 4 + ^ =\nSTACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"

func TestWindows(t *testing.T) {
	const guid = "0b2b9c7e-5f4d-4a3c-8e1d-2f3a4b5c6d7e"
	a := &formattest.Open(t, &Format, formattest.InputOf("game.sym", []byte(windows), formats.Limits{})).Artifacts[0]
	if a.Kind != symbol.PE || a.Canonical != guid+"-2a" || a.Arch != "x86_64" || a.ID != symbol.NewID(symbol.PE, guid+"-2a") {
		t.Errorf("%+v", a.Artifact)
	}
	for _, n := range []symbol.Name{{Kind: symbol.NameDebugID, Text: guid}, {Kind: symbol.NameDebugID, Text: guid + "-2a"},
		{Kind: symbol.NameDebugID, Text: strings.ReplaceAll(guid, "-", "") + "2a"},
		{Kind: symbol.NameFile, Text: "game.pdb"}, {Kind: symbol.NameFile, Text: "game.exe"}} {
		if !slices.Contains(a.Names, n) {
			t.Errorf("%v is no name: %v", n, a.Names)
		}
	}
	fl, err := formattest.Flatten(t.Context(), &Format, a)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[uint64]symbol.Frame{
		0x1009: {Linkage: "static void Cart::add(int)", File: `d:\src\main.cpp`, Line: 5}, 0x1021: {Linkage: "__chkstk"}, 0x1041: {Linkage: "?run@@YAXXZ"},
	} {
		if got := fl.At(at); len(got) != 1 || got[0] != want {
			t.Errorf("%#x: %v", at, got)
		}
	}
}

// Files as editors and other tools leave them answer the same.
func TestOddFiles(t *testing.T) {
	answers := func(text string) (string, []string) {
		a := &formattest.Open(t, &Format, formattest.InputOf("x.sym", []byte(text), formats.Limits{})).Artifacts[0]
		fl, err := formattest.Flatten(t.Context(), &Format, a)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for at := uint64(0xff8); at < 0x2008; at += 4 {
			all = append(all, fmt.Sprint(fl.At(at)))
		}
		return a.Canonical, all
	}
	id, want := answers(small)
	for name, text := range map[string]string{
		"CRLF":                strings.ReplaceAll(small, "\n", "\r\n"),
		"a byte order mark":   "\ufeff" + small,
		"an id in lower case": strings.Replace(small, "0102030405060708090A0B0C0D0E0F100", "0102030405060708090a0b0c0d0e0f100", 1),
		"an id without age":   strings.Replace(small, "090A0B0C0D0E0F100", "090A0B0C0D0E0F10", 1),
		"no line end":         strings.TrimSuffix(small, "\n"),
		"blank lines":         strings.ReplaceAll(small, "\n", "\n\n"),
		"digits in capitals":  strings.NewReplacer("FUNC 1000 40", "FUNC 00001000 00040", "1028 8 31", "1028 8 31", "1080", "00001080").Replace(small),
	} {
		gotID, got := answers(text)
		if gotID != id || !slices.Equal(got, want) {
			t.Errorf("%s: %s %v", name, gotID, got)
		}
	}
	// A line whose file has no record keeps its number, and addresses may have capitals.
	a := &formattest.Open(t, &Format, formattest.InputOf("x.sym", []byte("MODULE Linux x86 0102030405060708090A0B0C0D0E0F100 x\nFUNC ABC0 20 0 f\nABC0 10 7 99\nFILE 1 late.c\nABD0 10 8 1\n"), formats.Limits{})).Artifacts[0]
	fl, err := formattest.Flatten(t.Context(), &Format, a)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[uint64]symbol.Frame{0xabc4: {Linkage: "f", Line: 7}, 0xabd4: {Linkage: "f", File: "late.c", Line: 8}} {
		if got := fl.At(at); len(got) != 1 || got[0] != want {
			t.Errorf("%#x: %v", at, got)
		}
	}
}

func FuzzObject(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(windows))
	f.Add([]byte("MODULE mac arm64 0102030405060708090A0B0C0D0E0F100 x\nFUNC 0 ffffffffffffffff 0 a\nINLINE 0 0 0 0 0 ffffffffffffffff\nffffffffffffffff 1 1 1\nPUBLIC ffffffffffffffff 0 x\n"))
	f.Add([]byte("MODULE windows x86 000102030405060708090A0B0C0D0E0F1 x.pdb\nFUNC 1000 1000 0 f\nSTACK CFI INIT 1000 20 .cfa: $esp 4 + .ra: .cfa -4 + ^\n" +
		"STACK CFI 1001 .cfa: $esp 8 + $ebp: .cfa -8 + ^\nSTACK WIN 4 1020 50 5 0 8 c 10 0 1 $T0 .raSearch =\nSTACK WIN 0 1030 10 5 0 8 4 10 0 0 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &Format, "MODULE ", data) })
}
