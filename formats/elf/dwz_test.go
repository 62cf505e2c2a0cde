package elf

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// TestDwzFresh: what dwz moved to a file that two libraries share answers as
// llvm-symbolizer, which does not read such files, says of the libraries as they
// were before.
func TestDwzFresh(t *testing.T) {
	dwz := formattest.Tool(t, "dwz", "apt-get install dwz")
	compiler := formattest.Tool(t, "g++", "apt-get install g++")
	for _, version := range []int{4, 5} {
		t.Run(fmt.Sprintf("dw%d", version), func(t *testing.T) {
			dir := t.TempDir()
			for _, unit := range []string{"engine", "main"} {
				run(t, dir, compiler, "-O2", fmt.Sprintf("-gdwarf-%d", version), "-fPIC", "-fno-exceptions", "-fno-rtti", "-ffreestanding",
					"-c", formattest.Testdata(t, "src/"+unit+".cpp"), "-o", unit+".o")
			}
			run(t, dir, compiler, "-shared", "-nostdlib", "-Wl,--build-id", "engine.o", "main.o", "-o", "libone.so")
			run(t, dir, compiler, "-shared", "-nostdlib", "-Wl,--build-id", "main.o", "engine.o", "-o", "libtwo.so")
			run(t, dir, "cp", "libone.so", "before.so")
			args := []string{"-m", "common.debug", "libone.so", "libtwo.so"}
			if version == 5 {
				args = append([]string{"-5"}, args...)
			}
			run(t, dir, dwz, args...)
			lib, before := filepath.Join(dir, "libone.so"), filepath.Join(dir, "before.so")
			in := formattest.Beside(t, lib)
			formattest.OracleOf(t, &Format, in, 10000, uint64(version), known(t, before), "--obj="+before)
			if q := quality(t, artifact(t, in)); len(q.Missing) != 0 {
				t.Errorf("missing %v", q.Missing)
			}
			if q := quality(t, artifact(t, formattest.Input(t, lib))); len(q.Missing) != 1 {
				t.Errorf("alone: missing %v", q.Missing)
			}
		})
	}
}
