package explode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// verdict is how an answer differs from llvm-symbolizer's, "" if not at all.
// All but the last are differences we want.
type verdict string

const (
	// The outermost function: llvm takes the name of the symbol nearest
	// below, of any kind (an alias, a folded twin, a label); we take it
	// only if it spells the same function.
	alias verdict = "another symbol's name"
	// A function without a linkage name: llvm prints the bare name.
	scoped verdict = "qualified name"
	// llvm knows the address from the symbol table alone, and takes a symbol
	// that is no function, or another one at the place.
	noDWARF verdict = "symbol table"
	wrong   verdict = "wrong"
)

// compare judges an answer. names are all symbols of the file, true the symbols of
// functions.
func compare(got, want []symbol.Frame, names map[string]bool) verdict {
	if len(want) == 1 && want[0] == (symbol.Frame{}) {
		want = nil
	}
	if len(want) == 0 && len(got) == 1 && got[0].Line == 0 && names[got[0].Linkage] {
		return noDWARF // a symbol without a size, which llvm ends with its section
	}
	if len(want) == 1 && want[0].Line == 0 && want[0].Column == 0 {
		_, known := names[want[0].Linkage]
		switch {
		case len(got) == 0 && known && !names[want[0].Linkage]:
			return noDWARF
		case len(got) == 1 && got[0].Line == 0 && known && got[0].Linkage != want[0].Linkage:
			return noDWARF // one of several symbols
		}
	}
	if len(got) != len(want) {
		return wrong
	}
	var v verdict
	for i, g := range got {
		w := want[i]
		_, symbolic := names[w.Linkage]
		if g.File != w.File || g.Line != w.Line || g.Column != w.Column {
			return wrong
		}
		switch {
		case g.Linkage == w.Linkage:
		case strings.HasSuffix(g.Linkage, "::"+w.Linkage):
			v = scoped
		case i == len(got)-1 && symbolic:
			v = alias
		default:
			return wrong
		}
	}
	return v
}

// symbolizer asks llvm-symbolizer for addresses of a file.
func symbolizer(t testing.TB, path string, addrs []uint64) [][]symbol.Frame {
	t.Helper()
	tool := formattest.Tool(t, "llvm-symbolizer-19", "apt-get install llvm-19")
	var in bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(tool, "--obj="+path, "--inlines", "--functions=linkage", "--no-demangle", "--output-style=JSON", "--no-debuginfod")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := make([][]symbol.Frame, 0, len(addrs))
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var a struct {
			Symbol []struct {
				FunctionName, FileName string
				Line, Column           uint32
			}
		}
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		var frames []symbol.Frame
		for _, f := range a.Symbol {
			frames = append(frames, symbol.Frame{Linkage: f.FunctionName, File: f.FileName, Line: f.Line, Column: f.Column})
		}
		answers = append(answers, frames)
	}
	if len(answers) != len(addrs) {
		t.Fatalf("%d answers for %d addresses", len(answers), len(addrs))
	}
	return answers
}

// agree compares n random addresses and reports how many are wrong.
func agree(t *testing.T, path string, n int) (bad int) {
	t.Helper()
	o := openObject(t, path, true)
	all, q := o.answers(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var addrs []uint64
	for range n {
		if k := len(o.image.Symbols); k > 0 && rng.IntN(8) > 0 {
			s := o.image.Symbols[rng.IntN(k)]
			addrs = append(addrs, s.Addr+rng.Uint64N(max(s.Size, 1)))
			continue
		}
		c := o.image.Code[rng.IntN(len(o.image.Code))]
		addrs = append(addrs, c.Start+rng.Uint64N(c.End-c.Start))
	}
	want := symbolizer(t, path, addrs)
	count := map[verdict]int{}
	for i, addr := range addrs {
		got := find(all, addr-o.image.Base)
		v := compare(got, want[i], o.names)
		if v == wrong {
			if bad++; bad <= 5 {
				t.Logf("%#x:\n got %+v\nwant %+v", addr, got, want[i])
			}
		}
		count[v]++
	}
	t.Logf("%d of %d equal; %v; quality %+v", count[""], n, count, q)
	return bad
}

// TestSymbolizer compares random addresses of the fixtures with what
// llvm-symbolizer says, frame by frame.
func TestSymbolizer(t *testing.T) {
	root := filepath.Dir(formattest.Fixture(t, "README.md"))
	for _, name := range []string{
		"elf/symbolic/crash.debug", "elf/symbolic/cross_language_lto.debug", "elf/otel/inline",
		"elf/dump_syms/basic.full", "elf/bugsnag/arm64-v8a/libentrypoint.so", "elf/datadog/exec_arm_big",
		"own-native/elf/libgame-arm64-dw4.so", "own-native/elf/libgame-arm64-dwarf64.so", "own-native/elf/libgame-x64-typeunits.so",
		"own-native/elf/libgame-arm64-linetables.so", "own-native/elf/libgame-riscv64-dw5.so", "own-native/elf/libgame-armv7thumb-dw5.so",
	} {
		t.Run(name, func(t *testing.T) {
			if bad := agree(t, filepath.Join(root, name), 1000); bad > 0 {
				t.Errorf("%d wrong", bad)
			}
		})
	}
}

// fileToTry is the file that benchFile names, else one of testdata.
func fileToTry(t testing.TB) string {
	if path := os.Getenv(benchFile); path != "" {
		return path
	}
	return formattest.Testdata(t, "elf/libgame-x64-dw5.so")
}

// TestSymbolizerFile does the same for one file, with more addresses.
func TestSymbolizerFile(t *testing.T) {
	path := fileToTry(t)
	if bad := agree(t, path, 10000); bad > 5 { // 99.95 %
		t.Errorf("%d of 10000 wrong", bad)
	}
}
