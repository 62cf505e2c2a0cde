package jobs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
)

// TestBenchLoader measures what the loader takes while it brings embedded stores
// of two sizes into HBase: its memory must not depend on how much there is.
func TestBenchLoader(t *testing.T) {
	formattest.Bench(t)
	server := hbasetest.Start(t, hbasetest.Options{Heap: "2g", Fast: true, Site: map[string]string{"io.file.buffer.size": "131072"}})
	for i, artifacts := range []int{32, 160} {
		from := filepath.Join(t.TempDir(), "embedded")
		size := bigStore(t, from, artifacts)
		for _, mode := range []string{"hfiles", "puts"} {
			store := server.URL(fmt.Sprintf("bench%d%s", i, mode)) + "?regions=8"
			cmd := symlake(t, "--store", store, "--keyset", filepath.Join(t.TempDir(), "keyset.json"), "--lake", "off", "--load-mode", mode, "load", "--from", from)
			start := time.Now()
			peak := runPeak(t, cmd)
			fmt.Printf("load of %4d MB, %-6s: %5.1f s, cpu %5.1f s, peak %d MiB\n", size>>20, mode, time.Since(start).Seconds(),
				(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), peak)
			if peak > 128 {
				t.Errorf("the loader took %d MiB, more than 128", peak)
			}
		}
	}
}

// runPeak runs a program and gives the most memory it had resident, in MiB. (What
// the kernel says of an ended child counts its parent's memory too, before exec.)
func runPeak(t *testing.T, cmd *exec.Cmd) (peak int) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			return peak
		case <-time.After(20 * time.Millisecond):
			peak = max(peak, highWater(cmd.Process.Pid), highWater(workerOf(cmd.Process.Pid)))
		}
	}
}

// highWater is the most memory that a process had, in MiB; 0: it has ended.
func highWater(pid int) (mib int) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib >> 10
		}
	}
	return 0
}

// workerOf is the process that a supervisor started last; 0: none.
func workerOf(pid int) (worker int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path) // none: it has ended
		fmt.Sscan(string(text), &worker)
	}
	return worker
}

// bigStore makes an embedded store of artifacts of some 10 MB each: names so long that rows are large.
func bigStore(t *testing.T, dir string, artifacts int) (size uint64) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(file.Create(dir))
	keyset := filepath.Join(dir, "keyset.json")
	must(kek.CreateKeyset(t.Context(), keyset, nil))
	key, err := kek.OpenKeyset(t.Context(), keyset, nil)
	must(err)
	s, err := file.Open(dir, file.Options{})
	must(err)
	defer s.Close()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, key)
	must(err)
	cat := catalog.New(s.Catalog, ring)
	const ranges, nameBytes = 250, 48 << 10
	rng := rand.NewChaCha8([32]byte{})
	for i := range artifacts {
		canonical := fmt.Sprintf("%040x", i)
		a := &symbol.Artifact{ID: symbol.NewID(symbol.ELF, canonical), Kind: symbol.ELF, Canonical: canonical, End: ranges * 16}
		table := dictionary.Table{Strings: []string{""}, Runs: []uint32{0}}
		for range ranges {
			name := make([]byte, nameBytes)
			rng.Read(name)
			for i := range name {
				name[i] = ' ' + name[i]%95
			}
			table.Strings, table.Runs = append(table.Strings, string(name)), append(table.Runs, 1)
		}
		load := row.NewLoad(time.Now())
		b, err := s.Blocks.Begin(t.Context())
		must(err)
		enc, err := loads.NewEncoder(ring, a, load, nil, table, func(r sinks.Row) error { return b.Write(r) })
		must(err)
		for r := range uint64(ranges) {
			must(enc.Add(&symbol.Run{Strings: table.Strings, Scopes: []symbol.Scope{{Parent: -1, Function: uint32(r + 1)}},
				Ranges: []symbol.Range{{Start: r * 16, End: r*16 + 16}}}))
		}
		loaded, err := enc.Close()
		must(err)
		must(b.Commit(t.Context()))
		must(cat.Artifacts.Swap(t.Context(), nil, &catalog.Record{ID: a.ID, State: catalog.Live, Published: loaded}))
		size += loaded.Bytes
	}
	return size
}
