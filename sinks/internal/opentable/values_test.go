package opentable

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/internal/equality"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// left returns the addresses of the rows of a table that no deletion reaches.
func left(t *testing.T, x *Table, b *file.Bucket) (all []uint64) {
	t.Helper()
	for i := range x.Files {
		f := &x.Files[i]
		rows, done, err := openRows(t.Context(), b, f.Key)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		gone, err := f.deletions(t.Context(), rows)
		if err == nil {
			err = rows.Drop(gone)
		}
		if err != nil {
			t.Fatal(err)
		}
		leaves := x.Names.Leaves(rows.Leaves())
		at := slices.IndexFunc(leaves, func(l pqfile.Leaf) bool { return l.Path == "address" })
		for g := range rows.Groups() {
			err := rows.Scan(t.Context(), g, leaves[at:at+1], func(_ int, cells []pqfile.Cells) error {
				all = append(all, cells[0].Ints...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Spark leaves out the same rows that are deleted by value: within a partition or everywhere, NULL by NULL, in files of
// earlier commits only, and in files that lack the column.
func TestValues(t *testing.T) {
	b, err := file.Open(formattest.Testdata(t, "rest/equality"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := Open(t.Context(), b, Newest)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := left(t, x, b), []uint64{18151, 18152, 18153, 18154, 18156, 18157, 18158}; !slices.Equal(got, want) {
		t.Errorf("addresses %v, want %v", got, want)
	}
	// Deleted tells versions of a file apart by their deletions.
	deleted := map[string]bool{}
	for i := range x.Files {
		deleted[x.Files[i].Deleted()] = true
	}
	if len(deleted) < 3 {
		t.Errorf("deletions of files are told apart as %v", deleted)
	}
}

// A file that lacks a column has the value of its partition there, or the default of the schema. What cannot be compared is an error.
func TestLacking(t *testing.T) {
	n := namesOf([]byte(`{"schemas":[{"schema-id":0,"fields":[{"id":1,"name":"os","type":"string","initial-default":"ios"},{"id":2,"name":"n","type":"int","initial-default":7},
{"id":3,"name":"d","type":"decimal(9, 2)","initial-default":"1.25"},{"id":4,"name":"day","type":"date"},{"id":5,"name":"x","type":"long"}]}]}`), 0)
	f := &File{names: n, identity: map[int]any{1: "android", 4: int64(20000)}}
	for id, want := range map[int][]byte{1: equality.Text("android"), 2: equality.Number(7), 3: nil, 4: equality.Number(20000), 5: equality.Null()} {
		value, ok := n.constant(f, id)
		if ok != (want != nil) || string(value) != string(want) && ok {
			t.Errorf("column %d: %q, %t, want %q", id, value, ok, want)
		}
	}
	if beside := n.beside(f); len(beside) != 2 || beside["os"] != "android" || beside["n"] != "7" {
		t.Errorf("values beside the file: %q", beside)
	}
	const large = 1<<53 + 1 // no float64 holds it
	l := &Names{ids: map[int]string{1: "l"}, types: map[int]string{1: "long"}, defaults: map[int]json.RawMessage{1: json.RawMessage("9007199254740993")}}
	if value, ok := l.constant(&File{}, 1); !ok || string(value) != string(equality.Number(large)) {
		t.Errorf("a large default: %q, %t", value, ok)
	}
	if beside := l.beside(&File{}); beside["l"] != "9007199254740993" {
		t.Errorf("a large default beside the file: %q", beside)
	}
	set := equality.NewSet(new(equality.Budget))
	f.byValue = []*valueDeletes{{columns: []int{3}, set: set}}
	b, err := file.Open(formattest.Testdata(t, "rest/equality"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := Open(t.Context(), b, Newest)
	if err != nil {
		t.Fatal(err)
	}
	rows, done, err := openRows(t.Context(), b, x.Files[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	f.names.ids = map[int]string{99: "d"}
	f.byValue[0].columns = []int{99}
	n.types[99], n.defaults[99] = "decimal(9, 2)", json.RawMessage(`"1.25"`)
	if _, err := f.deletions(t.Context(), rows); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), "decimal(9, 2)") {
		t.Errorf("a decimal that the file lacks: %v", err)
	}
}

// Files without numbers get the names of the table by its name mapping, also names of before.
func TestMapping(t *testing.T) {
	n := namesOf([]byte(`{"schemas":[{"schema-id":0,"fields":[{"id":1,"name":"artifact","type":"string"},{"id":2,"name":"l","type":{"type":"list","element-id":3,"element":{"type":"struct","fields":[{"id":4,"name":"b","type":"string"}]}}}]}],
"properties":{"schema.name-mapping.default":"[{\"field-id\":1,\"names\":[\"art\",\"artifact\"]},{\"field-id\":2,\"names\":[\"l\"],\"fields\":[{\"field-id\":3,\"names\":[\"element\"],\"fields\":[{\"field-id\":4,\"names\":[\"was\"]}]}]},{\"field-id\":9,\"names\":[\"gone\"]}]"}}`), 0)
	var got []string
	for _, l := range n.Leaves([]pqfile.Leaf{{Path: "art"}, {Path: "artifact"}, {Path: "l.was"}, {Path: "gone"}, {Path: "other"}}) {
		got = append(got, l.Path)
	}
	if want := []string{"artifact", "artifact", "l.b", "", ""}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if l := n.leaf([]pqfile.Leaf{{Path: "x"}, {Path: "art"}}, 1); l == nil || l.Path != "art" {
		t.Errorf("column 1 is %+v", l)
	}
	if l := n.leaf([]pqfile.Leaf{{Path: "gone"}, {Path: "art"}}, 9); l == nil || l.Path != "gone" {
		t.Errorf("a column that was dropped, by which rows may be deleted, is %+v", l)
	}
	numbered := n.Leaves([]pqfile.Leaf{{Path: "x", ID: 1}, {Path: "y", ID: 9}})
	if numbered[0].Path != "artifact" || numbered[1].Path != "" {
		t.Errorf("columns with numbers are %+v", numbered)
	}
}

// A sealed file cannot be compared, and too many rows are refused in words that say what to do.
func TestValuesRefused(t *testing.T) {
	set := equality.NewSet(new(equality.Budget))
	err := refused(set.Add(context.Background(), new(pqfile.Rows), nil, 1))
	if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), "rewrite_data_files") {
		t.Errorf("a sealed file: %v", err)
	}
	if err := refused(sinks.ErrCorrupt); errors.Is(err, ErrTable) {
		t.Errorf("another error: %v", err)
	}
}
