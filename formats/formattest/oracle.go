package formattest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// Oracle asks llvm-symbolizer-19 for n addresses of the object at path, drawn
// at random and at the borders of our ranges, and compares function, file,
// line, column and depth. How often each rule of known, which may be nil,
// excused a difference is logged. The object stands alone: files beside it are
// not found.
func Oracle(t *testing.T, f *formats.Format, path string, n int, seed uint64, known Known) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "object")
	if err := os.WriteFile(alone, b, 0o600); err != nil {
		t.Fatal(err)
	}
	OracleOf(t, f, Input(t, path), n, seed, known, "--obj="+alone)
}

// OracleOf is Oracle for an input with companions: args, "--obj=PATH" among
// them, tell llvm-symbolizer of the same object and companions.
func OracleOf(t *testing.T, f *formats.Format, in *formats.Input, n int, seed uint64, known Known, args ...string) {
	t.Helper()
	tool := Tool(t, "llvm-symbolizer-19", "apt-get install llvm-19")
	a := pick(t, f, in, "")
	if a == nil {
		t.Fatal("no artifact")
	}
	flat, err := Flatten(context.Background(), f, a)
	if err != nil {
		t.Fatal(err)
	}
	addrs := sample(a, flat, n, rand.New(rand.NewPCG(seed, 0)))
	want := symbolize(t, tool, addrs, args)
	reasons := map[string]int{}
	failed := 0
	for i, addr := range addrs {
		got := answer(a, flat, addr)
		if slices.Equal(got, want[i]) {
			continue
		}
		if known != nil {
			if reason := known(addr, want[i], got); reason != "" {
				reasons[reason]++
				continue
			}
		}
		if failed++; failed <= 10 {
			t.Errorf("seed %d: %s", seed, difference(addr, want[i], got))
		}
	}
	if failed > 10 {
		t.Errorf("%d of %d addresses differ", failed, len(addrs))
	}
	for reason, count := range reasons {
		t.Logf("%d of %d addresses differ: %s", count, len(addrs), reason)
	}
}

// sample draws addresses: a half anywhere in the image, a half at borders,
// where mistakes are.
func sample(a *formats.Artifact, flat *Flat, n int, r *rand.Rand) []uint64 {
	addrs := make([]uint64, 0, n)
	borders := flat.Borders()
	for i := range n {
		pos := r.Uint64N(a.End)
		if i%2 == 1 && len(borders) > 0 {
			pos = borders[r.IntN(len(borders))] - uint64(r.IntN(2))
		}
		if pos < a.End {
			addrs = append(addrs, a.Unslid(pos))
		}
	}
	return addrs
}

// symbolize gives llvm-symbolizer's frames of each address.
func symbolize(t *testing.T, tool string, addrs []uint64, args []string) [][]symbol.Frame {
	t.Helper()
	var in bytes.Buffer
	for _, addr := range addrs {
		fmt.Fprintf(&in, "%#x\n", addr)
	}
	cmd := exec.Command(tool, append(args, "--inlines", "--functions=linkage", "--no-demangle", "--output-style=JSON")...)
	cmd.Dir, cmd.Stdin = t.TempDir(), &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var all [][]symbol.Frame
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var answer struct {
			Symbol []struct {
				FunctionName, FileName string
				Line, Column           uint32
			}
			Error any
		}
		if err := d.Decode(&answer); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if answer.Error != nil {
			t.Fatalf("%s: %v", tool, answer.Error)
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
	if len(all) != len(addrs) {
		t.Fatalf("%d answers to %d addresses", len(all), len(addrs))
	}
	return all
}
