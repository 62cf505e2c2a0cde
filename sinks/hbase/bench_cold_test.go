package hbase

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
)

// TestBenchCold measures a new process from its start to its answer: symlake-lookup, with tables of 8 and of 512
// regions on a warm server.
func TestBenchCold(t *testing.T) {
	formattest.Bench(t)
	bin := t.TempDir()
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin+"/", "./jobs/symlake", "./jobs/symlake-lookup")
	build.Dir = formattest.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	server := hbasetest.Start(t, hbasetest.Options{Heap: "2g", Fast: true})
	run := func(dir, program string, args ...string) string {
		cmd := exec.Command(filepath.Join(bin, program), args...)
		cmd.Dir = dir
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	stores := []string{server.URL("few") + "?regions=8", server.URL("many") + "?regions=512"}
	dirs := make([]string, len(stores))
	took := make([][]time.Duration, len(stores))
	for i, store := range stores {
		dirs[i] = t.TempDir() // of its symlake.yaml and keyset.json
		run(dirs[i], "symlake", "init", "--store", store)
		run(dirs[i], "symlake", "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	}
	for range 41 { // in turn; the first of each warms up
		for i := range stores {
			at := time.Now()
			if out := run(dirs[i], "symlake-lookup", "lookup", "564bb6c8be48eea9d9db622b8689806eea5af3c7", "0x4748"); !strings.Contains(out, "game") {
				t.Fatal(out)
			}
			took[i] = append(took[i], time.Since(at))
		}
	}
	for i, regions := range []int{8, 512} {
		all := slices.Sorted(slices.Values(took[i][1:]))
		fmt.Printf("cold process to an answer, %d regions: p50 %v, p10 %v\n", regions, quantile(all, 0.5), quantile(all, 0.1))
	}
}
