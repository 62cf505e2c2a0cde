// Package icebergtest reads Iceberg tables of a local folder in tests: a second reader, which shares nothing with package
// iceberg.
package icebergtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/twmb/avro/ocf"
)

// Table is the newest metadata of a table, as JSON has it.
type Table struct {
	Dir       string
	Current   int64 `json:"current-snapshot-id"`
	Snapshots []struct {
		ID      int64             `json:"snapshot-id"`
		List    string            `json:"manifest-list"`
		Made    int64             `json:"timestamp-ms"`
		Summary map[string]string `json:"summary"`
	} `json:"snapshots"`
	Text []byte `json:"-"`

	path func(location string) string // of the file at a location
}

// Open finds a table in the lake at a folder as engines do, by its hint.
func Open(t testing.TB, lake, table string) *Table {
	t.Helper()
	return open(t, lake, table, func(location string) string { return strings.TrimPrefix(location, "file://") })
}

// OpenS3 finds a table in the lake at s3://PLACE. The server keeps each object as a file below the folder root.
func OpenS3(t testing.TB, root, place, table string) *Table {
	t.Helper()
	return open(t, filepath.Join(root, filepath.FromSlash(place)), table, func(location string) string {
		key, ok := strings.CutPrefix(location, "s3://"+place+"/")
		if !ok {
			t.Errorf("%s is outside s3://%s", location, place)
		}
		return filepath.Join(root, filepath.FromSlash(place), filepath.FromSlash(key))
	})
}

func open(t testing.TB, lake, table string, path func(string) string) *Table {
	t.Helper()
	x := &Table{Dir: filepath.Join(lake, "iceberg", table), path: path}
	hint, err := os.ReadFile(filepath.Join(x.Dir, "metadata/version-hint.text"))
	if err == nil {
		x.Text, err = os.ReadFile(filepath.Join(x.Dir, "metadata/v"+string(hint)+".metadata.json"))
	}
	if err == nil {
		err = json.Unmarshal(x.Text, x)
	}
	if err != nil {
		t.Fatalf("table %s: %v", table, err)
	}
	return x
}

// records decodes an Avro file at a location.
func (x *Table) records(t testing.TB, location string) (all []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(x.path(location))
	if err != nil {
		t.Fatal(err)
	}
	r, err := ocf.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		var x map[string]any
		if err := r.Decode(&x); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", location, err)
		}
		all = append(all, x)
	}
}

// Files are the paths of the data files of a snapshot, and of the files of deleted positions.
func (x *Table) Files(t testing.TB, snapshot int64) (data, deletes []string) {
	t.Helper()
	for _, s := range x.Snapshots {
		if s.ID != snapshot {
			continue
		}
		for _, m := range x.records(t, s.List) {
			for _, e := range x.records(t, m["manifest_path"].(string)) {
				file := e["data_file"].(map[string]any)
				path := x.path(file["file_path"].(string))
				switch {
				case e["status"].(int32) == 2:
				case file["content"].(int32) == 0:
					data = append(data, path)
				default:
					deletes = append(deletes, path)
				}
			}
		}
	}
	return data, deletes
}

// Rows are some columns of text of the rows of a snapshot, joined by blanks and sorted.
func (x *Table) Rows(t testing.TB, snapshot int64, columns ...string) (all []string) {
	t.Helper()
	data, deletes := x.Files(t, snapshot)
	gone := map[string]map[int64]bool{}
	for _, d := range deletes {
		each(t, d, []string{"file_path", "pos"}, func(_ int64, row []pq.Value) {
			path := x.path(row[0].String())
			if gone[path] == nil {
				gone[path] = map[int64]bool{}
			}
			if at := row[1].Int64(); gone[path][at] {
				t.Errorf("row %d of %s is deleted twice", at, path)
			} else {
				gone[path][at] = true
			}
		})
	}
	for _, d := range data {
		each(t, d, columns, func(at int64, row []pq.Value) {
			if gone[d][at] {
				return
			}
			var texts []string
			for _, v := range row {
				texts = append(texts, v.String())
			}
			all = append(all, strings.Join(texts, " "))
		})
	}
	slices.Sort(all)
	return all
}

// each reads columns of a Parquet file.
func each(t testing.TB, path string, columns []string, row func(at int64, values []pq.Value)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := pq.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var at []int
	for _, c := range columns {
		leaf, ok := f.Schema().Lookup(c)
		if !ok {
			t.Fatalf("%s has no column %s", path, c)
		}
		at = append(at, leaf.ColumnIndex)
	}
	n := int64(0)
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buf := make([]pq.Row, 256)
		for {
			k, err := rows.ReadRows(buf)
			for _, r := range buf[:k] {
				values := make([]pq.Value, len(at))
				for _, v := range r {
					if i := slices.Index(at, v.Column()); i >= 0 {
						values[i] = v
					}
				}
				row(n, values)
				n++
			}
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
}
