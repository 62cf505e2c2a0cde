package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/mem"
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

// gc reads the records alone that the catalog lists as garbage, where counters prove that there is nothing else to do.
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
	run(false, nothing(20)) // the load before that is within its grace
	w.now = w.now.Add(100 * time.Hour)
	run(false, func(r *gc.Report) bool { return r.Loads == 1 && w.loads() == 21 })
	run(false, nothing(20))

	// A replaced load that an older program did not list.
	w.put("app/1/lib00.so", fmt.Sprintf("FAKE\nid %040x\nf 0 8 fourth 1\n", 0))
	w.run()
	id := w.record(fmt.Sprintf("%040x", 0)).ID
	if err := w.cat.Obligations.DischargeGarbage(t.Context(), []symbol.ID{id}); err != nil {
		t.Fatal(err)
	}
	run(true, nothing(20))
	run(false, nothing(20)) // it is listed now
	w.now = w.now.Add(100 * time.Hour)
	run(false, func(r *gc.Report) bool { return r.Loads == 1 && w.loads() == 21 })

	// A record without a load, as a process leaves that fails, and one that is to stay.
	empty, gone := &catalog.Record{ID: [16]byte{2}, State: catalog.Live}, &catalog.Record{ID: [16]byte{3}, State: catalog.Forgotten}
	for _, r := range []*catalog.Record{empty, gone} {
		if err := w.cat.Artifacts.Swap(t.Context(), nil, r); err != nil {
			t.Fatal(err)
		}
	}
	run(false, func(r *gc.Report) bool { return r.Records == 1 })
	run(false, nothing(21))
	if r, err := w.cat.Artifacts.Get(t.Context(), gone.ID); err != nil || r == nil {
		t.Errorf("gc removed the record of an artifact that was forgotten: %v", err)
	}

	// A name that leads nowhere, as a process leaves that dies.
	if err := w.cat.Names.Add(t.Context(), "nowhere", catalog.Ref{Artifact: [16]byte{1}}); err != nil {
		t.Fatal(err)
	}
	run(true, func(r *gc.Report) bool { return r.Names == 1 })
	run(false, nothing(21))

	// Rows that are lost, and a file that is gone.
	rec := w.record(fmt.Sprintf("%040x", 5))
	if err := s.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(rec.ID, rec.Published.Load)}); err != nil {
		t.Fatal(err)
	}
	run(true, func(r *gc.Report) bool { return r.Loads == 0 })
	w.put("app/1/lib05.so", fmt.Sprintf("FAKE\nid %040x\nf 0 8 again 1\n", 5))
	w.run()
	run(true, func(r *gc.Report) bool { return r.Lost == 1 })
	run(false, nothing(21))
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

// settling is a store that counts, and cannot tell of rows and names by its counters.
type settling struct{ recordReads }

func (c *settling) Counts(ctx context.Context) (map[string]int64, bool, error) {
	counts, whole, err := c.recordReads.Counts(ctx)
	for name := range counts {
		if name == sinks.CountStored || name == catalog.CountNames {
			delete(counts, name)
		}
	}
	return counts, whole, err
}

func (c *settling) Settle(context.Context, func(context.Context, func([]sinks.Count)) error) (bool, error) {
	return true, nil
}

// Where counters do not tell of rows, gc reads all records once a week.
func TestWeeklyGC(t *testing.T) {
	s := mem.New()
	reads := &settling{recordReads{Catalog: s.Catalog}}
	s.Catalog = reads
	w := worldOf(t, s)
	run := func(reading bool, check func(r *gc.Report) bool) {
		t.Helper()
		reads.n = 0
		r := w.gc(gc.Options{})
		if !check(r) || reading != (reads.n > 0) {
			t.Errorf("%d records were read: %+v", reads.n, r)
		}
	}
	nothing := func(r *gc.Report) bool { return r.Loads+r.Records+r.Lost+r.Names == 0 && len(r.Damaged) == 0 }
	put := func(i int) {
		w.put("a.so", fmt.Sprintf("FAKE\nid %s\nf 0 8 v%d 1\n%*s", idA, i, i, ""))
		w.run()
	}
	for i := range 3 {
		put(i)
	}
	w.gc(gc.Options{}) // reads all records
	run(false, nothing)
	w.now = w.now.Add(25 * time.Hour)
	run(false, func(r *gc.Report) bool { return r.Loads == 1 && w.loads() == 2 })

	// Rows that came too late, and a name that leads nowhere.
	b, err := s.Blocks.Begin(t.Context())
	if err == nil {
		err = b.Write(sinks.Row{Key: append(row.LoadPrefix([16]byte{1}, row.NewLoad(w.now)), 1, 0), Value: []byte("x")})
	}
	if err == nil {
		err = b.Commit(t.Context())
	}
	if err = errors.Join(err, w.cat.Names.Add(t.Context(), "nowhere", catalog.Ref{Artifact: [16]byte{2}})); err != nil {
		t.Fatal(err)
	}
	run(false, nothing)
	w.now = w.now.Add(6 * 24 * time.Hour)
	run(true, func(r *gc.Report) bool { return r.Orphans == 1 && r.Names == 1 && w.loads() == 2 })
	run(false, nothing)

	// A load in progress: gc reads all records when its lease may have ended.
	enter := func() {
		t.Helper()
		old := w.record(idA)
		next := record.Copy(old, old.ID)
		next.Progress = append(next.Progress, catalog.Progress{Load: row.NewLoad(w.now), Owner: "other", Lease: w.now.Add(record.LeaseTime)})
		if err := w.cat.Artifacts.Swap(t.Context(), old, next); err != nil {
			t.Fatal(err)
		}
	}
	w.now = w.now.Add(20 * time.Hour)
	run(false, nothing) // notes that no load is in progress
	enter()
	w.now = w.now.Add(47 * time.Hour)
	run(false, nothing)
	w.now = w.now.Add(2 * time.Hour)
	run(true, func(r *gc.Report) bool { return r.Loads == 1 })
	enter()
	run(false, nothing)

	// The note of the pass is damaged.
	key := []byte{row.RecordObligation, 7}
	value, err := s.Catalog.Get(t.Context(), key)
	if err == nil {
		err = s.Catalog.Swap(t.Context(), key, value, []byte("damaged"))
	}
	if err != nil {
		t.Fatal(err)
	}
	run(true, nothing)
	run(false, nothing)

	// A forced run, by which people mend lost rows.
	w.o.Force = true
	w.run()
	run(true, nothing)
	run(false, nothing)

	// gc tells damage each time.
	rec := w.record(idA)
	for _, l := range []*row.Loaded{rec.Published, rec.Previous} {
		if err := s.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(rec.ID, l.Load)}); err != nil {
			t.Fatal(err)
		}
	}
	w.now = w.now.Add(8 * 24 * time.Hour)
	for range 2 {
		run(true, func(r *gc.Report) bool { return len(r.Damaged) == 1 })
	}
}
