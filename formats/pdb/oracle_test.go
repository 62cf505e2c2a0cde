package pdb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/demangle/msvc"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/msf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
)

// pairsFolder is the environment variable that names a folder of images with their PDB files beside them.
const pairsFolder = "SYMLAKE_PDB_PAIRS"

// TestPairs compares what PDB files of the public say with llvm-symbolizer, at 10,000 addresses each.
func TestPairs(t *testing.T) {
	root := os.Getenv(pairsFolder)
	if root == "" {
		t.Skip("set " + pairsFolder + " to a folder of images with PDB files beside them")
	}
	pdbs, err := filepath.Glob(filepath.Join(root, "*", "*.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pdbs {
		for _, ending := range []string{".exe", ".dll", ".node"} {
			image := strings.TrimSuffix(path, ".pdb") + ending
			if _, err := os.Stat(image); err != nil {
				continue
			}
			rel, _ := filepath.Rel(root, path)
			t.Run(rel, func(t *testing.T) { comparePair(t, image, path, 10_000) })
		}
	}
}

// comparePair compares n addresses: the half of them anywhere in code, the others at borders of our ranges.
func comparePair(t *testing.T, image, path string, n int) {
	obj := formattest.Open(t, &Format, formattest.Input(t, path))
	if len(obj.Artifacts) == 0 {
		t.Skip(obj.Note)
	}
	a := &obj.Artifacts[0]
	file, err := pefile.Open(formattest.Input(t, image))
	if err != nil {
		t.Fatal(err)
	}
	id := &native.Identity{}
	if err := file.Names(id); err != nil || id.Canonical != a.Canonical {
		t.Errorf("canonical id %s, of the image %s, %v", a.Canonical, id.Canonical, err)
	}
	fl, err := formattest.Flatten(t.Context(), &Format, a)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	borders := fl.Borders()
	inCode := contributed(t, path)
	var at []uint64
	for tries := 0; len(at) < n && tries < 100*n; tries++ {
		pos := r.Uint64N(a.End)
		if tries%2 == 1 && len(borders) > 0 {
			pos = borders[r.IntN(len(borders))] - uint64(r.IntN(2))
		}
		if inCode(pos) {
			at = append(at, pos)
		}
	}
	want := llvmFrames(t, image, at)
	second := secondOpinion(t, path, at)
	same, classes := 0, map[string]int{}
	for i, pos := range at {
		got := fl.At(pos)
		if n := len(got) - 1; n >= 0 && len(want[i]) == len(got) && a.Arch == "x86" && msvc.Undecorated(want[i][n].Linkage) == got[n].Linkage {
			want[i][n].Linkage = got[n].Linkage
		}
		if slices.Equal(got, want[i]) {
			same++
			continue
		}
		class := differs(want[i], got)
		if second != nil {
			class += settle(second[i], want[i], got)
		}
		if classes[class]++; classes[class] <= 3 {
			t.Logf("%s: %#x:\n llvm %v\n ours %v", class, pos, want[i], got)
			if second != nil {
				t.Logf("p2l  %v", second[i])
			}
		}
	}
	alone := 0
	for class, n := range classes {
		if strings.HasSuffix(class, oursAlone) {
			alone += n
		}
	}
	if alone*400 > len(at) {
		t.Errorf("%d of %d answers are ours alone", alone, len(at))
	}
	t.Logf("%d of %d equal (%.2f %%), the rest %v", same, len(at), 100*float64(same)/float64(len(at)), classes)
}

// contributed reports whether an object file contributed the code at a position.
func contributed(t *testing.T, path string) func(pos uint64) bool {
	file, err := msf.Open(formattest.Input(t, path), name)
	if err != nil {
		t.Fatal(err)
	}
	lim := formats.Limits{}.WithDefaults()
	d, err := readDBI(file, &lim)
	if err != nil {
		t.Fatal(err)
	}
	l, err := readLayout(file, d)
	if err != nil {
		t.Fatal(err)
	}
	return func(pos uint64) bool {
		return slices.ContainsFunc(d.contributions, func(c contribution) bool {
			start, end, ok := l.code(c.section, c.off, c.size)
			return ok && uint64(start) <= pos && pos < uint64(end)
		})
	}
}

// llvmFrames asks llvm-symbolizer for frames at positions of an image.
func llvmFrames(t *testing.T, image string, at []uint64) [][]symbol.Frame {
	tool := formattest.Tool(t, "llvm-symbolizer-19", "apt-get install llvm-19")
	var in bytes.Buffer
	for _, pos := range at {
		fmt.Fprintf(&in, "%#x\n", pos)
	}
	cmd := exec.Command(tool, "--obj="+image, "--relative-address", "--inlines", "--functions=linkage", "--no-demangle", "--output-style=JSON")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil { // it crashes on some files of MSVC
		t.Logf("llvm-symbolizer: %v", err)
		return make([][]symbol.Frame, len(at))
	}
	var all [][]symbol.Frame
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var answer struct {
			Symbol []struct {
				FunctionName, FileName string
				Line, Column           uint32
			}
		}
		if err := d.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		var frames []symbol.Frame
		for _, s := range answer.Symbol {
			frames = append(frames, symbol.Frame{Linkage: s.FunctionName, File: s.FileName, Line: s.Line, Column: s.Column})
		}
		if len(frames) == 1 && frames[0] == (symbol.Frame{}) {
			frames = nil
		}
		all = append(all, frames)
	}
	if len(all) != len(at) {
		t.Fatalf("%d answers to %d addresses", len(all), len(at))
	}
	return all
}

