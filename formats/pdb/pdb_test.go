package pdb

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/demangle/msvc"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

func TestGoldens(t *testing.T) {
	formattest.Goldens(t, &Format, formattest.Testdata(t, "pdb"), nil, func(*testing.T, string) formattest.Known { return known })
}

// known are the rules by which answers differ from llvm-symbolizer 19.
func known(_ uint64, want, got []symbol.Frame) string {
	if len(got) == 0 && len(want) == 1 && want[0].File == "" {
		return "behind a static function, and outside the code, LLVM gives the public symbol before"
	}
	if len(want) != len(got) {
		return ""
	}
	for i, w := range want {
		g := got[i]
		switch {
		case g.Linkage != w.Linkage && g.Linkage != msvc.Undecorated(w.Linkage):
			return ""
		case g.Linkage != w.Linkage:
			w.Linkage = g.Linkage
			if g != w {
				return known(0, []symbol.Frame{w}, []symbol.Frame{g})
			}
		case g == w:
		case g.File != w.File && strings.HasSuffix(g.File, "other.inc") || g.File != w.File && strings.HasSuffix(w.File, "other.inc"):
			return "LLVM does not sort the lines of several files in one function"
		case g.File == w.File && w.Column == 0 || g.Line != w.Line:
			return "of two lines that begin at one address LLVM gives the first, at that address alone"
		default:
			return ""
		}
	}
	return "names of C have no decoration here"
}

func fixtures(t testing.TB) []string {
	list, err := filepath.Glob(filepath.Join(formattest.Testdata(t, "pdb"), "*.pdb"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no PDB files: %v", err)
	}
	return list
}

func TestConformance(t *testing.T) { formattest.Run(t, &Format, fixtures(t)...) }

// An image and its PDB file are one artifact.
func TestIdentity(t *testing.T) {
	obj := formattest.Open(t, &Format, formattest.Input(t, fixtures(t)[1]))
	a := obj.Artifacts[0]
	if a.Kind != symbol.PE || a.Arch != "x86_64" || a.Base != 0 || len(a.Artifact.Parts) == 0 {
		t.Errorf("%+v", a.Artifact)
	}
	if guid, age, _ := cutLast(a.Canonical, "-"); len(guid) != 36 || age != "1" {
		t.Errorf("canonical id %q", a.Canonical)
	}
	if !slices.Contains(a.Names, symbol.Name{Kind: symbol.NameFile, Text: "prog-x64.pdb"}) {
		t.Errorf("names %v", a.Names)
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// Files that are claimed and cannot be read say what to do.
func TestRefused(t *testing.T) {
	old := append([]byte("Microsoft C/C++ program database 2.00\r\n\x1aJG\x00\x00"), make([]byte, 4096)...)
	fast, err := os.ReadFile(fixtures(t)[1])
	if err != nil {
		t.Fatal(err)
	}
	const feature = "\xdc\x51\x33\x01" // of Visual C++ 2014
	if i := strings.Index(string(fast), feature); i > 0 {
		copy(fast[i:], "MINI")
	} else {
		t.Fatal("no features in the file")
	}
	for _, c := range []struct {
		name, word string
		b          []byte
	}{{"MSF 2", "older linker", old}, {"FASTLINK", "mspdbcmf", fast}} {
		_, err := Format.Open(t.Context(), formattest.InputOf("a.pdb", c.b, formats.Limits{}))
		if !errors.Is(err, formats.ErrUnsupported) || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzPDB(f *testing.F) {
	f.Add(inlining().bytes())
	moved := inlining()
	moved.old = *header(0x1000)
	moved.moves.u32(0x1000, 0x1000, 0x1110, 0x5000, 0x1118, 0, 0x1120, 0x6000, 0x2000, 0)
	f.Add(moved.bytes())
	x86 := inlining()
	x86.machine = machineX86
	f.Add(x86.bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		formattest.Fuzz(t, &Format, fileMagic, data)
	})
}
