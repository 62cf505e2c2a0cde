package wasm

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// asDWARF is the format as llvm-symbolizer 19 sees a module without names: positions count from the contents of the code
// section, there are no numbers of functions, and what has no DWARF has no answer. It takes addresses of functions from
// the module's first byte, and so names functions wrongly where there are both.
var asDWARF = formats.Format{Name: name, Version: 1, Detect: detect, Open: func(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	obj, err := open(ctx, in)
	if err != nil {
		return nil, err
	}
	for i := range obj.Artifacts {
		a := &obj.Artifacts[i]
		explode := a.Explode
		start, size := codeOf(in)
		a.End = size
		a.Explode = func(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
			return explode(ctx, part, func(r *symbol.Run) error {
				if r.Rank != symbol.RankDWARF || r.Ranges[0].Start >= symbol.WasmFunction(0) {
					return nil
				}
				moved := *r
				moved.Ranges = make([]symbol.Range, len(r.Ranges))
				for k, g := range r.Ranges {
					g.Start, g.End = g.Start-start, g.End-start
					moved.Ranges[k] = g
				}
				return emit(&moved)
			})
		}
	}
	return obj, nil
}}

// codeOf is where the contents of the code section are, found without the package's help.
func codeOf(in *formats.Input) (start, size uint64) {
	b := in.Mapped
	for at := 8; at < len(b); {
		id, size, shift := b[at], 0, 0
		for at++; ; at++ {
			size |= int(b[at]&0x7f) << shift
			if shift += 7; b[at] < 0x80 {
				break
			}
		}
		if at++; id == 10 {
			return uint64(at), uint64(size)
		}
		at += size
	}
	return 0, 0
}

func known(_ uint64, want, got []symbol.Frame) string {
	if len(got) != len(want) {
		return ""
	}
	reason := ""
	for i := range got {
		g := got[i]
		if g.Linkage = want[i].Linkage; g != want[i] || got[i].Linkage != want[i].Linkage && !strings.HasSuffix(got[i].Linkage, "::"+want[i].Linkage) {
			return ""
		}
		if got[i].Linkage != want[i].Linkage {
			reason = "a name without linkage name is qualified here"
		}
	}
	return reason
}

// compare holds a module's DWARF against llvm-symbolizer.
func compare(t *testing.T, path string, n int) {
	t.Helper()
	objcopy := formattest.Tool(t, "llvm-objcopy-19", "apt-get install llvm-19")
	bare := filepath.Join(t.TempDir(), filepath.Base(path))
	run(t, objcopy, "--remove-section=name", "--remove-section=EXPORT", path, bare)
	formattest.Oracle(t, &asDWARF, bare, n, 1, known)
}

func TestOracle(t *testing.T) {
	for _, n := range []string{"app-dw4.wasm", "app-dw5.wasm", "app-noid.wasm"} {
		t.Run(n, func(t *testing.T) { compare(t, fixture(t, n), 2000) })
	}
}

// TestOracleFiles asks about 10,000 addresses of each module that SYMLAKE_WASM lists, parted by colons.
func TestOracleFiles(t *testing.T) {
	list := os.Getenv("SYMLAKE_WASM")
	if list == "" {
		t.Skip("SYMLAKE_WASM lists no modules")
	}
	for _, path := range filepath.SplitList(list) {
		t.Run(filepath.Base(path), func(t *testing.T) { compare(t, path, 10_000) })
	}
}

// Split units answer from their files and from a package of them; without either their functions' names and lines are left.
func TestSplit(t *testing.T) {
	objcopy := formattest.Tool(t, "llvm-objcopy-19", "apt-get install llvm-19")
	dwp := formattest.Tool(t, "llvm-dwp-19", "apt-get install llvm-19")
	files, packed := t.TempDir(), t.TempDir()
	var units []string
	for _, n := range []string{"app.dwo", "reads.dwo"} {
		b, err := os.ReadFile(fixture(t, "split/"+n))
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, filepath.Join(files, n))
		if err := os.WriteFile(units[len(units)-1], b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pack := filepath.Join(packed, "app.wasm.dwp")
	run(t, dwp, append(units, "-o", pack)...)
	for _, dir := range []string{files, packed} {
		bare := filepath.Join(dir, "app.wasm")
		run(t, objcopy, "--remove-section=name", "--remove-section=EXPORT", fixture(t, "split/app.wasm"), bare)
		formattest.OracleOf(t, &asDWARF, formattest.Beside(t, bare), 2000, 1, known, "--obj="+bare, "--dwp="+pack)
	}
	a := opened(t, formattest.Input(t, fixture(t, "split/app.wasm")))
	q, err := a.Explode(t.Context(), 0, func(*symbol.Run) error { return nil })
	if err != nil || len(q.Missing) != 1 || q.UnitsBroken != 0 {
		t.Errorf("alone: %+v, %v", q, err)
	}
	obj, err := Format.Open(t.Context(), formattest.Input(t, units[0]))
	if err != nil || len(obj.Artifacts) != 0 || len(obj.Companions) != 1 {
		t.Errorf("%+v, %v", obj, err)
	}
}
