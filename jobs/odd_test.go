//go:build unix

package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// A name with a newline, an escape or no UTF-8 breaks no line of a table, and no terminal.
func TestOddNames(t *testing.T) {
	store, dir := filepath.Join(t.TempDir(), "store"), t.TempDir()
	text, err := os.ReadFile(formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"a\nb.so": text, "c\x1b[2J.so": text[:3000], "d\xff.so": text[:2000], "plain é.so": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, []int{3}, "--store", store, "ingest", dir)
	out, _ := mustRun(t, []int{0}, "--store", store, "objects")
	if n := strings.Count(out, "\n"); n != 4 || strings.Contains(out, "\x1b") || strings.Contains(out, "\xff") {
		t.Errorf("%d lines of 4 objects: %q", n, out)
	}
	for _, want := range []string{`a\nb.so"`, `c\x1b[2J.so"`, `d\xff.so"`, "/plain é.so "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %q", want, out)
		}
	}
	out, _ = mustRun(t, []int{0}, "--store", store, "artifacts")
	if n := strings.Count(out, "\n"); n != 1 {
		t.Errorf("%d lines of one artifact: %q", n, out)
	}
	out, _ = mustRun(t, []int{0}, "--store", store, "status")
	if !strings.Contains(out, " 1 loaded, 2 rejected, 1 skipped\n") {
		t.Errorf("status: %q", out)
	}
}

// A pipe that is named as an object is refused at once, without waiting for its writer.
func TestPipeAsObject(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.so")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"inspect", pipe}, {"--store", filepath.Join(t.TempDir(), "store"), "ingest", pipe}} {
		var said strings.Builder
		c := symlake(t, args...)
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(30*time.Second, func() { c.Process.Kill() })
		c.Wait()
		late.Stop()
		if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "neither a file nor a folder") {
			t.Errorf("%v: exit code %d: %s", args, code, said.String())
		}
	}
}
