package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/row"
)

// recordReads counts the records of artifacts and names that lists emit.
type recordReads struct {
	sinks.Catalog
	n int
}

func (c *recordReads) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	return c.Catalog.List(ctx, s, func(r sinks.Row) error {
		if r.Key[0] == 'a' || r.Key[0] == 'n' {
			c.n++
		}
		return emit(r)
	})
}

func (c *recordReads) Counts(ctx context.Context) (map[string]int64, bool, error) {
	return c.Catalog.(sinks.Counter).Counts(ctx)
}

// gc reads no record where the store's counters prove that there is nothing to do, and all of them where something is.
func TestCleanGC(t *testing.T) {
	dir := t.TempDir()
	if err := file.Create(dir); err != nil {
		t.Fatal(err)
	}
	s, err := file.Open(dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	reads := &recordReads{Catalog: s.Catalog}
	s.Catalog = reads
	w := worldOf(t, s)
	run := func(reading bool, check func(r *gc.Report) bool) {
		t.Helper()
		reads.n = 0
		r, err := gc.Run(t.Context(), gc.Options{Store: s, Keyring: w.ring, Now: func() time.Time { return w.now }})
		if err != nil || !check(r) {
			t.Fatalf("%+v, %v", r, err)
		}
		if reading != (reads.n > 0) {
			t.Errorf("%d records were read: %+v", reads.n, r)
		}
	}
	nothing := func(artifacts int) func(*gc.Report) bool {
		return func(r *gc.Report) bool {
			return r.Artifacts == artifacts && r.Loads+r.Records+r.Lost+r.Names == 0 && len(r.Damaged) == 0
		}
	}
	w.src.Names = "{app}/{build}/**"
	for i := range 20 {
		w.put(fmt.Sprintf("app/1/lib%02d.so", i), fmt.Sprintf("FAKE\nid %040x\nf 0 8 f%d 1\n", i, i))
	}
	w.run()
	// The first gc also looks for records of earlier versions, once for all.
	if _, err := gc.Run(t.Context(), gc.Options{Store: s, Keyring: w.ring, Now: func() time.Time { return w.now }}); err != nil {
		t.Fatal(err)
	}
	run(false, nothing(20))

	// A load that is replaced stays for a rollback. Its rows are there, so nothing is to be done.
	w.put("app/1/lib00.so", fmt.Sprintf("FAKE\nid %040x\nf 0 8 other 1\n", 0))
	w.run()
	run(false, nothing(20))
	w.put("app/1/lib00.so", fmt.Sprintf("FAKE\nid %040x\nf 0 8 third 1\n", 0))
	w.run()
	run(true, nothing(20)) // the load before that is within its grace
	w.now = w.now.Add(100 * time.Hour)
	run(true, func(r *gc.Report) bool { return r.Loads == 1 })
	run(false, nothing(20))

	// A name that leads nowhere, as a process leaves that dies.
	if err := w.cat.Names.Add(t.Context(), "nowhere", catalog.Ref{Artifact: [16]byte{1}}); err != nil {
		t.Fatal(err)
	}
	run(true, func(r *gc.Report) bool { return r.Names == 1 })
	run(false, nothing(20))

	// Rows that are lost, and a file that is gone.
	rec := w.record(fmt.Sprintf("%040x", 5))
	if err := s.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(rec.ID, rec.Published.Load)}); err != nil {
		t.Fatal(err)
	}
	run(true, func(r *gc.Report) bool { return r.Loads == 0 })
	w.put("app/1/lib05.so", fmt.Sprintf("FAKE\nid %040x\nf 0 8 again 1\n", 5))
	w.run()
	run(true, func(r *gc.Report) bool { return r.Lost == 1 })
	run(false, nothing(20))
	list, err := filepath.Glob(filepath.Join(dir, "blocks", "*", "*.hfile"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, f := range list {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	again, err := file.Open(dir, file.Options{}) // it has no file open
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	s.Blocks = again.Blocks
	r, err := gc.Run(t.Context(), gc.Options{Store: s, Keyring: w.ring, Now: func() time.Time { return w.now }})
	if !errors.Is(err, sinks.ErrCorrupt) || len(r.Damaged) == 0 {
		t.Errorf("gc says nothing of files that are gone: %+v, %v", r, err)
	}
}
