package jobs

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
)

// stormKills is how many processes the storm kills; SYMLAKE_STORM_KILLS overrides it for a long run.
const stormKills = 9

// Three workers on one store, killed at random points and started again, with readers at it all the time: what
// is left is what one undisturbed run leaves, and no reader ever sees half an artifact.
func TestStorm(t *testing.T) {
	kills := stormKills
	if s := os.Getenv("SYMLAKE_STORM_KILLS"); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	objects := formattest.Testdata(t, "elf")
	clean := filepath.Join(t.TempDir(), "clean")
	began := time.Now()
	mustRun(t, []int{0, 3}, "--store", clean, "ingest", objects)
	whole := time.Since(began)
	wantDigest, wantLedger := state(t, clean)
	wantAnswer, _ := mustRun(t, []int{0, 1}, append([]string{"--store", clean, "--json", "lookup"}, stormQuestion...)...)
	want := withoutLoad(t, wantAnswer)

	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d, a whole run takes %v", seed, whole)
	for done, round := 0, 0; done < kills; round++ {
		store := filepath.Join(t.TempDir(), "store")
		worker := func() *exec.Cmd {
			c := symlake(t, "--store", store, "ingest", objects, "--if-locked", "join")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			return c
		}
		var stop atomic.Bool
		var reading sync.WaitGroup
		reading.Go(func() {
			for !stop.Load() {
				c := symlake(t, append([]string{"--store", store, "--json", "lookup"}, stormQuestion...)...)
				out, _ := c.Output()
				if code := c.ProcessState.ExitCode(); code != 0 && code != 1 {
					t.Errorf("a reader ended with %d", code)
				}
				for line := range strings.Lines(string(out)) {
					got := withoutLoad(t, line)
					switch status := got["status"]; status {
					case "found":
						if diff := cmp.Diff(want, got); diff != "" {
							t.Errorf("a reader saw (-want +got)\n%s", diff)
						}
					case "no-artifact", "pending", "loading":
					default:
						t.Errorf("a reader saw %v: %s", status, line)
					}
				}
			}
		})
		// Three at a time: whoever is killed is replaced, until this store has had its share of deaths.
		share := min(3+rng.IntN(4), kills-done)
		crew := []*exec.Cmd{worker(), worker(), worker()}
		for range share {
			time.Sleep(time.Duration(rng.Int64N(int64(whole))))
			i := rng.IntN(len(crew))
			crew[i].Process.Kill()
			crew[i].Wait()
			crew[i] = worker()
			done++
		}
		for _, c := range crew {
			c.Wait()
			if code := c.ProcessState.ExitCode(); code != 0 && code != 3 {
				t.Errorf("round %d: a worker that was left alone ended with %d", round, code)
			}
		}
		stop.Store(true)
		reading.Wait()
		mustRun(t, []int{0, 3}, "--store", store, "ingest", objects)
		mustRun(t, []int{0}, "--store", store, "gc", "--grace", "0s")
		digest, ledger := state(t, store)
		if digest != wantDigest {
			t.Errorf("round %d: digest %s, want %s", round, digest, wantDigest)
		}
		if ledger != wantLedger {
			t.Errorf("round %d: the ledger differs (-want +got)\n%s", round, cmp.Diff(strings.Split(wantLedger, "\n"), strings.Split(ledger, "\n")))
		}
		var freed struct{ Loads, Freed int64 }
		out, _ := mustRun(t, []int{0}, "--store", store, "--json", "gc", "--grace", "0s")
		if err := json.Unmarshal([]byte(out), &freed); err != nil || freed.Loads+freed.Freed != 0 {
			t.Errorf("round %d: a second gc found more: %s (%v)", round, out, err)
		}
	}
}

// stormQuestion asks for a place in an artifact of testdata/elf.
var stormQuestion = []string{"inline-clang-O2", "+0x40"}

func withoutLoad(t *testing.T, line string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	delete(m, "load")
	return m
}

// Four workers on four shards, and four on leases, over the same objects: every object once, and hardly more work than one has.
func TestFourWorkers(t *testing.T) {
	objects := 300
	if s := os.Getenv("SYMLAKE_WORKER_OBJECTS"); s != "" {
		var err error
		if objects, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for i := range objects {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.so", i)), []byte("POISON busy "+poisonID(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	type result struct{ New, Loaded, Rejected, Failed int }
	work := func(store string, flags ...[]string) (total result, cpu time.Duration) {
		t.Helper()
		mustRun(t, []int{0}, "--store", store, "ingest", t.TempDir())
		var crew []*exec.Cmd
		var outs []*strings.Builder
		for _, f := range flags {
			c := symlake(t, append([]string{"--store", store, "ingest", dir, "--workers", "1", "--report", "-"}, f...)...)
			out := &strings.Builder{}
			c.Stdout = out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			crew, outs = append(crew, c), append(outs, out)
		}
		for i, c := range crew {
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
			cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
			var r struct{ Objects result }
			if err := json.Unmarshal([]byte(outs[i].String()), &r); err != nil {
				t.Fatal(err)
			}
			total.Loaded += r.Objects.Loaded
			total.Rejected += r.Objects.Rejected
			total.Failed += r.Objects.Failed
		}
		return total, cpu
	}
	base := t.TempDir()
	one, oneCPU := work(filepath.Join(base, "one"), nil)
	want, _ := state(t, filepath.Join(base, "one"))
	for name, flags := range map[string][][]string{
		"shards": {{"--shard", "0/4"}, {"--shard", "1/4"}, {"--shard", "2/4"}, {"--shard", "3/4"}},
		"leases": {{"--if-locked", "join"}, {"--if-locked", "join"}, {"--if-locked", "join"}, {"--if-locked", "join"}},
	} {
		store := filepath.Join(base, name)
		four, cpu := work(store, flags...)
		t.Logf("%d objects, %s: %.2f s of processor, one worker %.2f s (%.2fx)", objects, name, cpu.Seconds(), oneCPU.Seconds(), cpu.Seconds()/oneCPU.Seconds())
		if four.Loaded != objects || one.Loaded != objects || four.Failed+four.Rejected > 0 {
			t.Errorf("%s: %+v, one worker %+v", name, four, one)
		}
		if got, _ := state(t, store); got != want {
			t.Errorf("%s: digest %s, want %s", name, got, want)
		}
		if objects >= 2000 && cpu > oneCPU*110/100 {
			t.Errorf("%s: %v of processor, more than 1.1x of %v", name, cpu, oneCPU)
		}
	}
}
