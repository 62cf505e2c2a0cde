package dart_test

import (
	"cmp"
	"compress/gzip"
	"debug/dwarf"
	stdelf "debug/elf"
	stdmacho "debug/macho"
	"io"
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

// TestGoldens compares every recorded answer for code of Dart with ours: five
// programs, three compilers, ELF of both classes and Mach-O.
func TestGoldens(t *testing.T) {
	for _, c := range []struct {
		object, golden string
		format         *formats.Format
		anchors        []string
	}{
		{"dart/measure/app.android-arm64.symbols", "", &elf.Format, []string{symbol.DartIsolate, symbol.DartVM}},
		{"dart/measure/App.framework.dSYM", "dart/measure/App.framework.dSYM.arm64", &macho.Format, []string{symbol.DartIsolate, symbol.DartVM}},
		{"dart/datadog/app.android-arm.symbols", "", &elf.Format, []string{symbol.DartIsolate, symbol.DartVM}},
		{"dart-live/sass.x64.symbols.gz", "dart-live/sass.x64.symbols", &elf.Format, []string{symbol.DartText}},
		{"dart-live/sass.android-arm64.symbols.gz", "dart-live/sass.android-arm64.symbols", &elf.Format, []string{symbol.DartText}},
	} {
		t.Run(c.object, func(t *testing.T) {
			if c.golden == "" {
				c.golden = c.object
			}
			path := plain(t, formattest.Fixture(t, c.object))
			in := formattest.Input(t, path)
			formattest.GoldenOf(t, c.format, in, formattest.Fixture(t, c.golden+".golden.json"), asDWARF(t, path))
			obj := formattest.Open(t, c.format, in)
			artifacts := obj.Artifacts
			if obj.Members != nil {
				if err := obj.Members(t.Context(), func(m *formats.Input) error {
					artifacts = append(artifacts, formattest.Open(t, c.format, m).Artifacts...)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			if len(artifacts) != 1 {
				t.Fatalf("%d artifacts", len(artifacts))
			}
			for _, name := range c.anchors {
				if artifacts[0].Anchors[name] == 0 {
					t.Errorf("%s is not recorded: %v", name, artifacts[0].Anchors)
				}
			}
			if len(artifacts[0].Anchors) != len(c.anchors) {
				t.Errorf("anchors %v, want %v", artifacts[0].Anchors, c.anchors)
			}
		})
	}
}

// asDWARF allows an outermost name that is not the symbol table's but that of
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
		origin, _ := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
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
