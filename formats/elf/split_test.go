package elf

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// splitBuild is one way to compile with split units.
type splitBuild struct {
	compiler string
	version  int
	flags    []string
}

func (b splitBuild) String() string { return fmt.Sprintf("%s-dw%d", b.compiler, b.version) }

// make builds libgame.so, its .dwo files and its package in a folder.
func (b splitBuild) make(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	compiler := formattest.Tool(t, b.compiler, "apt-get install clang-19 g++")
	pack := formattest.Tool(t, "llvm-dwp-19", "apt-get install llvm-19")
	run := func(tool string, args ...string) {
		t.Helper()
		cmd := exec.Command(tool, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	flags := append([]string{"-O2", "-g", fmt.Sprintf("-gdwarf-%d", b.version), "-gsplit-dwarf", "-fPIC",
		"-fno-exceptions", "-fno-rtti", "-ffreestanding", "-ffunction-sections", "-c"}, b.flags...)
	for _, unit := range []string{"engine", "main"} {
		run(compiler, append(flags, formattest.Testdata(t, "src/"+unit+".cpp"), "-o", unit+".o")...)
	}
	run(compiler, "-shared", "-nostdlib", "-Wl,--build-id", "engine.o", "main.o", "-o", "libgame.so")
	run(pack, "-e", "libgame.so", "-o", "libgame.so.dwp")
	return filepath.Join(dir, "libgame.so")
}

// TestSplit: units in .dwo files, and in a package, answer as llvm-symbolizer
// says that they do.
func TestSplit(t *testing.T) {
	for _, b := range []splitBuild{{"clang++-19", 4, nil}, {"clang++-19", 5, nil}, {"g++", 4, nil}, {"g++", 5, nil}} {
		t.Run(b.String(), func(t *testing.T) {
			lib := b.make(t)
			formattest.OracleOf(t, &Format, formattest.Beside(t, lib), 10000, 1, known(t, lib), "--obj="+lib, "--dwp="+lib+".dwp")
		})
	}
}

// TestSplitFixtures: split units that never left the object, and those of .dwo
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
	if out, err := exec.Command(formattest.Tool(t, "llvm-dwp-19", "apt-get install llvm-19"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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
