package pdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// beside gives an input its image as companion, by its name.
func beside(t *testing.T, path string) *formats.Input {
	in := formattest.Input(t, path)
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		if want.Name != "" {
			if file := filepath.Join(filepath.Dir(path), want.Name); exists(file) {
				return formattest.Input(t, file), nil
			}
		}
		return nil, formats.ErrNoCompanion
	}
	return in
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Files for x86 hold their own records; other images hold tables.
func TestUnwind(t *testing.T) {
	for _, path := range fixtures(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			obj := formattest.Open(t, &Format, beside(t, path))
			w := formattest.UnwindOf(t, &Format, &obj.Artifacts[0])
			if len(w.Ranges) == 0 {
				t.Fatal("no ranges")
			}
			t.Logf("%d ranges, the first: %s", len(w.Ranges), strings.SplitN(w.String(), "\n", 2)[0])
		})
	}
}

// TestFrameData compares the records of x86 with llvm-pdbutil's.
func TestFrameData(t *testing.T) {
	tool := formattest.Tool(t, "llvm-pdbutil-19", "apt-get install llvm-19")
	path := fixtures(t)[2]
	out, err := exec.Command(tool, "dump", "-fpo", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	obj := formattest.Open(t, &Format, formattest.Input(t, path))
	w := formattest.UnwindOf(t, &Format, &obj.Artifacts[0])
	_, table, _ := strings.Cut(string(out), "| Program\n")
	n := 0
	for line := range strings.Lines(table) {
		f := strings.Split(line, "|")
		if len(f) < 11 {
			continue
		}
		at, err := strconv.ParseUint(strings.TrimSpace(f[0]), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		field := func(i int) string { return strings.TrimSpace(f[i]) }
		want := fmt.Sprintf("params %s saved %s locals %s %s", field(3), field(6), field(2), field(10))
		if got := w.Text(at); got != want {
			t.Errorf("%#x: %q, want %q", at, got, want)
		}
		n++
	}
	if n < 20 {
		t.Errorf("%d records", n)
	}
}

// A file without its image says nothing, and does not fail.
func TestUnwindAlone(t *testing.T) {
	obj := formattest.Open(t, &Format, formattest.Input(t, fixtures(t)[1]))
	if w := formattest.UnwindOf(t, &Format, &obj.Artifacts[0]); len(w.Ranges) != 0 {
		t.Errorf("%d ranges", len(w.Ranges))
	}
}
