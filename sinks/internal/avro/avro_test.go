package avro

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// manifests are files of Avro that pyiceberg wrote.
func manifests(t testing.TB) (all [][]byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(formattest.Testdata(t, "rest/iceberg/metadata"), "*.avro"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

func each(file []byte, emit func(map[string]any) error) error {
	f, err := Open(file)
	if err != nil {
		return err
	}
	return f.Each(emit)
}

// A file that is cut or has a changed byte is read, or it is ErrFile.
func TestAvroDamage(t *testing.T) {
	for _, text := range manifests(t) {
		records := 0
		if err := each(text, func(map[string]any) error { records++; return nil }); err != nil || records == 0 {
			t.Fatalf("%v, %d records", err, records)
		}
		for at := 0; at < len(text); at += 7 { // every seventh byte: a file has thousands
			damaged := append([]byte(nil), text...)
			damaged[at] ^= 0xff
			for _, b := range [][]byte{text[:at], damaged} {
				if err := each(b, func(map[string]any) error { return nil }); err != nil && !errors.Is(err, ErrFile) {
					t.Fatalf("byte %d: %v", at, err)
				}
			}
		}
	}
}

func FuzzAvro(f *testing.F) {
	for _, text := range manifests(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := each(b, func(map[string]any) error { return nil }); err != nil && !errors.Is(err, ErrFile) {
			t.Fatal(err)
		}
	})
}

// Arrays of values without bytes end, however many an array says it has.
func TestAvroBomb(t *testing.T) {
	d := &reader{b: []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}}
	d.value(&Schema{kind: "array", items: &Schema{kind: "null"}}, 0)
	if !d.bad {
		t.Error("it passed")
	}
}

// A record that was read and written again under the schema of its file is the same record.
func TestWrite(t *testing.T) {
	for _, text := range manifests(t) {
		f, err := Open(text)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []map[string]any
		if err := f.Each(func(r map[string]any) error { want = append(want, r); return nil }); err != nil {
			t.Fatal(err)
		}
		again, err := Write(f.Meta["avro.schema"], map[string]string{"content": "data"}, want)
		if err != nil {
			t.Fatal(err)
		}
		if f, err = Open(again); err != nil || f.Meta["content"] != "data" {
			t.Fatal(err, f)
		}
		if err := f.Each(func(r map[string]any) error { got = append(got, r); return nil }); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	}
	for _, v := range []any{nil, "x", 1.5, []any{"x"}} {
		if _, err := Write(`{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}`, nil, []map[string]any{{"a": v}}); err == nil {
			t.Errorf("%v was written as a long", v)
		}
	}
}

// Reading costs as much a record in a large file as in a small one.
func TestLinear(t *testing.T) {
	const schema = `{"type":"record","name":"r","fields":[{"name":"path","type":"string"},{"name":"low","type":["null",{"type":"array","items":"bytes"}]}]}`
	allocs := func(n int) float64 {
		var all []map[string]any
		for i := range n {
			all = append(all, map[string]any{"path": "a/path/of/a/file", "low": []any{"x", string(rune('a' + i%26))}})
		}
		text, err := Write(schema, nil, all)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(3, func() {
			if err := each(text, func(map[string]any) error { return nil }); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, four := allocs(1000), allocs(4000); four > 4.4*one {
		t.Errorf("%v allocations of 1,000 records, %v of 4,000", one, four)
	}
}
