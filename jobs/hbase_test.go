package jobs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
)

// TestHBase runs the commands against a real server.
func TestHBase(t *testing.T) {
	t.Parallel()
	server := hbasetest.Start(t, hbasetest.Options{})
	objects := formattest.Testdata(t, "elf")
	dir := t.TempDir()
	keyset := filepath.Join(dir, "hbase-keyset.json")
	embedded := filepath.Join(dir, "embedded")
	var n atomic.Int32
	// target is a store of its own on the server, with the flags that name it.
	target := func() []string {
		return []string{"--store", server.URL(fmt.Sprintf("ns%d", n.Add(1))) + "?regions=4", "--keyset", keyset, "--lake", "off"}
	}
	mustRun(t, []int{0, 3}, "--store", embedded, "--lake", "off", "ingest", objects)
	wantDigest, wantLedger := stateOf(t, "--store", embedded)
	stacks, err := filepath.Glob(filepath.Join(formattest.Testdata(t, "stacks"), "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for _, s := range stacks {
		if !strings.Contains(s, ".expected.") {
			inputs = append(inputs, s)
		}
	}
	wantAnswers, _ := mustRun(t, []int{0}, append([]string{"--store", embedded, "symbolicate"}, inputs...)...)

	// same checks that a store answers, verifies and remembers as the embedded one.
	same := func(t *testing.T, store []string) {
		t.Helper()
		digest, ledger := stateOf(t, store...)
		if digest != wantDigest || ledger != wantLedger {
			t.Errorf("digest %s, want %s; ledger\n%s\nwant\n%s", digest, wantDigest, ledger, wantLedger)
		}
		answers, _ := mustRun(t, []int{0}, append(append(store, "symbolicate"), inputs...)...)
		if answers != wantAnswers {
			t.Error("stacks are answered otherwise")
		}
		out, _ := mustRun(t, []int{0}, append(store, "ingest", objects, "--report", "-")...)
		if !strings.Contains(out, `"new":0`) {
			t.Errorf("an ingest found something new: %s", out)
		}
	}
	for _, mode := range []string{"hfiles", "puts"} {
		t.Run("ingest, "+mode, func(t *testing.T) {
			store := append(target(), "--load-mode", mode)
			mustRun(t, []int{0, 3}, append(store, "ingest", objects)...)
			same(t, store)
			mustRun(t, []int{0}, append(store, "gc", "--grace", "0s")...)
			same(t, store)
		})
		t.Run("load, "+mode, func(t *testing.T) {
			store := append(target(), "--load-mode", mode)
			out, _ := mustRun(t, []int{0}, append(store, "load", "--from", embedded, "--report", "-")...)
			if !strings.Contains(out, `"there":0`) || strings.Contains(out, `"copied":0`) || !strings.Contains(out, `"notes":["`) {
				t.Error(out)
			}
			same(t, store)
			out, _ = mustRun(t, []int{0}, append(store, "load", "--from", embedded, "--report", "-")...)
			if !strings.Contains(out, `"copied":0`) {
				t.Error(out)
			}
		})
	}
	t.Run("two loaders at once", func(t *testing.T) {
		store := target()
		load := append(store, "load", "--from", embedded)
		a, b := symlake(t, load...), symlake(t, load...)
		var told [2]bytes.Buffer
		for i, cmd := range []*exec.Cmd{a, b} {
			cmd.Stderr = &told[i]
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
		}
		for i, cmd := range []*exec.Cmd{a, b} {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v\n%s", err, told[i].String())
			}
		}
		same(t, store)
	})
	t.Run("files for completebulkload", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "files")
		store := target()
		mustRun(t, []int{0}, append(store, "load", "--from", embedded, "--hfiles-out", out)...)
		// The tables are made by us here: the HBase shell is not among the jars of the tests.
		if err := hbase.Create(t.Context(), strings.TrimPrefix(store[1], "hbase:"), hbase.Options{}); err != nil {
			t.Fatal(err)
		}
		namespace := fmt.Sprintf("ns%d", n.Load())
		for _, table := range []string{"blocks", "catalog"} {
			server.Run(t, "org.apache.hadoop.hbase.tool.BulkLoadHFilesTool", filepath.Join(out, table), namespace+":"+table)
		}
		same(t, []string{"--store", server.URL(namespace), "--keyset", filepath.Join(embedded, "keyset.json"), "--lake", "off"})
	})
	t.Run("loader killed", func(t *testing.T) {
		points := 3
		if s := os.Getenv("SYMLAKE_KILL_POINTS"); s != "" {
			if points, err = strconv.Atoi(s); err != nil {
				t.Fatal(err)
			}
		}
		empty := t.TempDir()
		made := func() []string {
			store := target()
			mustRun(t, []int{0}, append(store, "ingest", empty)...)
			return store
		}
		store := made()
		start := time.Now()
		mustRun(t, []int{0}, append(store, "load", "--from", embedded)...)
		whole := time.Since(start)
		for range points {
			store := made()
			load := append(store, "load", "--from", embedded)
			cmd := symlake(t, load...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			after := rand.N(whole)
			killAfter(cmd, after)
			t.Logf("killed after %v of %v", after, whole)
			mustRun(t, []int{0}, load...)
			same(t, store)
			out, _ := mustRun(t, []int{0}, append(store, "gc", "--grace", "0s")...)
			if !strings.Contains(out, "removed 0 loads") {
				t.Errorf("gc found what was left: %s", out)
			}
			same(t, store)
		}
	})
	t.Run("workers killed", func(t *testing.T) { stormHBase(t, target) })
}

// stormHBase kills workers on stores that target gives. It looks at a store as TestStorm does at a folder.
func stormHBase(t *testing.T, target func() []string) {
	objects := []string{formattest.Testdata(t, "elf"), formattest.Testdata(t, "macho/hidden")}
	clean := []string{"--store", filepath.Join(t.TempDir(), "clean"), "--lake", "off"}
	mustRun(t, []int{0, 3}, append(append(clean, "ingest"), objects...)...)
	wantDigest, wantLedger := stateOf(t, clean...)
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for done, round := 0, 0; done < stormDeaths(t, 3) && !t.Failed(); round++ {
		store := target()
		mustRun(t, []int{0}, append(store, "ingest", t.TempDir())...)
		const share = 3
		done += share
		killCrew(t, rng, append(append(slices.Clone(store), "ingest", "--if-locked", "join", "--tell-later"), objects...), share, 3*time.Second)
		mustRun(t, []int{0, 3}, append(append(slices.Clone(store), "ingest", "--tell-later"), objects...)...)
		mustRun(t, []int{0}, append(slices.Clone(store), "gc", "--grace", "0s")...)
		digest, ledger := stateOf(t, store...)
		if digest != wantDigest || ledger != wantLedger {
			t.Errorf("round %d: digest %s, want %s; the ledger (-want +got)\n%s", round, digest, wantDigest, cmp.Diff(wantLedger, ledger))
		}
	}
}
