package jobs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/lake/iceberg/icebergtest"
)

// outRow is a row of a table that --output-table wrote, as engines read it.
type outRow struct {
	Address          int64
	Artifact         string
	Function, Status string
	Line             int
	Reason           *string
	Group            string
	Inlines          []struct{ Function string }
}

// checkOut checks the rows of a table: each address once, and the answers that llvm-symbolizer gives.
func checkOut(t *testing.T, engine string, lines []string, want []int64) {
	t.Helper()
	var got []int64
	for _, line := range lines {
		var r outRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v: %s", engine, err, line)
		}
		got = append(got, r.Address)
		if r.Artifact == "" || r.Status != "found" || r.Line == 0 || r.Group == "" || r.Reason != nil || !strings.HasPrefix(r.Function, "game::Engine::") || r.Inlines == nil {
			t.Errorf("%s: %s", engine, line)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: addresses %v, want %v", engine, got, want)
	}
}

// outTable is an Iceberg table with answers.
type outTable struct {
	input string  // table of testdata
	lake  string  // iceberg/stacks in it is the output
	want  []int64 // addresses
}

// outTables writes tables, in several snapshots each: newer ones of the input have replaced or deleted rows.
func outTables(t *testing.T) (all []outTable) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	for _, c := range []struct {
		input string
		steps [][]string // snapshots, and more words
		want  []int64
	}{
		{"rest/iceberg", [][]string{{"4348559448817372752"}, {"-1"}}, []int64{18152, 18152, 18152, 18153, 18153, 18153}},
		{"rest/deletes", [][]string{{"3624833441718196944", "--column", "artifact=art"}, {"301886533677905683"}, {"-1"}}, []int64{18150, 18152, 18154, 18157, 18158, 18159}}, // partitions, a renamed column
		{"rest/vectors", [][]string{{"-1"}}, []int64{18150, 18152, 18153, 18155}},
		{"rest/equality", [][]string{{"-1"}}, []int64{18151, 18152, 18153, 18154, 18156, 18157, 18158}}, // deleted by value
	} {
		lake := filepath.Join(t.TempDir(), "lake")
		for _, step := range c.steps {
			args := []string{"--store", store, "symbolicate", "--input", formattest.Testdata(t, c.input), "--output", filepath.Join(lake, "iceberg/stacks"), "--output-table", "iceberg", "--snapshot=" + step[0]}
			mustRun(t, []int{0}, append(args, step[1:]...)...)
		}
		all = append(all, outTable{c.input, lake, c.want})
	}
	return all
}

// deltaOuts writes Delta tables with column mapping, by name and by number, as their inputs have it. A newer version of the input
// has deleted a row and dropped a column.
func deltaOuts(t *testing.T) (all []outTable) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	for _, mode := range []string{"name", "id"} {
		input, out := "rest/mapped/"+mode, filepath.Join(t.TempDir(), "out")
		for _, version := range []string{"6", "-1"} {
			mustRun(t, []int{0}, "--store", store, "symbolicate", "--input", formattest.Testdata(t, input), "--output", out, "--output-table", "delta", "--snapshot="+version)
		}
		all = append(all, outTable{input, out, []int64{18150, 18152, 18154, 18155, 18157, 18158, 18159}})
	}
	return all
}

// Engines read the rows of an Iceberg table, with columns added, and so they do when a newer snapshot of the input has replaced or
// deleted some. TestIceberg has Spark read them.
func TestRestTablesOut(t *testing.T) {
	t.Parallel()
	icebergtest.Folder(t)
	for _, out := range outTables(t) {
		var first []string
		for _, engine := range []string{"pyiceberg", "polars", "duckdb"} {
			lines := icebergtest.Dump(t, engine, out.lake, "ICEBERG_TABLES=stacks")
			checkOut(t, engine, lines, out.want)
			if first == nil {
				first = lines
			}
			if diff := cmp.Diff(first, lines); diff != "" {
				t.Errorf("%s: %s differs from pyiceberg:\n%s", out.input, engine, diff)
			}
		}
	}
}

// deltalake reads the rows of a Delta table, with columns added and columns of partitions, and adds rows behind them.
func TestRestDeltaOut(t *testing.T) {
	t.Parallel()
	python := filepath.Join(os.Getenv("SYMLAKE_READERS"), "delta/bin/python3")
	if _, err := os.Stat(python); err != nil {
		formattest.Missing(t, "a folder with deltalake", "make readers makes it; then set SYMLAKE_READERS to it, as make test does")
	}
	store, out := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "out")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	for _, version := range []string{"1", "5"} {
		mustRun(t, []int{0}, "--store", store, "symbolicate", "--input", formattest.Testdata(t, "rest/delta"), "--snapshot", version, "--output", out, "--output-table", "delta")
	}
	read := func(args ...string) []string {
		t.Helper()
		text, err := exec.Command(python, append([]string{formattest.Testdata(t, "rest/readdelta.py"), out}, args...)...).Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderrOf(err))
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	lines := read()
	checkOut(t, "deltalake", lines, []int64{18150, 18150, 18150, 18152, 18152, 18152, 18152, 18152, 18152})
	for _, line := range lines {
		if !strings.Contains(line, `"platform": "android"`) || !strings.Contains(line, `"day": "day `) {
			t.Errorf("columns of partitions: %s", line)
		}
	}
	// Files of columns by other names become files with the table's names, in folders that tell the partition.
	for _, mode := range []string{"name", "id"} {
		plain := filepath.Join(t.TempDir(), "plain")
		mustRun(t, []int{0}, "--store", store, "symbolicate", "--input", formattest.Testdata(t, "rest/mapped/"+mode), "--output", plain)
		text, err := exec.Command(python, "-c", `import json, sys, pyarrow.dataset as d
for r in d.dataset(sys.argv[1], partitioning="hive").to_table().drop_columns(["day"]).to_pylist(): print(json.dumps(r))`, plain).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", mode, err, stderrOf(err))
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		checkOut(t, "pyarrow", lines, []int64{18150, 18152, 18154, 18155, 18157, 18158, 18159})
		if !strings.Contains(lines[0], `"platform": "android"`) || strings.Contains(lines[0], `"col-`) {
			t.Errorf("%s: %s", mode, lines[0])
		}
	}
	// A checkpoint of deltalake, and a commit after it.
	read("checkpoint")
	mustRun(t, []int{0}, "--store", store, "symbolicate", "--input", formattest.Testdata(t, "rest/delta"), "--snapshot", "3", "--output", out, "--output-table", "delta")
	checkOut(t, "deltalake", read(), []int64{18150, 18150, 18150, 18152, 18152, 18152})
	// Words that do not go together.
	input := []string{"--store", store, "symbolicate", "--input", formattest.Testdata(t, "rest/delta"), "--output", out, "--output-table", "delta"}
	for _, more := range [][]string{{"--shard", "0/2"}, {"--output-profile", "sealed"}} {
		mustRun(t, []int{2}, append(input, more...)...)
	}
	mustRun(t, []int{1}, "--store", store, "symbolicate", "--input", formattest.Testdata(t, "rest/delta/day=day%200"), "--output", out, "--output-table", "delta")
}
