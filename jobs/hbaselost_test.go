package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
)

// Look-ups survive a crash of HBase; and when it comes back without the files of the rows, no
// position becomes a hole.
func TestHBaseLosesFiles(t *testing.T) {
	t.Parallel()
	server := hbasetest.Start(t, hbasetest.Options{})
	dir := t.TempDir()
	mustRun := runIn(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "symlake.yaml"), []byte("limits: {memory: 256MiB}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url, object := server.URL("lake")+"?regions=4", formattest.Testdata(t, "elf/libgame-arm64-dw5.so")
	_, errOut := mustRun([]int{exit.Done}, "init", "--store", url)
	for _, table := range []string{"lake:blocks was made, with 4 regions", "lake:catalog was made, with 5 regions"} {
		if !strings.Contains(errOut, table) {
			t.Errorf("init does not say that table %s:\n%s", table, errOut)
		}
	}
	mustRun([]int{exit.Done}, "ingest", object, "--store", url)
	args := []string{"lookup", "--json", "--store", url, "libgame-arm64-dw5.so"}
	for a := 0x4700; a < 0x4800; a += 4 {
		args = append(args, fmt.Sprintf("%#x", a))
	}
	before, _ := mustRun([]int{exit.Done}, args...)
	if !strings.Contains(before, `"found"`) {
		t.Fatalf("nothing is found: %.400s", before)
	}
	server.Kill()
	server.Restart(t)
	if after, _ := mustRun([]int{exit.Done}, args...); after != before {
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
	out, _ := mustRun([]int{exit.Done, exit.Failed}, args...)
	if strings.Contains(out, `"hole"`) || strings.Contains(out, `"found"`) || !strings.Contains(out, `"corrupt"`) {
		t.Errorf("without its files HBase answers\n%.400s", out)
	}
}

// A dropped blocks table is told by every command, and comes back empty only on demand. Another store or the sources
// bring its rows again.
func TestHBaseLosesBlocks(t *testing.T) {
	t.Parallel()
	server := hbasetest.Start(t, hbasetest.Options{})
	mustRun := runIn(t, t.TempDir())
	object := formattest.Testdata(t, "elf/libgame-arm64-dw5.so")
	store := func(args ...string) []string {
		return append([]string{"--store", server.URL("lost") + "?regions=4", "--keyset", "keyset.json", "--lake", "off"}, args...)
	}
	lookup := func(codes ...int) (string, string) {
		return mustRun(codes, store("lookup", "libgame-arm64-dw5.so", "0x4748")...)
	}
	mustRun([]int{exit.Done}, "--store", "embedded", "--lake", "off", "ingest", object)
	mustRun([]int{exit.Done}, store("load", "--from", "embedded")...)
	want, _ := lookup(exit.Done)
	digest, _ := mustRun([]int{exit.Done}, store("verify", "--digest")...)

	for _, heal := range [][]string{{"load", "--from", "embedded"}, {"load", "--force", "--from", "embedded"}, {"ingest", "--force", object}} {
		server.DropTable(t, "lost", "blocks")
		for _, args := range [][]string{{"init"}, {"load", "--from", "embedded"}, {"load", "--force", "--from", "embedded"}, {"ingest", object}, {"verify"}, {"gc"},
			{"lookup", "libgame-arm64-dw5.so", "0x4748"}} {
			_, said := mustRun([]int{exit.Failed}, store(args...)...)
			if !strings.Contains(said, "table lost:blocks is missing") || !strings.Contains(said, "init --new-blocks") {
				t.Errorf("%v says %s", args, said)
			}
		}
		mustRun([]int{exit.Done}, store("init", "--new-blocks")...)
		out, said := lookup(exit.Failed)
		if !strings.HasPrefix(out, "??\n") || !strings.Contains(said, "symlake: corrupt: ") {
			t.Errorf("without rows: %s%s", out, said)
		}
		mustRun([]int{exit.Failed}, store("verify")...)
		mustRun([]int{exit.Done}, store(heal...)...)
		if out, _ := lookup(exit.Done); out != want {
			t.Errorf("after %v: %s, want %s", heal, out, want)
		}
		mustRun([]int{exit.Done}, store("gc")...)
		if got, _ := mustRun([]int{exit.Done}, store("verify", "--digest")...); got != digest {
			t.Errorf("after %v: digest %s, want %s", heal, got, digest)
		}
	}
}