// differs names the class of a difference.
func differs(want, got []symbol.Frame) string {
	switch {
	case len(got) == 0:
		return "ours has none"
	case len(want) == 0:
		return "llvm has none"
	case len(want) != len(got):
		return "depth"
	}
	for i, w := range want {
		g := got[i]
		switch {
		case g.Linkage != w.Linkage:
			return "function"
		case g.File != w.File:
			return "file"
		case g.Line != w.Line:
			return "line"
		case g.Column != w.Column:
			return "column"
		}
	}
	return ""
}

// opinion is the environment variable that names a program that answers positions with frames of the pdb-addr2line crate.
const opinion = "SYMLAKE_PDB_ADDR2LINE"

// secondOpinion returns the frames that pdb-addr2line gives; nil without the program.
func secondOpinion(t *testing.T, path string, at []uint64) [][]symbol.Frame {
	tool := os.Getenv(opinion)
	if tool == "" {
		return nil
	}
	var in bytes.Buffer
	for _, pos := range at {
		fmt.Fprintf(&in, "%#x\n", pos)
	}
	cmd := exec.Command(tool, path)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]symbol.Frame
	for line := range strings.Lines(string(out)) {
		var frames []symbol.Frame
		for _, f := range strings.Split(strings.TrimSuffix(line, "\n"), "\t")[1:] {
			rest, line, _ := cutLast(f, "|")
			function, file, _ := cutLast(rest, "|")
			n, _ := strconv.ParseUint(line, 10, 32)
			frames = append(frames, symbol.Frame{Linkage: function, File: file, Line: uint32(n)})
		}
		all = append(all, frames)
	}
	return all
}

const oursAlone = ", ours alone"

// settle says which answer pdb-addr2line has too, or why its own cannot be right.
func settle(second, want, got []symbol.Frame) string {
	bare := func(f []symbol.Frame) bool { return len(f) == 1 && f[0].File == "" || len(f) == 0 }
	n := len(got) - 1
	switch {
	case samePlaces(second, got):
		return ", pdb-addr2line has ours"
	case len(got) == 0 && bare(second):
		return ", pdb-addr2line has none either"
	case len(got) == 0 && bare(want):
		return ": code of a contribution without symbols, which llvm calls by the public symbol before"
	case n >= 0 && got[n].Line == 0 && len(second) == len(got) && samePlaces(second[:n], got[:n]):
		return ": a function without lines, to which pdb-addr2line gives the line before it"
	}
	return oursAlone
}

// samePlaces reports whether frames have the same files and lines.
func samePlaces(a, b []symbol.Frame) bool {
	return slices.EqualFunc(a, b, func(a, b symbol.Frame) bool { return a.File == b.File && a.Line == b.Line })
}
