package opentable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// A file that is cut or has a changed byte is read, or it is ErrTable.
func TestAvroDamage(t *testing.T) {
	for _, text := range manifests(t) {
		records := 0
		if err := readAvro(text, func(map[string]any) error { records++; return nil }); err != nil || records == 0 {
			t.Fatalf("%v, %d records", err, records)
		}
		for at := range text {
			damaged := append([]byte(nil), text...)
			damaged[at] ^= 0xff
			for _, b := range [][]byte{text[:at], damaged} {
				if err := readAvro(b, func(map[string]any) error { return nil }); err != nil && !errors.Is(err, ErrTable) {
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
		if err := readAvro(b, func(map[string]any) error { return nil }); err != nil && !errors.Is(err, ErrTable) {
			t.Fatal(err)
		}
	})
}

func FuzzDeltaCommit(f *testing.F) {
	for n := range 6 {
		text, err := os.ReadFile(formattest.Testdata(f, fmt.Sprintf("rest/delta/_delta_log/%020d.json", n)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &deltaState{files: map[string]File{}}
		if err := s.commit(b); err != nil && !errors.Is(err, ErrTable) {
			t.Fatal(err)
		}
	})
}

// Arrays of values without bytes end, however many an array says it has.
func TestAvroBomb(t *testing.T) {
	d := &avroReader{b: []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}}
	d.value(&avroSchema{kind: "array", items: &avroSchema{kind: "null"}}, 0)
	if !d.bad {
		t.Error("it passed")
	}
}
