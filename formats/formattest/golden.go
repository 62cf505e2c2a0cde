package formattest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// golden is what X.golden.json says of the object X beside it: frames stand
// innermost first, an unknown line is 0, an unknown file "".
type golden struct {
	Arch   string `json:"arch"`
	Oracle string `json:"oracle"`
	Cases  []struct {
		Addr   string `json:"addr"`
		Frames []struct {
			Linkage  string `json:"linkage"`
			Function string `json:"function"` // of programs without linkage names
			File     string `json:"file"`
			Line     uint32 `json:"line"`
			Column   uint32 `json:"column"`
		} `json:"frames"`
	} `json:"cases"`
}

// Exceptions are known differences from an oracle, each with its reason. A
// key is an object's path below the folder, or that and an address:
// "a/b.so@0x5b8". An exception that no longer differs fails the test.
type Exceptions map[string]string

// Known gives the reason why our answer at an address may differ from an
// oracle's, "" if it may not: rules, where Exceptions are single cases. Frames
// stand innermost first; Function is empty.
type Known func(addr uint64, want, got []symbol.Frame) (reason string)

// Goldens compares every recorded answer in folder, and in those below, with
// ours: function, file, line, column and depth. The files beside an object are
// its companions. known, if not nil, makes the
// rules for an object at a path.
func Goldens(t *testing.T, f *formats.Format, folder string, except Exceptions, known func(t *testing.T, path string) Known) {
	t.Helper()
	var cases, files int
	reasons := map[string]int{}
	used := map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".golden.json") {
			return err
		}
		rel, err := filepath.Rel(folder, strings.TrimSuffix(path, ".golden.json"))
		if err != nil {
			return err
		}
		files++
		t.Run(filepath.ToSlash(rel), func(t *testing.T) {
			cases += goldenFile(t, f, path, filepath.ToSlash(rel), except, used, known, reasons)
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("%s: no goldens", folder)
	}
	for key, reason := range except {
		if !used[key] {
			t.Errorf("exception %s (%s): nothing differs there any more", key, reason)
		}
	}
	for reason, n := range reasons {
		t.Logf("%d of %d cases differ: %s", n, cases, reason)
	}
	t.Logf("%s: %d objects, %d cases", folder, files, cases)
}

// GoldenOf compares the recorded answers in file with the answers of in, which must
// have one artifact. It returns how many there are.
func GoldenOf(t *testing.T, f *formats.Format, in *formats.Input, file string, known Known) int {
	t.Helper()
	g := readGolden(t, file)
	if known == nil {
		known = func(uint64, []symbol.Frame, []symbol.Frame) string { return "" }
	}
	return g.compare(t, f, in, func(addr string, value uint64, want, got []symbol.Frame) bool { return known(value, want, got) != "" })
}

func goldenFile(t *testing.T, f *formats.Format, path, rel string, except Exceptions, used map[string]bool, known func(*testing.T, string) Known, reasons map[string]int) int {
	g := readGolden(t, path)
	object := objectOf(t, strings.TrimSuffix(path, ".golden.json"), g.Arch)
	rules := Known(func(uint64, []symbol.Frame, []symbol.Frame) string { return "" })
	if known != nil {
		rules = known(t, object)
	}
	return g.compare(t, f, Beside(t, object), func(addr string, value uint64, want, got []symbol.Frame) bool {
		if at := rel + "@" + addr; except[at] != "" {
			used[at] = true
		} else if except[rel] != "" {
			used[rel] = true
		} else if reason := rules(value, want, got); reason != "" {
			reasons[reason]++
		} else {
			return false
		}
		return true
	})
}

func readGolden(t *testing.T, path string) *golden {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return &g
}

// compare asks for every address and fails where the answer differs and is
// not excused. It gives the number of cases.
func (g *golden) compare(t *testing.T, f *formats.Format, in *formats.Input, excused func(addr string, value uint64, want, got []symbol.Frame) bool) int {
	t.Helper()
	a := pick(t, f, in, g.Arch)
	if a == nil {
		t.Fatalf("no artifact for arch %q", g.Arch)
	}
	flat, err := Flatten(context.Background(), f, a)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range g.Cases {
		addr, err := strconv.ParseUint(c.Addr, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]symbol.Frame, len(c.Frames))
		for i, w := range c.Frames {
			want[i] = symbol.Frame{Linkage: cmp.Or(w.Linkage, w.Function), File: w.File, Line: w.Line, Column: w.Column}
		}
		if got := answer(a, flat, addr); !slices.Equal(got, want) && !excused(c.Addr, addr, want, got) {
			t.Error(difference(addr, want, got))
		}
	}
	return len(g.Cases)
}

// objectOf is the file that a golden's path without its ending means: a
// slice's architecture may be part of it, and a bundle stands for the file in it.
func objectOf(t *testing.T, path, arch string) string {
	info, err := os.Stat(path)
	if err != nil {
		path = strings.TrimSuffix(path, "."+arch)
		info, err = os.Stat(path)
	}
	if err != nil || !info.IsDir() {
		return path
	}
	inside, err := filepath.Glob(filepath.Join(path, "Contents", "Resources", "DWARF", "*"))
	if err != nil || len(inside) != 1 {
		t.Fatalf("%s: %d files with DWARF, %v", path, len(inside), err)
	}
	return inside[0]
}

// pick is the artifact of an object or of its members, of several the one of
// that architecture.
func pick(t *testing.T, f *formats.Format, in *formats.Input, arch string) (found *formats.Artifact) {
	obj := Open(t, f, in)
	for i := range obj.Artifacts {
		if arch == "" || len(obj.Artifacts) == 1 && obj.Members == nil || obj.Artifacts[i].Arch == arch {
			return &obj.Artifacts[i]
		}
	}
	if obj.Members == nil {
		return nil
	}
	err := obj.Members(t.Context(), func(m *formats.Input) error {
		if m.Err != nil {
			return m.Err
		}
		member := Open(t, f, m)
		for i := range member.Artifacts {
			if found == nil && member.Artifacts[i].Arch == arch {
				found = &member.Artifacts[i]
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// answer is ours at an address of the file.
func answer(a *formats.Artifact, flat *Flat, addr uint64) []symbol.Frame {
	if pos, ok := a.Position(symbol.Where{Space: symbol.Unslid, Value: addr}); ok && pos < a.End {
		return flat.At(pos)
	}
	return nil
}

func difference(addr uint64, want, got []symbol.Frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%#x differs", addr)
	for _, w := range want {
		fmt.Fprintf(&b, "\n  want %s %s:%d:%d", w.Linkage, w.File, w.Line, w.Column)
	}
	for _, g := range got {
		fmt.Fprintf(&b, "\n  got  %s %s:%d:%d", g.Linkage, g.File, g.Line, g.Column)
	}
	return b.String()
}
