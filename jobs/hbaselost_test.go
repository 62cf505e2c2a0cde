package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
)

// Look-ups survive a crash of HBase; and when it comes back without the files of the rows, no
// position becomes a hole.
func TestHBaseLosesFiles(t *testing.T) {
	server := hbasetest.Start(t, hbasetest.Options{})
	t.Chdir(t.TempDir())
	if err := os.WriteFile("symlake.yaml", []byte("limits: {memory: 256MiB}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url, object := server.URL("lake")+"?regions=4", formattest.Testdata(t, "elf/libgame-arm64-dw5.so")
	_, errOut := mustRun(t, []int{exitDone}, "init", "--store", url)
	for _, table := range []string{"lake:blocks was made, with 4 regions", "lake:catalog was made, with 1 regions"} {
		if !strings.Contains(errOut, table) {
			t.Errorf("init does not say that table %s:\n%s", table, errOut)
		}
	}
	mustRun(t, []int{exitDone}, "ingest", object, "--store", url)
	args := []string{"lookup", "--json", "--store", url, "libgame-arm64-dw5.so"}
	for a := 0x4700; a < 0x4800; a += 4 {
		args = append(args, fmt.Sprintf("%#x", a))
	}
	before, _ := mustRun(t, []int{exitDone}, args...)
	if !strings.Contains(before, `"found"`) {
		t.Fatalf("nothing is found: %.400s", before)
	}
	server.Kill()
	server.Restart(t)
	if after, _ := mustRun(t, []int{exitDone}, args...); after != before {
		t.Errorf("after a crash:\n%.400s\nbefore:\n%.400s", after, before)
	}
	server.Kill()
	files, err := filepath.Glob(filepath.Join(strings.TrimPrefix(server.Root, "file://"), "data/lake/blocks/*/b/*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no store files: %v", err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	server.Restart(t)
	out, _ := mustRun(t, []int{exitDone, exitFailed}, args...)
	if strings.Contains(out, `"hole"`) || strings.Contains(out, `"found"`) || !strings.Contains(out, `"corrupt"`) {
		t.Errorf("without its files HBase answers\n%.400s", out)
	}
}
