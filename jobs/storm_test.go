package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
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
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lake"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/stores"
)

// stormKills is how many processes the storm on a file store kills.
const stormKills = 9

// stormDeaths is how many processes a storm kills: usual, or what SYMLAKE_STORM_KILLS says.
func stormDeaths(t *testing.T, usual int) int {
	t.Helper()
	s := os.Getenv("SYMLAKE_STORM_KILLS")
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Three workers on one store, killed at random points and started again, with readers of store and lake at it all
// the time: the result equals one undisturbed run's, and no reader ever sees half an artifact.
func TestStorm(t *testing.T) {
	t.Parallel()
	kills := stormDeaths(t, stormKills)
	// Small objects with loads that share batches, archives, broken ones, companions; and some with a batch of their own.
	objects := []string{formattest.Testdata(t, "elf"), t.TempDir(), formattest.Testdata(t, "macho/hidden")}
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(objects[1], fmt.Sprintf("big%d.so", i)), []byte("POISON big "+poisonID(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	clean := filepath.Join(t.TempDir(), "clean")
	began := time.Now()
	mustRun(t, []int{0, 3}, append([]string{"--store", clean, "ingest"}, objects...)...)
	whole := time.Since(began)
	wantDigest, wantLedger := state(t, clean)
	readers := newStormReaders(t, clean)

	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d, a whole run takes %v, readers ask %d questions", seed, whole, len(readers.want))
	for done, round := 0, 0; done < kills && !t.Failed(); round++ {
		dir := t.TempDir()
		store := filepath.Join(dir, "store")
		stop := readers.start(t, store)
		share := min(3+rng.IntN(4), kills-done)
		done += share
		args := append([]string{"--store", store, "ingest", "--if-locked", "join", "--tell-later"}, objects...)
		killCrew(t, rng, args, share, whole)
		stop()
		mustRun(t, []int{0, 3}, append([]string{"--store", store, "ingest", "--tell-later"}, objects...)...)
		toldOnce(t, store)
		mustRun(t, []int{0}, "--store", store, "gc", "--grace", "0s")
		mustRun(t, []int{0}, "--store", store, "compact", "--grace", "0s")
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
		noStrangers(t, store)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// killCrew runs three workers at a time. So many of them are killed at random, one within each pause, and replaced.
// The others must end by themselves.
func killCrew(t *testing.T, rng *rand.Rand, args []string, deaths int, pause time.Duration) {
	t.Helper()
	worker := func() *exec.Cmd {
		c := symlake(t, args...)
		c.Stderr = &bytes.Buffer{}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	crew := []*exec.Cmd{worker(), worker(), worker()}
	for range deaths {
		time.Sleep(time.Duration(rng.Int64N(int64(pause))))
		i := rng.IntN(len(crew))
		crew[i].Process.Kill()
		crew[i].Wait()
		crew[i] = worker()
	}
	for _, c := range crew {
		c.Wait()
		if code := c.ProcessState.ExitCode(); code != 0 && code != 3 {
			t.Errorf("a worker that was left alone ended with %d: %s", code, c.Stderr)
		}
	}
}

// toldOnce fails unless what a store has to tell is every object and every rejection of its ledger, once.
func toldOnce(t *testing.T, store string) {
	t.Helper()
	out, _ := mustRun(t, []int{0}, "--store", store, "report", "--pending", "--ack")
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	told := r.Objects.Loaded + r.Objects.Kept + r.Objects.Conflict + r.Objects.Rejected
	for _, n := range r.Objects.Skipped {
		told += n
	}
	ended := 0
	want := map[string]int{}
	out, _ = mustRun(t, []int{0}, "--store", store, "--json", "objects")
	for line := range strings.Lines(out) {
		var o wire.Object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		ended++
		for _, a := range o.Artifacts {
			if a.Outcome == "rejected" {
				want[o.URL]++
			}
		}
	}
	got := map[string]int{}
	for _, x := range r.Rejected {
		url, _, _ := strings.Cut(x.URL, "!")
		got[url]++
	}
	if told != ended || !maps.Equal(got, want) {
		t.Errorf("%d objects were told of %d, %d processes were recounted; (-want +got)\n%s", told, ended, r.Recounted, cmp.Diff(want, got))
	}
}

// noStrangers fails for files of a store and its lake that nothing refers to.
func noStrangers(t *testing.T, store string) {
	t.Helper()
	named := map[string]bool{}
	files, retired := lakeFiles(t, store)
	for _, f := range append(files, retired...) {
		named[f.Path] = true
	}
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(store, path)
		top, rest, _ := strings.Cut(filepath.ToSlash(rel), "/")
		switch {
		case rest == "" && (top == "keyset.json" || top == "format" || strings.HasPrefix(top, "lock") || strings.HasPrefix(top, "catalog.db")):
		case top == "blocks" && filepath.Ext(rest) == ".hfile": // gc looked at each row
		case top == "lake" && (named[rest] || strings.HasPrefix(rest, "_")): // verify and compact look after the log
		default:
			t.Errorf("%s is left over", rel)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

type lakeFile struct {
	Path  string
	Bytes int64
}

// lakeFiles returns the files that the log of a store's lake names, and the old ones for readers; none: there is no log yet.
func lakeFiles(t *testing.T, store string) (files, retired []lakeFile) {
	t.Helper()
	if all, err := filepath.Glob(filepath.Join(store, "lake", "_log", "*", "*.json")); err != nil || len(all) == 0 {
		return nil, nil
	}
	ctx := context.Background()
	s, err := stores.Open(ctx, store, stores.Options{ReadOnly: true})
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	defer s.Close()
	k, err := kek.OpenKeyset(ctx, filepath.Join(store, settings.DefaultKeyset), nil)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	ring, err := row.OpenKeyring(ctx, s.Catalog, k)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	keys, err := ring.LakeKeys()
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	b, err := file.Open(filepath.Join(store, "lake"))
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	state, err := lake.Open(lake.Options{Bucket: b, Profile: sinks.LakeSealed, Keys: keys}).State(ctx, 0)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	for _, f := range state.Counting() {
		files = append(files, lakeFile{f.Path, f.Bytes})
	}
	for _, f := range state.Retiring() {
		retired = append(retired, lakeFile{Path: f.Path})
	}
	return files, retired
}

// stormReaders asks about artifacts that one object alone has, so that there is one right answer.
type stormReaders struct {
	ask  string
	want []map[string]any
}

func newStormReaders(t *testing.T, clean string) *stormReaders {
	t.Helper()
	held := map[string]int{}
	out, _ := mustRun(t, []int{0}, "--store", clean, "--json", "objects")
	for line := range strings.Lines(out) {
		var o wire.Object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		for _, a := range o.Artifacts {
			held[a.Artifact]++
		}
	}
	r := &stormReaders{}
	for _, a := range artifactsOf(t, clean) {
		if held[a.Artifact] == 1 {
			r.ask += a.Artifact + " +0x8\n" + a.Artifact + " +0x40\n"
		}
	}
	answers, _, _ := r.read(t, clean)
	found := 0
	for _, a := range answers {
		if a["status"] == "found" {
			found++
		}
	}
	if found < 10 {
		t.Fatalf("%d of %d questions have an answer", found, len(answers))
	}
	r.want = answers
	return r
}

// read asks everything once, of a store that may not be there yet.
func (r *stormReaders) read(t *testing.T, store string) (answers []map[string]any, stderr string, code int) {
	t.Helper()
	c := symlake(t, "--store", store, "--json", "lookup", "--stdin")
	var said bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(r.ask), &said
	out, _ := c.Output()
	for line := range strings.Lines(string(out)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		delete(m, "load")
		answers = append(answers, m)
	}
	return answers, said.String(), c.ProcessState.ExitCode()
}

// start reads a store and its lake again and again, until stop.
func (r *stormReaders) start(t *testing.T, store string) (stop func()) {
	var ended atomic.Bool
	var reading sync.WaitGroup
	reading.Go(func() {
		made := false
		for !ended.Load() {
			files, _ := lakeFiles(t, store)
			for _, f := range files {
				if i, err := os.Stat(filepath.Join(store, "lake", f.Path)); err != nil || i.Size() != f.Bytes {
					t.Errorf("a file that the lake names: %v, want %d bytes", err, f.Bytes)
				}
			}
			answers, said, code := r.read(t, store)
			if code == 1 && len(answers) == 0 && !made {
				continue // the store and its keys are being made
			}
			made = true
			if code != 0 || len(answers) != len(r.want) {
				t.Errorf("a reader ended with %d and %d of %d answers: %s", code, len(answers), len(r.want), said)
				continue
			}
			for i, got := range answers {
				switch got["status"] {
				case "no-artifact", "pending", "loading":
					continue
				}
				if diff := cmp.Diff(r.want[i], got); diff != "" {
					t.Errorf("a reader saw (-want +got)\n%s", diff)
				}
			}
		}
	})
	return func() {
		ended.Store(true)
		reading.Wait()
	}
}
