package tables

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/sinks/internal/pile"
)

// However small the memory, in however many files rows come, each block is read once: frames are sorted before
// they are asked for. Only one in which a chunk of them ends may have to be read again. And the rows get
// the answers of their places, in their order.
func TestBlockOnce(t *testing.T) {
	const artifacts, functions = 5, 26_000
	w := newWorld(t, artifacts, functions)
	in, out := t.TempDir(), t.TempDir()
	rows := writeRows(t, in, 4, 40_000, artifacts, functions)
	// The blocks of all artifacts do not fit into the cache.
	report := w.run(t, in, out, 1<<20, Options{MemoryBytes: 1 << 20, Workers: 1})
	if report.Rows != uint64(rows) || report.Bytes.Spilled < int64(rows)*pile.RecordBytes/2 {
		t.Fatalf("%d rows of %d, %d bytes spilled", report.Rows, rows, report.Bytes.Spilled)
	}
	blocks, again := len(w.reads.times), 0
	for _, n := range w.reads.times {
		again += n - 1
	}
	const together = 1 << 14 // questions that the client answers at once
	if ends := rows / together; blocks < 50 || again > ends {
		t.Errorf("%d blocks, of which %d were read again, want %d at most: where one batch of questions ends and the next begins", blocks, again, ends)
	}
	for n := range 4 {
		name := fmt.Sprintf("%d.ndjson", n)
		given, answered := readLines(t, filepath.Join(in, name)), readLines(t, filepath.Join(out, name))
		if len(given) != len(answered) {
			t.Fatalf("%s: %d lines of %d", name, len(answered), len(given))
		}
		for i := range given {
			if !bytes.HasPrefix(answered[i], given[i][:len(given[i])-1]) {
				t.Fatalf("%s, line %d: %s was %s", name, i+1, answered[i], given[i])
			}
			var r struct {
				Artifact         string
				Address          uint64
				Function, Status string
				Line             int
			}
			must(t, json.Unmarshal(answered[i], &r))
			var artifact int
			fmt.Sscanf(r.Artifact, "%x", &artifact)
			f := int(r.Address / functionBytes)
			if want := functionName(artifact-1, f); r.Status != "found" || r.Function != want || r.Line != f+1 {
				t.Fatalf("%s, line %d: %s, want %s, line %d", name, i+1, answered[i], want, f+1)
			}
		}
	}
}

func readLines(t *testing.T, file string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

// The output does not depend on workers, memory or units: byte for byte.
func TestSameBytes(t *testing.T) {
	const artifacts, functions = 2, 3000
	w := newWorld(t, artifacts, functions)
	in := t.TempDir()
	writeRows(t, in, 2, 30_000, artifacts, functions)
	type frame struct {
		Artifact string `parquet:"artifact,dict"`
		Address  int64  `parquet:"address"`
		Frame0   string `parquet:"frame0,dict"`
	}
	var rows []frame
	for i := range 60_000 {
		rows = append(rows, frame{artifactName(i % artifacts), int64(i*7919) % (functions * functionBytes), "exact"})
	}
	must(t, pq.WriteFile(filepath.Join(in, "frames.parquet"), rows, pq.MaxRowsPerRowGroup(20_000)))
	var want map[string]string
	for i, o := range []Options{{}, {Workers: 3}, {MemoryBytes: 1 << 20, Workers: 2}, {UnitRows: 1, Workers: 2}} {
		out := t.TempDir()
		report := w.run(t, in, out, 16<<20, o)
		if small := o.MemoryBytes > 0; small != (report.Bytes.Spilled > 0) {
			t.Errorf("options %d: %d bytes spilled", i, report.Bytes.Spilled)
		}
		got := map[string]string{}
		entries, err := os.ReadDir(out)
		must(t, err)
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(out, e.Name()))
			must(t, err)
			got[e.Name()] = string(text)
		}
		if want == nil {
			want = got
		}
		if len(got) != 3 {
			t.Errorf("options %d: %d files", i, len(got))
		}
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("options %d: %s differs", i, name)
			}
		}
	}
}
