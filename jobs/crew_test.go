package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// crews are the ways in which four workers may share a source.
var crews = map[string][][]string{
	"shards": {{"--shard", "0/4"}, {"--shard", "1/4"}, {"--shard", "2/4"}, {"--shard", "3/4"}},
	"leases": {{"--if-locked", "join"}, {"--if-locked", "join"}, {"--if-locked", "join"}, {"--if-locked", "join"}},
}

// busyObjects makes objects of some 10 ms of work each.
func busyObjects(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.so", i)), []byte("POISON busy "+poisonID(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// crew lets workers with those flags ingest n objects at once, and says what they cost together and what came of it.
func crew(t *testing.T, dir string, n int, workers [][]string) (cpu time.Duration, digest string) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "ingest", t.TempDir())
	cmds, outs := make([]*exec.Cmd, len(workers)), make([]strings.Builder, len(workers))
	for i, flags := range workers {
		cmds[i] = symlake(t, append([]string{"--store", store, "ingest", dir, "--workers", "1", "--report", "-"}, flags...)...)
		cmds[i].Stdout = &outs[i]
		if err := cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	loaded := 0
	for i, c := range cmds {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		var r struct{ Objects struct{ Loaded int } }
		if err := json.Unmarshal([]byte(outs[i].String()), &r); err != nil {
			t.Fatal(err)
		}
		loaded += r.Objects.Loaded
	}
	if loaded != n {
		t.Errorf("%v: %d objects loaded, want %d", workers, loaded, n)
	}
	digest, _ = state(t, store)
	return cpu, digest
}

// Four workers on four shards, and four on leases, load every object once, and leave what one worker leaves.
func TestFourWorkers(t *testing.T) {
	t.Parallel()
	const objects = 100
	dir := busyObjects(t, objects)
	_, want := crew(t, dir, objects, [][]string{nil})
	for name, workers := range crews {
		if _, got := crew(t, dir, objects, workers); got != want {
			t.Errorf("%s: digest %s, want %s", name, got, want)
		}
	}
}

// TestBenchWorkers measures what four workers cost together beside one alone; see make bench.
func TestBenchWorkers(t *testing.T) {
	formattest.Bench(t)
	const objects, rounds = 2000, 3
	dir := busyObjects(t, objects)
	least := map[string]time.Duration{}
	for range rounds {
		for name, workers := range map[string][][]string{"one": {nil}, "shards": crews["shards"], "leases": crews["leases"]} {
			cpu, _ := crew(t, dir, objects, workers)
			if was, ok := least[name]; !ok || cpu < was {
				least[name] = cpu
			}
		}
	}
	for name := range crews {
		ratio := least[name].Seconds() / least["one"].Seconds()
		t.Logf("%d objects, four workers on %s: %.2f s of processor, one alone %.2f s (%.2fx)", objects, name, least[name].Seconds(), least["one"].Seconds(), ratio)
		if ratio > 1.1 {
			t.Errorf("%s: %.2fx, want at most 1.1x", name, ratio)
		}
	}
}
