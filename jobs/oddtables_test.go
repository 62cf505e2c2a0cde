package jobs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// oddTables writes tables as pandas, pyarrow and others write them, of three frames at the same address.
const oddTables = `
import sys, pyarrow as pa, pyarrow.parquet as pq
to, build, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
def write(name, artifact, address):
    pq.write_table(pa.table({"artifact": artifact, "address": address}), f"{to}/{name}.parquet")
names = pa.array([build] * 3)
write("zero", pa.array([], pa.string()), pa.array([], pa.int64()))
write("double", names, pa.array([float(at), float("nan"), at + 0.5]))
write("float", names, pa.array([at, None, at], pa.float32()))
write("fixed", pa.array([bytes.fromhex(build)] * 3, pa.binary(len(build) // 2)), pa.array([at] * 3, pa.uint64()))
`

func TestOddTables(t *testing.T) {
	t.Parallel()
	const build, at = "564BB6C8BE48EEA9D9DB622B8689806EEA5AF3C7", "18248"
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := python(t, "pyarrow", "-c", oddTables, in, build, at)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := "\ufeff" + strings.ReplaceAll(`{"artifact":"ID","address":18248}
{"artifact":"ID","address":18248.0}
{"artifact":"ID","address":1.8248e4}
{"artifact":"ID","address":18248.5}
`, "ID", build)
	if err := os.WriteFile(filepath.Join(in, "marked.ndjson"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}

	store := filepath.Join(dir, "store")
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	for file, want := range map[string]map[string]int{
		"zero.parquet":   {},
		"double.parquet": {"found": 1, "invalid": 1, "outside": 1},
		"float.parquet":  {"found": 2, "invalid": 1},
		"fixed.parquet":  {"found": 3},
		"marked.ndjson":  {"found": 3, "invalid": 1},
	} {
		out := filepath.Join(dir, file)
		text, _ := mustRun(t, []int{0}, "--store", store, "--json", "symbolicate", "--input", filepath.Join(in, file), "--output", out)
		var report struct{ Statuses map[string]int }
		if err := json.Unmarshal([]byte(text), &report); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, status := range []string{"found", "invalid", "outside"} {
			if report.Statuses[status] != want[status] {
				t.Errorf("%s: %v, want %v", file, report.Statuses, want)
				break
			}
		}
		if b, err := os.ReadFile(out); err != nil || strings.HasSuffix(file, "ndjson") && !strings.HasPrefix(string(b), "\ufeff{") {
			t.Errorf("%s: %v: %.40q", file, err, b)
		}
	}
}
