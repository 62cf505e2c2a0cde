package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// A table of Delta or Iceberg is read as one of its snapshots: the rows that deltalake and pyiceberg count, and not the files
// that lie in its folder.
func TestRestTablesOfOthers(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	delta, iceberg := formattest.Testdata(t, "rest/delta"), formattest.Testdata(t, "rest/iceberg")
	for _, c := range []struct {
		table    string
		snapshot string
		rows     uint64
	}{
		{delta, "", 9}, {delta, "1", 6}, {delta, "2", 9}, {delta, "3", 6}, {delta, "4", 9}, {delta, "5", 9},
		{iceberg, "", 6}, {iceberg, "4348559448817372752", 3}, {iceberg, "6204263875298424336", 6},
		{formattest.Testdata(t, "rest/deletes"), "", 6}, {formattest.Testdata(t, "rest/vectors"), "", 4}, {formattest.Testdata(t, "rest/equality"), "", 7},
		{formattest.Testdata(t, "rest/mapped/name"), "", 7}, {formattest.Testdata(t, "rest/mapped/id"), "", 7}, {formattest.Testdata(t, "rest/mapped/name"), "6", 8},
	} {
		out := filepath.Join(t.TempDir(), "out")
		args := []string{"--store", store, "symbolicate", "--input", c.table, "--output", out}
		if c.snapshot != "" {
			args = append(args, "--snapshot", c.snapshot)
		}
		report := restReport(t, []int{0}, args...)
		if report.Rows != c.rows || report.Statuses["found"] != c.rows {
			t.Errorf("%s, snapshot %q: %+v", c.table, c.snapshot, report)
		}
	}
	// The artifact of all rows of a file may stand in the log alone.
	copied := filepath.Join(t.TempDir(), "delta")
	if err := os.CopyFS(copied, os.DirFS(delta)); err != nil {
		t.Fatal(err)
	}
	report := restReport(t, []int{0}, "--store", store, "symbolicate", "--input", copied, "--output", filepath.Join(t.TempDir(), "out"), "--column", "artifact=day")
	if report.Rows != 9 || report.Statuses["no-artifact"] != 9 {
		t.Errorf("artifacts from the log: %+v", report)
	}
	for name, line := range map[string]string{
		"deletion vector": `{"add":{"path":"x","partitionValues":{},"deletionVector":{"storageType":"u"}}}`,
		"columnMapping":   `{"metaData":{"partitionColumns":[],"configuration":{"delta.columnMapping.mode":"other"}}}`,
		"it uses variant": `{"protocol":{"minReaderVersion":3,"readerFeatures":["variantType"]}}`,
		"of version 4":    `{"protocol":{"minReaderVersion":4}}`,
		"is no action":    `{`,
		"outside of it":   `{"add":{"path":"/etc/passwd","partitionValues":{}}}`,
	} {
		if err := os.WriteFile(filepath.Join(copied, "_delta_log", fmt.Sprintf("%020d.json", 6)), []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, errOut := mustRun(t, []int{1}, "--store", store, "symbolicate", "--input", copied, "--output", filepath.Join(t.TempDir(), "out"))
		if !strings.Contains(errOut, name) {
			t.Errorf("%s: %s", name, errOut)
		}
	}
	for _, args := range [][]string{{"--input", delta, "--snapshot", "77"}, {"--input", iceberg, "--snapshot", "77"}, {"--input", filepath.Dir(store), "--snapshot", "1"}} {
		mustRun(t, []int{1}, append([]string{"--store", store, "symbolicate", "--output", filepath.Join(t.TempDir(), "out")}, args...)...)
	}
	mustRun(t, []int{2}, "--store", store, "symbolicate", "--output", filepath.Join(t.TempDir(), "out"), "--input", delta+"/**/*.parquet", "--snapshot", "1")
	text, _ := mustRun(t, []int{0}, "--store", store, "--json", "symbolicate", "--input", delta, "--output", filepath.Join(t.TempDir(), "out"))
	var r struct {
		Table struct {
			Format   string
			Snapshot int64
		}
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Table.Format != "delta" || r.Table.Snapshot != 5 {
		t.Errorf("%v: %s", err, text)
	}
}
