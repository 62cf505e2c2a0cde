package wasm

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

func fixture(t testing.TB, name string) string { return formattest.Testdata(t, "wasm/"+name) }

func TestConformance(t *testing.T) {
	var paths []string
	for _, n := range []string{"app-dw4.wasm", "app-names.wasm", "app-noid-stripped.wasm", "component.wasm", "external/app.debug.wasm", "split/app.dwo"} {
		paths = append(paths, fixture(t, n))
	}
	formattest.Run(t, &Format, paths...)
}

// opened is the one artifact of an input.
func opened(t *testing.T, in *formats.Input) *formats.Artifact {
	t.Helper()
	obj, err := Format.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { obj.Close() })
	if len(obj.Artifacts) != 1 {
		t.Fatalf("%s: %d artifacts, note %q", in.Name, len(obj.Artifacts), obj.Note)
	}
	return &obj.Artifacts[0]
}

// answers are the functions of a chain at a position, innermost first, with the place of the innermost.
func answers(t *testing.T, a *formats.Artifact, pos uint64) (names []string, file string, line uint32) {
	t.Helper()
	flat, err := formattest.Flatten(t.Context(), &Format, a)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range flat.At(pos) {
		if i == 0 {
			file, line = f.File, f.Line
		}
		names = append(names, f.Linkage)
	}
	return names, file, line
}

// A module and its stripped twin are one artifact, with and without a build_id.
func TestIdentity(t *testing.T) {
	id := func(name string) symbol.ID { return opened(t, formattest.Beside(t, fixture(t, name))).ID }
	for _, twins := range [][]string{{"app-dw5.wasm", "app-names.wasm", "external/app.wasm"}, {"app-noid.wasm", "app-noid-stripped.wasm"}} {
		for _, name := range twins {
			if id(name) != id(twins[0]) {
				t.Errorf("%s and %s are two artifacts", name, twins[0])
			}
		}
	}
	a := opened(t, formattest.Input(t, fixture(t, "app-dw5.wasm")))
	for kind, want := range map[symbol.NameKind]string{
		symbol.NameBuildID: "6d3ce252af1c3d385e12d50cb7db55e0fd261180", symbol.NameDebugID: "6d3ce252-af1c-3d38-5e12-d50cb7db55e0", symbol.NameFile: "app-dw5.wasm",
	} {
		if !slices.Contains(a.Names, symbol.Name{Kind: kind, Text: want}) {
			t.Errorf("no name %s %s in %v", kind, want, a.Names)
		}
	}
	// The section holds 20 bytes behind their count.
	for kind, want := range map[symbol.NameKind]string{
		symbol.NameBuildID: "146d3ce252af1c3d385e12d50cb7db55e0fd261180", symbol.NameDebugID: "146d3ce2-52af-1c3d-385e-12d50cb7db55",
	} {
		if !slices.Contains(a.Names, symbol.Name{Kind: kind, Text: want}) {
			t.Errorf("no name %s %s, as Sentry has it, in %v", kind, want, a.Names)
		}
	}
	if noid := opened(t, formattest.Input(t, fixture(t, "app-noid.wasm"))); !strings.HasPrefix(noid.Canonical, "sha256:") {
		t.Error(noid.Canonical)
	}
}

// The number of a function answers as its first byte does, and the number of an import names it.
func TestFunctionNumbers(t *testing.T) {
	for name, want := range map[string][3]string{
		"app-dw5.wasm":           {"note", "run", "_ZN3app4drawEi"},
		"app-noid.wasm":          {"note", "run", "_ZN3app4drawEi"},
		"app-names.wasm":         {"note", "run", "app::draw(int)"},
		"app-noid-stripped.wasm": {"env.note", "run", ""},
	} {
		a := opened(t, formattest.Input(t, fixture(t, name)))
		for i, number := range []uint32{0, 3, 2} {
			got, file, line := answers(t, a, symbol.WasmFunction(number))
			if strings.Join(got, " < ") != want[i] {
				t.Errorf("%s: function %d is %q, want %q", name, number, got, want[i])
			}
			if lined := a.Rank == symbol.RankDWARF && i > 0; lined != (line > 0) || lined != strings.HasSuffix(file, "app.cpp") {
				t.Errorf("%s: function %d begins at %s:%d", name, number, file, line)
			}
		}
	}
}

// DWARF in a file of its own answers, whether or not that has the code; a file of another module does not.
func TestExternal(t *testing.T) {
	path := fixture(t, "external/app.wasm")
	full, err := os.ReadFile(fixture(t, "app-dw5.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(fixture(t, "app-dw4.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(b []byte) *formats.Input {
		in := formattest.Input(t, path)
		in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
			if want.Name != "app.debug.wasm" || want.ID != "wasm:6d3ce252af1c3d385e12d50cb7db55e0fd261180" {
				t.Errorf("asked for %+v", want)
			}
			if b == nil {
				return nil, formats.ErrNoCompanion
			}
			return formattest.InputOf(want.Name, b, formats.Limits{}), nil
		}
		return in
	}
	for _, c := range []struct {
		how     string
		in      *formats.Input
		rank    symbol.Rank
		missing int
	}{
		{"debug sections alone", formattest.Beside(t, path), symbol.RankDWARF, 0},
		{"the whole module", with(full), symbol.RankDWARF, 0},
		{"another module", with(other), symbol.RankDynsym, 1},
		{"no module", with([]byte("\x00asm\x01\x00\x00\x00\x0a\xff")), symbol.RankDynsym, 1},
		{"none", with(nil), symbol.RankDynsym, 1},
	} {
		a := opened(t, c.in)
		q, err := a.Explode(t.Context(), 0, func(*symbol.Run) error { return nil })
		if a.Rank != c.rank || len(q.Missing) != c.missing || err != nil {
			t.Errorf("%s: rank %d, quality %+v, %v", c.how, a.Rank, q, err)
		}
	}
	obj, err := Format.Open(t.Context(), formattest.Input(t, fixture(t, "external/app.debug.wasm")))
	if err != nil || len(obj.Artifacts) != 0 || !strings.HasPrefix(obj.Note, "companion: ") {
		t.Errorf("%+v, %v", obj, err)
	}
}

// A component hands out its modules, and the components in it.
func TestComponent(t *testing.T) {
	var names []string
	var walk func(in *formats.Input) error
	walk = func(in *formats.Input) error {
		obj, err := Format.Open(t.Context(), in)
		if err != nil {
			return err
		}
		if obj.Members == nil {
			names = append(names, in.Name+" "+obj.Artifacts[0].Canonical)
			return nil
		}
		return obj.Members(t.Context(), walk)
	}
	if err := walk(formattest.Input(t, fixture(t, "component.wasm"))); err != nil {
		t.Fatal(err)
	}
	id := opened(t, formattest.Input(t, fixture(t, "app-noid.wasm"))).Canonical
	if want := []string{"component.wasm!0.wasm " + id, "component.wasm!1.wasm!0.wasm " + id}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func FuzzModule(f *testing.F) {
	for _, n := range []string{"app-dw4.wasm", "app-dw5.wasm", "app-names.wasm", "app-noid-stripped.wasm", "component.wasm", "external/app.debug.wasm", "split/app.wasm", "split/app.dwo"} {
		formattest.Seed(f, 16<<10, fixture(f, n))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		magic := "\x00asm\x01\x00\x00\x00"
		if len(data) > 4 && data[4] == 13 {
			magic = "\x00asm\x0d\x00\x01\x00" // a component
		}
		formattest.Fuzz(t, &Format, magic, data)
	})
}
