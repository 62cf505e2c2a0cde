package jobs

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// killPoints is how often the test below kills an ingest; SYMLAKE_KILL_POINTS
// overrides it for a long run.
const killPoints = 12

// An ingest that is killed anywhere and run again ends as if it had never been killed: with the same
// content and the same ledger, and gc leaves nothing that no record names. The symbol maps of the
// second folder are companions, which objects wait for.
func TestKill(t *testing.T) {
	t.Parallel()
	points := killPoints
	if s := os.Getenv("SYMLAKE_KILL_POINTS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		points = n
	}
	for _, name := range []string{"elf", "macho/hidden"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			killAt(t, formattest.Testdata(t, name), points)
		})
	}
}

// killAt kills an ingest of a folder at random moments.
func killAt(t *testing.T, objects string, points int) {
	clean := filepath.Join(t.TempDir(), "clean")
	start := time.Now()
	mustRun(t, []int{0, 3}, "--store", clean, "ingest", objects)
	whole := time.Since(start)
	wantDigest, wantLedger := state(t, clean)

	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d, a whole run takes %v", seed, whole)
	for i := range points {
		store := filepath.Join(t.TempDir(), "killed")
		after := time.Duration(rng.Int64N(int64(whole * 11 / 10)))
		cmd := symlake(t, "--store", store, "ingest", objects)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		killAfter(cmd, after)
		mustRun(t, []int{0, 3}, "--store", store, "ingest", objects)
		mustRun(t, []int{0}, "--store", store, "gc", "--grace", "0s")
		digest, ledger := state(t, store)
		if digest != wantDigest {
			t.Errorf("point %d, killed after %v: digest %s, want %s", i, after, digest, wantDigest)
		}
		if ledger != wantLedger {
			t.Errorf("point %d, killed after %v: the ledger differs (-want +got)\n%s", i, after, cmp.Diff(strings.Split(wantLedger, "\n"), strings.Split(ledger, "\n")))
		}
		var freed struct{ Loads, Freed int64 }
		out, _ := mustRun(t, []int{0}, "--store", store, "--json", "gc", "--grace", "0s")
		if err := json.Unmarshal([]byte(out), &freed); err != nil || freed.Loads+freed.Freed != 0 {
			t.Errorf("point %d, killed after %v: a second gc found more: %s (%v)", i, after, out, err)
		}
	}
}

// state is the content of a store: its digest, and its ledger as URL and state a line. verify must be clean.
func state(t *testing.T, store string) (digest, ledger string) {
	t.Helper()
	return stateOf(t, "--store", store)
}

// stateOf is state of the store that flags name.
func stateOf(t *testing.T, store ...string) (digest, ledger string) {
	t.Helper()
	digest, _ = mustRun(t, []int{0}, append(store, "verify", "--digest")...)
	out, _ := mustRun(t, []int{0}, append(store, "--json", "objects")...)
	var b strings.Builder
	for line := range strings.Lines(out) {
		var o wire.Object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		b.WriteString(o.URL + " " + o.State + "\n")
	}
	return digest, b.String()
}

// Two ingests at once on one folder do not corrupt it.
func TestTwoIngests(t *testing.T) {
	t.Parallel()
	store, objects := filepath.Join(t.TempDir(), "store"), formattest.Testdata(t, "elf")
	a, b := symlake(t, "--store", store, "ingest", objects), symlake(t, "--store", store, "ingest", objects)
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []interface{ Wait() error }{a, b} {
		c.Wait()
	}
	for _, code := range []int{a.ProcessState.ExitCode(), b.ProcessState.ExitCode()} {
		if code != 0 && code != 3 {
			t.Errorf("exit code %d", code)
		}
	}
	clean := filepath.Join(t.TempDir(), "clean")
	mustRun(t, []int{0, 3}, "--store", clean, "ingest", objects)
	want, _ := state(t, clean)
	if got, _ := state(t, store); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// killAfter kills a started process after a time, unless it ends before.
func killAfter(cmd *exec.Cmd, after time.Duration) {
	late := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer late.Stop()
	cmd.Wait()
}
