package texts

import (
	"bytes"
	"strings"
	"testing"
	"unsafe"

	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
)

// TestNames gives a name whose memory changes behind Add, as a mapped file's does when it is closed.
func TestNames(t *testing.T) {
	t.Parallel()
	var directory []byte
	w := NewWriter(column.NewEncoder(), func(_ uint64, form row.Form, body []byte, _ int, _ [][]byte) error {
		if form != row.FormText {
			directory = bytes.Clone(body)
		}
		return nil
	})
	name := []byte("src/shop.ts")
	if err := w.Add(unsafe.String(&name[0], len(name)), []byte("1\n2\n")); err != nil {
		t.Fatal(err)
	}
	clear(name)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := column.NewDecoder()
	defer d.Release()
	x, _, err := DecodeDirectory(d, directory)
	if err != nil || len(x.files) != 1 {
		t.Fatalf("%v, %d files", err, len(x.files))
	}
	if got := x.files[0].name; got != "src/shop.ts" {
		t.Errorf("the file is called %q", got)
	}
}

// For any bytes in rows of text, reading them neither panics nor takes more than a row may.
func FuzzText(f *testing.F) {
	w := NewWriter(column.NewEncoder(), func(_ uint64, form row.Form, body []byte, _ int, _ [][]byte) error {
		f.Add(bytes.Clone(body), form == row.FormText)
		return nil
	})
	for _, s := range [][2]string{{"a", "1\n2\n"}, {"b", strings.Repeat("line\n", 40000)}} {
		if err := w.Add(s[0], []byte(s[1])); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, text bool) {
		d := column.NewDecoder()
		defer d.Release()
		if text {
			if lines, _, err := Decode(d, body); err == nil && len(lines) == 0 {
				t.Fatal("no lines")
			}
			return
		}
		x, _, err := DecodeDirectory(d, body)
		if err == nil && (len(x.files) == 0 || x.rows == 0) {
			t.Fatalf("%d files, %d rows", len(x.files), x.rows)
		}
	})
}
