package opentable

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Tables with other names of columns in their files are read under their own names, from checkpoints with sidecars, and without
// the rows that deletion vectors delete: the rows that Spark reads.
func TestMapped(t *testing.T) {
	for _, mode := range []string{"name", "id"} {
		b, err := file.Open(formattest.Testdata(t, "rest/mapped/"+mode))
		if err != nil {
			t.Fatal(err)
		}
		x, err := Open(t.Context(), b, Newest)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := left(t, x, b), []uint64{18150, 18152, 18154, 18155, 18157, 18158, 18159}; !slices.Equal(got, want) {
			t.Errorf("%s: addresses %v, want %v", mode, got, want)
		}
		for _, f := range x.Files {
			if len(f.Values) != 1 || f.Values["platform"] != "android" || len(f.Physical) != 1 || f.Physical["platform"] != "" {
				t.Errorf("%s: values of the partition are %q, by the names of files %q", mode, f.Values, f.Physical)
			}
		}
		if _, err := Open(t.Context(), b, 5); !errors.Is(err, ErrTable) {
			t.Errorf("%s: a version before the checkpoint: %v", mode, err)
		}
	}
}

// Columns within others get their names, by path or by number.
func TestMappedNames(t *testing.T) {
	const schema = `{"type":"struct","fields":[
{"name":"a","type":"long","metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"p1"}},
{"name":"frames","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"address","type":"long","metadata":{"delta.columnMapping.id":3,"delta.columnMapping.physicalName":"p3"}}]}},"metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"p2"}},
{"name":"tags","type":{"type":"array","elementType":"string"},"metadata":{"delta.columnMapping.id":4,"delta.columnMapping.physicalName":"p4"}}]}`
	for mode, want := range map[string][]string{"name": {"a", "frames.address", "tags", "", ""}, "id": {"a", "frames.address", "tags", "", "a"}} {
		m := DeltaMetadata{Schema: schema, Configuration: map[string]string{"delta.columnMapping.mode": mode}}
		x, err := m.mapped()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range x.names.Leaves([]pqfile.Leaf{{Path: "p1", ID: 1}, {Path: "p2.p3", ID: 3}, {Path: "p4", ID: 17}, {Path: "p9", ID: 9}, {Path: "x", ID: 1}}) {
			got = append(got, l.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: names %q, want %q", mode, got, want)
		}
	}
	for text, words := range map[string]string{
		`{`: "cannot be read",
		`{"fields":[{"name":"a","type":"long","metadata":{}}]}`:       "no physical name",
		strings.ReplaceAll(schema, `"delta.columnMapping.id":3,`, ""): "frames.address",
	} {
		m := DeltaMetadata{Schema: text, Configuration: map[string]string{"delta.columnMapping.mode": "id"}}
		if _, err := m.mapped(); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", text, err, words)
		}
	}
	m := DeltaMetadata{Configuration: map[string]string{"delta.columnMapping.mode": "other"}}
	if _, err := m.mapped(); !errors.Is(err, ErrTable) {
		t.Errorf("another mode: %v", err)
	}
}

// FuzzMapped reads schemas of Delta for names of columns.
func FuzzMapped(f *testing.F) {
	f.Add(`{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"long"},"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"p1"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		m := DeltaMetadata{Schema: text, Configuration: map[string]string{"delta.columnMapping.mode": "id"}}
		if _, err := m.mapped(); err != nil && !errors.Is(err, ErrTable) {
			t.Fatal(err)
		}
	})
}

// A checkpoint of any form counts once all of its parts are there.
func TestCheckpoints(t *testing.T) {
	for _, c := range []struct{ names, whole []string }{
		{[]string{"checkpoint.parquet"}, []string{"checkpoint.parquet"}},
		{[]string{"checkpoint.0000000001.0000000002.parquet"}, nil},
		{[]string{"checkpoint.0000000001.0000000002.parquet", "checkpoint.0000000002.0000000002.parquet"}, []string{"checkpoint.0000000001.0000000002.parquet", "checkpoint.0000000002.0000000002.parquet"}},
		{[]string{"checkpoint.0000000001.0000000003.parquet", "checkpoint.6e1a.json"}, []string{"checkpoint.6e1a.json"}},
		{[]string{"checkpoint.6e1a.parquet"}, []string{"checkpoint.6e1a.parquet"}},
		{[]string{"checkpoint.json", "checkpoint.6e1a.crc", "checkpoint.1.0.parquet", "checkpoint.1.x.parquet", "checkpoint.a.b.c.parquet"}, nil},
	} {
		var all []part
		for _, name := range c.names {
			if p, ok := partOf(name, name); ok {
				all = append(all, p)
			}
		}
		if got := wholeCheckpoint(all); !slices.Equal(got, c.whole) {
			t.Errorf("of %q, %q is a checkpoint, want %q", c.names, got, c.whole)
		}
	}
}

// A sidecar that is gone is an error that names it.
func TestSidecarGone(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(formattest.Testdata(t, "rest/mapped/id"))); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, "_delta_log/_sidecars/*"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if err := os.Remove(all[0]); err != nil {
		t.Fatal(err)
	}
	b, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), b, Newest); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), filepath.Base(all[0])) {
		t.Errorf("without its sidecar: %v", err)
	}
}
