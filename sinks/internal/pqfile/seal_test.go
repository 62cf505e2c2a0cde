package pqfile

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks"
)

var sealKeys = sinks.LakeKeys{Newest: 1, Master: func(context.Context, uint32) ([]byte, error) { return bytes.Repeat([]byte{7}, 32), nil }}

// words is a table of one column, ordered so that its bounds are written.
func words() *Table {
	return &Table{Name: "words", Columns: []Column{NewColumn("artifact", "VARCHAR", "", Text), NewColumn("line", "INTEGER", "", Integer)}}
}

// writeWords writes a file with a row group for each text.
func writeWords(t *testing.T, key *FileKey, texts ...string) []byte {
	t.Helper()
	var file bytes.Buffer
	p := NewPager()
	w, err := NewWriter(&file, words(), key, false, p)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range texts {
		g := NewRowGroup(words())
		d := &g.Dicts[0]
		g.Open.Columns[0].Ints = append(g.Open.Columns[0].Ints, d.Add(d.Texts.Add(s)))
		g.Open.Columns[1].Ints = append(g.Open.Columns[1].Ints, int32(i+1)) // four bytes 0 would be a shorter page
		g.Open.Rows, g.Rows = 1, 1
		if err := p.Add(g, g.Take(g.Open.Another())); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func readWords(file []byte) (texts []string, err error) {
	err = ReadTexts(context.Background(), sealKeys, bytes.NewReader(file), int64(len(file)), "", []int{0}, func(row []string) error {
		texts = append(texts, row[0])
		return nil
	})
	return texts, err
}

// Arrow opens a sealed file. Its bytes show none of its texts, however long they are: bounds too stand only in the footer.
func TestSeal(t *testing.T) {
	for _, n := range []int{1, 1000, 3000, 100_000} {
		key, err := NewFileKey(t.Context(), sealKeys, false)
		if err != nil {
			t.Fatal(err)
		}
		secret := strings.Repeat("marker-", n/7+1)
		file := writeWords(t, key, secret, "b")
		texts, err := readWords(file)
		if err != nil || len(texts) != 2 || texts[0] != secret || texts[1] != "b" {
			t.Fatalf("%d bytes: %d texts, %v", n, len(texts), err)
		}
		if bytes.Contains(file, []byte("marker")) || bytes.Contains(file, []byte("artifact")) {
			t.Errorf("%d bytes: the file shows its text or schema", n)
		}
	}
}

// A module opens at its own place only: the pages of one row group in the place of another one's are refused.
func TestSealBinds(t *testing.T) {
	key, err := NewFileKey(t.Context(), sealKeys, false)
	if err != nil {
		t.Fatal(err)
	}
	file := writeWords(t, key, "one", "two")
	first := bytes.Clone(file[4:])
	// Both row groups have the same sizes, so the second one begins where the bytes of the first one end.
	size := groupBytesOf(t, file)
	moved := append([]byte(magicSealed), first[size:2*size]...)
	moved = append(moved, first[:size]...)
	moved = append(moved, first[2*size:]...)
	if texts, err := readWords(moved); !errors.Is(err, sinks.ErrCorrupt) {
		t.Errorf("read %q from row groups that were exchanged: %v", texts, err)
	}
	if _, err := readWords(file); err != nil {
		t.Error(err)
	}
}

// groupBytesOf returns the size of the first row group.
func groupBytesOf(t *testing.T, file []byte) int {
	t.Helper()
	f, err := OpenRows(t.Context(), bytes.NewReader(file), int64(len(file)), func() (sinks.LakeKeys, error) { return sealKeys, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	groups := f.footer.RowGroups
	if groups[0].TotalCompressedSize != groups[1].TotalCompressedSize {
		t.Fatal("row groups of two sizes: choose other words")
	}
	return int(groups[0].TotalCompressedSize)
}
