package ingest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// scanned counts the rows that scans return, and loses the rows of one artifact.
type scanned struct {
	sinks.Blocks
	lost symbol.ID
	rows atomic.Int64
}

func (s *scanned) Scan(ctx context.Context, span sinks.Span, emit func(sinks.Row) error) error {
	return s.Blocks.Scan(ctx, span, func(r sinks.Row) error {
		s.rows.Add(1)
		if bytes.HasPrefix(r.Key, s.lost[:]) {
			return nil
		}
		return emit(r)
	})
}

// resume verifies with the notes in a file, and leaves them as a run that dies does.
func (w *world) resume(file string, lost symbol.ID, died bool) (r *verify.Report, rows int64) {
	w.t.Helper()
	n, err := verify.OpenNotes(file)
	if err != nil {
		w.t.Fatal(err)
	}
	s := &scanned{Blocks: w.store.Blocks, lost: lost}
	r, err = verify.Run(w.t.Context(), verify.Options{Store: &sinks.Store{Catalog: w.store.Catalog, Blocks: s}, Keyring: w.ring, Notes: n})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := n.Close(!died); err != nil {
		w.t.Fatal(err)
	}
	return r, s.rows.Load()
}

// After a run that died, the next one reads the loads that the notes do not have, and the loads that were published since. Its
// report equals the report of a run that reads all.
func TestVerifyResumes(t *testing.T) {
	w := newWorld(t)
	object := func(i, line int) {
		w.put(fmt.Sprintf("%d.so", i), fmt.Sprintf("FAKE\nid %040x\nf 0 8 a %d\n", i+1, line))
	}
	const objects = 600 // some windows
	for i := range objects {
		object(i, 1)
	}
	w.run()
	file := filepath.Join(t.TempDir(), "notes")
	whole, all := w.resume(file, symbol.ID{}, true)
	if whole.Loads != objects || whole.Noted != 0 || len(whole.Problems) > 0 {
		t.Fatalf("%+v", whole)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head := bytes.IndexByte(text, '\n') + 1
	for _, c := range []struct{ bytes, noted int }{{len(text), objects}, {head + 300*row.TagBytes + 5, 300}, {head, 0}, {head - 3, 0}, {0, 0}} {
		if err := os.WriteFile(file, text[:c.bytes], 0o600); err != nil {
			t.Fatal(err)
		}
		r, rows := w.resume(file, symbol.ID{}, true)
		if r.Noted != c.noted || r.Loads != objects || r.Rows != whole.Rows || r.Ranges != whole.Ranges || r.Bytes != whole.Bytes || r.Digest != whole.Digest || len(r.Problems) > 0 {
			t.Errorf("%d bytes of notes: %+v, want %+v", c.bytes, r, whole)
		}
		if c.noted == objects && 2*rows > all {
			t.Errorf("%d rows were read again, of %d", rows, all)
		}
		if again, _ := w.resume(file, symbol.ID{}, true); again.Noted != objects {
			t.Errorf("%d bytes of notes: the next run reads %d loads again", c.bytes, objects-again.Noted)
		}
	}

	object(0, 2)
	w.run()
	if r, _ := w.resume(file, symbol.ID{}, false); r.Noted != objects || r.Loads != objects+1 || r.Digest != w.verify() || len(r.Problems) > 0 {
		t.Errorf("after an object has changed: %+v", r)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the notes of a run that ended are there: %v", err)
	}
}

// A load with a problem is read again, until it has none.
func TestVerifyResumesProblems(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	w.run()
	lost := symbol.NewID(symbol.ELF, idA)
	file := filepath.Join(t.TempDir(), "notes")
	first, _ := w.resume(file, lost, true)
	again, _ := w.resume(file, lost, true)
	if len(first.Problems) != 1 || fmt.Sprint(first.Problems) != fmt.Sprint(again.Problems) || again.Noted != 1 {
		t.Errorf("%+v, and again %+v", first, again)
	}
	if r, _ := w.resume(file, symbol.ID{}, true); len(r.Problems) > 0 || r.Noted != 1 || r.Digest != w.verify() {
		t.Errorf("when its rows are back: %+v", r)
	}
	other := newWorld(t)
	other.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	other.run()
	if r, _ := other.resume(file, symbol.ID{}, true); r.Noted != 0 {
		t.Errorf("another store has %d loads of the notes", r.Noted)
	}
}

// A file of something else is refused, and stays.
func TestVerifyResumesForeign(t *testing.T) {
	for _, text := range []string{"a list\n", "symlake verify 2\n", strings.Repeat("x", 100)} {
		file := filepath.Join(t.TempDir(), "notes")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := verify.OpenNotes(file); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "name another file") {
			t.Errorf("%q: %v", text, err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
	if _, err := verify.OpenNotes(t.TempDir()); err == nil {
		t.Error("a folder was taken for notes")
	}
}
