package elf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// splitBuild is one way to compile with split units.
type splitBuild struct {
	compiler string
	version  int
	flags    []string
	link     []string
}

func (b splitBuild) String() string {
	return fmt.Sprintf("%s-dw%d%s", b.compiler, b.version, strings.Join(b.flags, ""))
}

// run runs a program in a folder.
func run(t *testing.T, dir, tool string, args ...string) {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// make builds libgame.so, its .dwo files and its package in a folder.
func (b splitBuild) make(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	compiler := formattest.Tool(t, b.compiler, "apt-get install clang-19 g++")
	pack := formattest.Tool(t, "llvm-dwp-19", "apt-get install llvm-19")
	flags := append([]string{"-O2", "-g", fmt.Sprintf("-gdwarf-%d", b.version), "-gsplit-dwarf", "-fPIC",
		"-fno-exceptions", "-fno-rtti", "-ffreestanding", "-ffunction-sections", "-c"}, b.flags...)
	for _, unit := range []string{"engine", "main"} {
		run(t, dir, compiler, append(flags, formattest.Testdata(t, "src/"+unit+".cpp"), "-o", unit+".o")...)
	}
	run(t, dir, compiler, append(b.link, "-shared", "-nostdlib", "-Wl,--build-id", "engine.o", "main.o", "-o", "libgame.so")...)
	if parts, err := filepath.Glob(filepath.Join(dir, "*.dwo")); err != nil {
		t.Fatal(err)
	} else if len(parts) > 0 {
		run(t, dir, pack, append(parts, "-o", "libgame.so.dwp")...)
	}
	return filepath.Join(dir, "libgame.so")
}

// only gives companions with that ending of the name, and no others.
func only(in *formats.Input, ending string) *formats.Input {
	all := in.Companion
	in.Companion = func(ctx context.Context, want formats.Ref) (*formats.Input, error) {
		if !strings.HasSuffix(want.Name, ending) {
			return nil, formats.ErrNoCompanion
		}
		return all(ctx, want)
	}
	return in
}

// TestSplit: units in .dwo files, and in a package, answer as llvm-symbolizer
// says that they do.
func TestSplit(t *testing.T) {
	for _, b := range []splitBuild{
		{"clang++-19", 4, nil, nil}, {"clang++-19", 5, nil, nil}, {"g++", 4, nil, nil}, {"g++", 5, nil, nil},
		{"clang++-19", 5, []string{"-flto"}, []string{"-flto", "-O2", "-fuse-ld=lld", "-Wl,--plugin-opt=dwo_dir=."}}, // one unit, in 0.dwo
	} {
		t.Run(b.String(), func(t *testing.T) {
			lib := b.make(t)
			for i, ending := range []string{".dwo", ".dwp"} {
				in := only(formattest.Beside(t, lib), ending)
				formattest.OracleOf(t, &Format, in, 4000, uint64(i), known(t, lib), "--obj="+lib, "--dwp="+lib+".dwp")
				if q := quality(t, artifact(t, in)); len(q.Missing) != 0 || len(q.Warnings) != 0 || q.UnitsBroken != 0 {
					t.Errorf("%s: %+v", ending, q)
				}
			}
			if q := quality(t, artifact(t, formattest.Input(t, lib))); len(q.Missing) == 0 || q.UnitsBroken != 0 {
				t.Errorf("alone: %+v", q)
			}
		})
	}
}

// TestSingleFile: of a single-file build the object files are what holds the
// split units, and objects of their own besides.
func TestSingleFile(t *testing.T) {
	lib := splitBuild{"clang++-19", 5, []string{"-gsplit-dwarf=single"}, nil}.make(t)
	formattest.OracleOf(t, &Format, only(formattest.Beside(t, lib), ".o"), 10000, 1, known(t, lib), "--obj="+lib)
	unit := formattest.Input(t, filepath.Join(filepath.Dir(lib), "engine.o"))
	obj := formattest.Open(t, &Format, unit)
	if len(obj.Artifacts) != 1 || len(obj.Companions) != 1 || !strings.HasPrefix(obj.Companions[0], "dwo:") {
		t.Errorf("%d artifacts, companions %q", len(obj.Artifacts), obj.Companions)
	}
	if q := quality(t, artifact(t, unit)); len(q.Missing) != 0 || q.UnitsBroken != 0 {
		t.Errorf("its own: %+v", q)
	}
}

// TestForeignSplit: a file of the right name that is another build's, or
// damaged, is as good as none; the load says which it was, and why.
func TestForeignSplit(t *testing.T) {
	lib := formattest.Testdata(t, "elf/split-dw5/libgame.so")
	other, err := os.ReadFile(formattest.Testdata(t, "elf/split-dw4/engine.dwo"))
	if err != nil {
		t.Fatal(err)
	}
	pack, err := os.ReadFile(lib + ".dwp")
	if err != nil {
		t.Fatal(err)
	}
	index := bytes.Index(pack, []byte{5, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0}) // version, columns, units
	if index < 0 {
		t.Fatal("no index")
	}
	hostile := bytes.Clone(pack)
	copy(hostile[index+4:], "\xff\xff\xff\xff")
	for _, c := range []struct {
		ending, warning string
		b               []byte
		warnings        int
	}{
		{".dwo", "engine.dwo is of another build", other, 2},
		{".dwo", "an ELF header", []byte("\x7fELF"), 2},
		{".dwo", "split units", mustRead(t, lib), 2},
		{".dwp", ".debug_cu_index+0x4: ", hostile, 2},
	} {
		released := 0
		in := formattest.Input(t, lib)
		asked := 0
		in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
			if !strings.HasSuffix(want.Name, c.ending) {
				return nil, formats.ErrNoCompanion
			}
			asked++
			found := formattest.InputOf("engine.dwo", c.b, formats.Limits{})
			found.Release = func() error { released++; return nil }
			return found, nil
		}
		obj, err := Format.Open(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		q := quality(t, &obj.Artifacts[0])
		if err := obj.Close(); err != nil {
			t.Fatal(err)
		}
		if len(q.Missing) != 2 || len(q.Warnings) != c.warnings || q.UnitsBroken != 0 || asked == 0 || released != asked {
			t.Errorf("%s: asked %d times, released %d: %+v", c.warning, asked, released, q)
		} else if !strings.Contains(q.Warnings[0], c.warning) {
			t.Errorf("warning %q, want %q", q.Warnings[0], c.warning)
		}
	}
	// A failure of what companions come from is none of theirs.
	gone := errors.New("bucket out of reach")
	in := formattest.Input(t, lib)
	in.Companion = func(context.Context, formats.Ref) (*formats.Input, error) { return nil, gone }
	if _, err := artifact(t, in).Explode(t.Context(), 0, func(*symbol.Run) error { return nil }); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzSplit reads a library with random companions.
func FuzzSplit(f *testing.F) {
	for _, n := range []string{"split-dw4/engine.dwo", "split-dw4/libgame.so.dwp", "split-dw5/engine.dwo", "split-dw5/libgame.so.dwp"} {
		f.Add(mustRead(f, formattest.Testdata(f, "elf/"+n)), strings.Contains(n, "dw5"))
	}
	libs := map[bool][]byte{}
	for _, five := range []bool{false, true} {
		libs[five] = mustRead(f, formattest.Testdata(f, map[bool]string{false: "elf/split-dw4/libgame.so", true: "elf/split-dw5/libgame.so"}[five]))
	}
	f.Fuzz(func(t *testing.T, part []byte, five bool) { fuzzCompanion(t, libs[five], part) })
}

// FuzzDwz reads libraries with a random shared file.
func FuzzDwz(f *testing.F) {
	libs := map[bool][]byte{}
	for _, five := range []bool{false, true} {
		folder := map[bool]string{false: "elf/dwz-dw4/", true: "elf/dwz-dw5/"}[five]
		libs[five] = mustRead(f, formattest.Testdata(f, folder+"libone.so"))
		f.Add(mustRead(f, formattest.Testdata(f, folder+"common.debug")), five)
	}
	f.Fuzz(func(t *testing.T, part []byte, five bool) { fuzzCompanion(t, libs[five], part) })
}

// fuzzCompanion reads all of lib with companions that hold part: nothing but
// their parts of it is lost, and all are given back.
func fuzzCompanion(t *testing.T, lib, part []byte) {
	in := formattest.InputOf("libgame.so", lib, formats.Limits{})
	open := 0
	in.Companion = func(context.Context, formats.Ref) (*formats.Input, error) {
		found := formattest.InputOf("part", part, formats.Limits{})
		found.Release = func() error { open--; return nil }
		open++
		return found, nil
	}
	obj, err := Format.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	ranges := 0
	for i := range obj.Artifacts[0].Parts {
		_, err := obj.Artifacts[0].Explode(t.Context(), i, func(r *symbol.Run) error { ranges += len(r.Ranges); return nil })
		if err != nil && !errors.Is(err, formats.ErrLimit) {
			t.Fatal(err)
		}
	}
	if err := obj.Close(); err != nil || open != 0 {
		t.Errorf("%v, %d companions open", err, open)
	}
	if ranges == 0 {
		t.Error("no ranges")
	}
}

// TestSplitFixtures: split units that never left the object, and units of .dwo
// files that another machine compiled.
func TestSplitFixtures(t *testing.T) {
	embedded := formattest.Fixture(t, "elf/samply/dwp-debuglink/main.dbg")
	formattest.OracleOf(t, &Format, formattest.Input(t, embedded), 10000, 1, known(t, embedded), "--obj="+embedded, "--dwp="+embedded)

	alone := formattest.Fixture(t, "elf/samply/with-dwo/main")
	pack := filepath.Join(t.TempDir(), "main.dwp")
	args := []string{"-o", pack}
	for _, unit := range []string{"main", "file1", "file2", "file3"} {
		args = append(args, filepath.Join(filepath.Dir(alone), unit+".dwo"))
	}
	run(t, t.TempDir(), formattest.Tool(t, "llvm-dwp-19", "apt-get install llvm-19"), args...)
	formattest.OracleOf(t, &Format, formattest.Beside(t, alone), 10000, 2, known(t, alone), "--obj="+alone, "--dwp="+pack)

	lib := formattest.Fixture(t, "own-native/elf/split-dw5/libgame.so")
	formattest.GoldenOf(t, &Format, formattest.Beside(t, lib), lib+".golden.json", func(addr uint64, want, got []symbol.Frame) string {
		if len(want) != len(got) {
			return ""
		}
		return known(t, lib)(addr, want, got)
	})
	formattest.OracleOf(t, &Format, formattest.Beside(t, lib), 10000, 3, known(t, lib), "--obj="+lib, "--dwp="+lib+".dwp")
}
