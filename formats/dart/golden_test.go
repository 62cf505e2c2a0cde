package dart_test

import (
	"cmp"
	"compress/gzip"
	"debug/dwarf"
	stdelf "debug/elf"
	stdmacho "debug/macho"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/elf"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/macho"
	"github.com/symlake/symlake/formats/symbol"
)

// program is what a compiler of Dart wrote, with recorded answers for code of it.
type program struct {
	object, golden string // golden "": object + ".golden.json"
	cases          int
	anchors        []string
}

var (
	both = []string{symbol.DartIsolate, symbol.DartVM}
	// testdata are programs in the tree; fixtures are three more compilers'.
	testdata = []program{
		{"sass.x64.symbols.gz", "sass.x64.symbols.golden.json", 150, []string{symbol.DartText}},
		{"sass.android-arm64.symbols.gz", "sass.android-arm64.symbols.golden.json", 150, []string{symbol.DartText}},
		{"app.android-arm64.symbols", "", 31, both},
		{"app.android-arm64.symbols-2.part.so", "", 6, []string{symbol.DartIsolate}},
		{"app.android-arm.symbols", "", 31, both},
		{"app.ios-arm64.symbols", "", 31, both},
		{"App.framework.dSYM/Contents/Resources/DWARF/App", "App.framework.dSYM.golden.json", 31, both},
	}
	fixtures = []program{
		{"measure/app.android-arm64.symbols", "", 150, both},
		{"measure/App.framework.dSYM", "measure/App.framework.dSYM.arm64.golden.json", 150, both},
		{"datadog/app.android-arm.symbols", "", 150, both},
	}
)

// TestGoldens compares every recorded answer for code of Dart with ours: ELF of
// both classes, with and without an id, a deferred loading unit, Mach-O.
func TestGoldens(t *testing.T) {
	for _, p := range testdata {
		t.Run(p.object, func(t *testing.T) { p.compare(t, formattest.Testdata(t, "dart")) })
	}
	for _, p := range fixtures {
		t.Run(p.object, func(t *testing.T) { p.compare(t, formattest.Fixture(t, "dart")) })
	}
}

func (p *program) compare(t *testing.T, folder string) {
	golden := p.golden
	if golden == "" {
		golden = p.object + ".golden.json"
	}
	path := plain(t, filepath.Join(folder, p.object))
	in := formattest.Input(t, path)
	format := &elf.Format
	if !elf.Format.Detect(in.Name, in.Mapped) {
		format = &macho.Format
	}
	if n := formattest.GoldenOf(t, format, in, filepath.Join(folder, golden), asDWARF(t, path)); n != p.cases {
		t.Errorf("%d answers, want %d", n, p.cases)
	}
	obj := formattest.Open(t, format, in)
	artifacts := obj.Artifacts
	if obj.Members != nil {
		if err := obj.Members(t.Context(), func(m *formats.Input) error {
			artifacts = append(artifacts, formattest.Open(t, format, m).Artifacts...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(artifacts) != 1 {
		t.Fatalf("%d artifacts", len(artifacts))
	}
	if got := slices.Sorted(maps.Keys(artifacts[0].Anchors)); !slices.Equal(got, p.anchors) {
		t.Errorf("anchors %v, want %v", artifacts[0].Anchors, p.anchors)
	}
}

// asDWARF allows an outermost name that is not the symbol table's but the name of
// the entry of DWARF which covers the address, as the standard library reads
// it: llvm-symbolizer prefers the table, where names are obfuscated, numbered or
// short of an underscore. Dart's own tool prints what DWARF has.
func asDWARF(t *testing.T, path string) formattest.Known {
	functions := dwarfFunctions(t, path)
	return func(addr uint64, want, got []symbol.Frame) string {
		if len(want) == 0 || len(want) != len(got) {
			return ""
		}
		last := len(want) - 1
		i := sort.Search(len(functions), func(i int) bool { return functions[i].low > addr }) - 1
		if i < 0 || addr >= functions[i].high || got[last].Linkage != functions[i].name {
			return ""
		}
		want[last].Linkage = got[last].Linkage
		if !slices.Equal(want, got) {
			return ""
		}
		return "the name is DWARF's"
	}
}

type dwarfFunction struct {
	low, high uint64
	name      string
}

// dwarfFunctions reads the functions of a program, ascending.
func dwarfFunctions(t *testing.T, path string) []dwarfFunction {
	t.Helper()
	var data *dwarf.Data
	if f, err := stdelf.Open(path); err == nil {
		defer f.Close()
		if data, err = f.DWARF(); err != nil {
			t.Fatal(err)
		}
	} else if fat, err := stdmacho.OpenFat(path); err == nil {
		defer fat.Close()
		if data, err = fat.Arches[0].DWARF(); err != nil {
			t.Fatal(err)
		}
	} else if thin, err := stdmacho.Open(path); err == nil {
		defer thin.Close()
		if data, err = thin.DWARF(); err != nil {
			t.Fatal(err)
		}
	} else {
		t.Fatal(err)
	}
	names := map[dwarf.Offset]string{}
	var all []dwarfFunction
	var origins []dwarf.Offset
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		if e.Tag != dwarf.TagSubprogram {
			continue
		}
		if name, ok := e.Val(dwarf.AttrName).(string); ok {
			names[e.Offset] = name
		}
		low, ok := e.Val(dwarf.AttrLowpc).(uint64)
		if !ok {
			continue
		}
		high, _ := e.Val(dwarf.AttrHighpc).(uint64)
		origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			origin = e.Offset
		}
		all, origins = append(all, dwarfFunction{low: low, high: high}), append(origins, origin)
	}
	for i := range all {
		all[i].name = names[origins[i]]
	}
	slices.SortFunc(all, func(a, b dwarfFunction) int { return cmp.Compare(a.low, b.low) })
	return all
}

// plain is the path of a file, inflated if it is packed.
func plain(t *testing.T, path string) string {
	if !strings.HasSuffix(path, ".gz") {
		return path
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(path), ".gz"))
	if err := os.WriteFile(out, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}
