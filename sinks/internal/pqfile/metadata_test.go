package pqfile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/parquet-go/parquet-go/format"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
)

// noted returns what Arrow notes of a schema in a file.
func noted(t *testing.T, names ...string) format.KeyValue {
	t.Helper()
	var fields []arrow.Field
	for _, n := range names {
		fields = append(fields, arrow.Field{Name: n, Type: arrow.BinaryTypes.LargeString})
	}
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema(fields, nil))).Close(); err != nil {
		t.Fatal(err)
	}
	message, err := arrowmeta.Unframe(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return format.KeyValue{Key: arrowKey, Value: base64.StdEncoding.EncodeToString(arrowmeta.Frame(message))}
}

// fieldsOf returns the fields that a note lists; nil: it is gone.
func fieldsOf(t *testing.T, kv format.KeyValue, ok bool) (names []string) {
	t.Helper()
	if !ok {
		return nil
	}
	if kv.Key == sparkKey {
		var s struct{ Fields []struct{ Name string } }
		if err := json.Unmarshal([]byte(kv.Value), &s); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Fields {
			names = append(names, f.Name)
		}
		return names
	}
	framed, err := base64.StdEncoding.DecodeString(kv.Value)
	if err != nil {
		t.Fatal(err)
	}
	message, err := arrowmeta.Unframe(framed)
	if err != nil {
		t.Fatal(err)
	}
	s, err := arrowmeta.ParseSchema(message)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	return names
}

// The note of an engine lists all columns of the output, or it is gone: readers trust it.
func TestEngineSchema(t *testing.T) {
	added := &Table{Columns: []Column{NewColumn("new", "", "", Text), {Name: "chain", List: true, Fields: []Column{NewColumn("line", "", "", Integer)}}}}
	second := func(i int) bool { return i == 1 }
	none := func(int) bool { return false }
	spark := format.KeyValue{Key: sparkKey, Value: `{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{"k":1}},{"name":"b","type":"long","nullable":true,"metadata":{}}]}`}
	for _, c := range []struct {
		name    string
		kv      format.KeyValue
		columns int
		drop    func(int) bool
		want    string
	}{
		{"arrow", noted(t, "a", "b"), 2, none, "[a b new chain]"},
		{"arrow, again", noted(t, "a", "b"), 2, second, "[a new chain]"},
		{"arrow, of an earlier version without what it added", noted(t, "a"), 2, second, "[a new chain]"},
		{"arrow, of other columns", noted(t, "a", "b", "c"), 2, none, "[]"},
		{"arrow, damaged", format.KeyValue{Key: arrowKey, Value: "/////w=="}, 2, none, "[]"},
		{"arrow, no base64", format.KeyValue{Key: arrowKey, Value: "?"}, 2, none, "[]"},
		{"spark", spark, 2, none, "[a b new chain]"},
		{"spark, again", spark, 2, second, "[a new chain]"},
		{"spark, damaged", format.KeyValue{Key: sparkKey, Value: "{"}, 2, none, "[]"},
	} {
		kv, ok := engineSchema(c.kv, c.columns, c.drop, added)
		if got := fmt.Sprint(fieldsOf(t, kv, ok)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if kv, ok := engineSchema(format.KeyValue{Key: "mine", Value: "1"}, 2, none, added); !ok || kv.Value != "1" {
		t.Errorf("%v %v", kv, ok)
	}
}
