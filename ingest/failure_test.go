package ingest

import (
	"context"
	"errors"
	"fmt"
	"github.com/symlake/symlake/sinks/sinktest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/publish"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

var errStore = errors.New("the store is out of reach")

// flaky counts what changes a store, and fails some of it.
type flaky struct {
	n     atomic.Int64
	from  int64 // the first operation that fails; 0: none
	until int64 // the last one
	after bool  // it has taken effect all the same
}

// fails counts an operation. done is whether it is to be carried out.
func (f *flaky) fails() (do, err bool) {
	n := f.n.Add(1)
	if f.from == 0 || n < f.from || n > f.until {
		return true, false
	}
	return f.after, true
}

type flakyCatalog struct {
	sinks.Catalog
	f *flaky
}

func (c flakyCatalog) swap(ctx context.Context, ch sinks.Change) error {
	do, bad := c.f.fails()
	if do {
		if err := sinktest.SwapOne(ctx, c.Catalog, ch); err != nil {
			return err
		}
	}
	if bad {
		return errStore
	}
	return nil
}

func (c flakyCatalog) Swap(ctx context.Context, key, old, new []byte) error {
	return c.swap(ctx, sinks.Change{Key: key, Old: old, New: new})
}

func (c flakyCatalog) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	return sinktest.SwapEach(changes, func(ch sinks.Change) error { return c.swap(ctx, ch) })
}

type flakyBlocks struct {
	sinks.Blocks
	f *flaky
}

func (b flakyBlocks) Begin(ctx context.Context) (sinks.Batch, error) {
	if _, bad := b.f.fails(); bad {
		return nil, errStore
	}
	batch, err := b.Blocks.Begin(ctx)
	return flakyBatch{batch, b.f}, err
}

func (b flakyBlocks) Drop(ctx context.Context, prefixes [][]byte) error {
	do, bad := b.f.fails()
	if do {
		if err := b.Blocks.Drop(ctx, prefixes); err != nil {
			return err
		}
	}
	if bad {
		return errStore
	}
	return nil
}

type flakyBatch struct {
	sinks.Batch
	f *flaky
}

func (b flakyBatch) Write(r sinks.Row) error {
	if _, bad := b.f.fails(); bad {
		return errStore
	}
	return b.Batch.Write(r)
}

func (b flakyBatch) Commit(ctx context.Context) error {
	do, bad := b.f.fails()
	if do {
		if err := b.Batch.Commit(ctx); err != nil {
			return err
		}
	}
	if bad {
		return errStore
	}
	return nil
}

func flakyStore(s *sinks.Store, f *flaky) *sinks.Store {
	c := *s
	c.Catalog, c.Blocks = flakyCatalog{s.Catalog, f}, flakyBlocks{s.Blocks, f}
	return &c
}

// If any operation of the store fails, once or for good, with or without
// effect, published loads stay or are replaced as a whole, and the next run
// completes the work.
func TestStoreFailures(t *testing.T) {
	fill := func(w *world) {
		w.put("1.so", "FAKE\nid "+idA+"\nf 0 8 new 1\npart\nf 8 16 new2 2\n")
		w.put("2.so", "FAKE\nid "+idB+"\nneed dwo:1 x.dwo\nf 0 8 b 1\n")
		w.put("3.so", "FAKE\nid "+idA+"\nrank 3\nf 0 8 worse 1\n")
		w.put("4.so", "FAKE\nbroken\n")
	}
	clean := newWorld(t)
	fill(clean)
	clean.run()
	want := clean.verify()
	for _, mode := range []struct {
		name        string
		after, once bool
	}{{"Dies", false, false}, {"DiesAfter", true, false}, {"OneFails", false, true}, {"OneAnswerLost", true, true}} {
		t.Run(mode.name, func(t *testing.T) {
			for n := int64(1); ; n++ {
				w := newWorld(t)
				w.o.Workers = 1
				w.put("1.so", "FAKE\nid "+idA+"\nf 0 8 old 1\n")
				w.run() // an older load is there
				fill(w)
				f := &flaky{from: n, until: 1 << 60, after: mode.after}
				if mode.once {
					f.until = n
				}
				broken := w.o
				broken.Store = flakyStore(w.store, f)
				Run(t.Context(), []discover.Source{w.src}, broken)
				if got := w.ask(idA, 0); got != "old:1" && got != "new:1" {
					t.Fatalf("operation %d: %q", n, got)
				}
				w.verify() // nothing half, nothing unnamed
				w.run()
				w.run()
				if got := w.verify(); got != want {
					t.Fatalf("operation %d: the next runs do not complete the work", n)
				}
				for _, k := range []string{"1.so", "2.so"} {
					w.is(k, catalog.ObjectLoaded)
				}
				w.is("3.so", catalog.ObjectKept)
				w.is("4.so", catalog.ObjectRejected)
				if ws, err := w.cat.Waiters.For(t.Context(), "dwo:1"); err != nil || len(ws) != 1 {
					t.Fatalf("operation %d: waiters %v %v", n, ws, err)
				}
				// After the grace everything without a use is gone.
				w.now = w.now.Add(100 * time.Hour)
				w.gc(gc.Options{})
				if rows := w.loads(); rows > 3 { // two published, one previous
					t.Fatalf("operation %d: %d loads are left", n, rows)
				}
				if w.verify() != want {
					t.Fatalf("operation %d: gc changed the content", n)
				}
				if f.n.Load() < n {
					return
				}
			}
		})
	}
}

func (w *world) gc(o gc.Options) *gc.Report {
	w.t.Helper()
	o.Keyring, o.Now = w.ring, func() time.Time { return w.now }
	if o.Store == nil {
		o.Store = w.store
	}
	r, err := gc.Run(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// loads counts the loads that have rows.
func (w *world) loads() (n int) {
	w.t.Helper()
	err := stored.Each(w.t.Context(), w.store.Blocks, func(symbol.ID, sinks.Load) error { n++; return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func TestGC(t *testing.T) {
	w := newWorld(t)
	for i := range 4 {
		w.put("a.so", fmt.Sprintf("FAKE\nid %s\nf 0 8 v%d 1\n", idA, i)+fmt.Sprintf("%*s", i, ""))
		w.run()
	}
	if n := w.loads(); n != 4 {
		t.Fatal(n)
	}
	if r := w.gc(gc.Options{}); r.Loads != 0 || w.loads() != 4 {
		t.Fatalf("before the grace: %+v", r)
	}
	w.now = w.now.Add(25 * time.Hour)
	if r := w.gc(gc.Options{DryRun: true}); r.Loads != 2 || w.loads() != 4 {
		t.Fatalf("%+v", r)
	}
	if r := w.gc(gc.Options{}); r.Loads != 2 || w.loads() != 2 || len(w.record(idA).Progress) != 0 {
		t.Fatalf("%+v", r)
	}
	w.answers(idA, 0, "v3:1")
	w.verify()

	// Rows that no record names go by their age; a record with nothing left goes
	// with its names.
	id := symbol.NewID(symbol.ELF, idB)
	b, err := w.store.Blocks.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	old, young := row.NewLoad(w.now.Add(-30*time.Hour)), row.NewLoad(w.now)
	for _, l := range []sinks.Load{old, young} {
		if err := b.Write(sinks.Row{Key: append(row.LoadPrefix(id, l), 1, 0), Value: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	stale := &catalog.Record{ID: id, State: catalog.Live, Names: []symbol.Name{{Kind: symbol.NameFile, Text: "b.so"}},
		Progress: []catalog.Progress{{Load: row.NewLoad(w.now), Owner: "dead", Lease: w.now.Add(-26 * time.Hour)}}}
	if err := w.cat.Artifacts.Swap(t.Context(), nil, stale); err != nil {
		t.Fatal(err)
	}
	if err := w.cat.Names.Add(t.Context(), "b.so", catalog.Ref{Artifact: id}); err != nil {
		t.Fatal(err)
	}
	if r := w.gc(gc.Options{}); r.Orphans != 1 || r.Records != 1 || w.loads() != 3 {
		t.Fatalf("%+v", r)
	}
	if refs, err := w.cat.Names.Find(t.Context(), "b.so", 0); err != nil || len(refs) != 0 || w.record(idB) != nil {
		t.Fatalf("%v %v", refs, err)
	}
}

// A load that gc gave up cannot be published any more, and gc can be killed anywhere.
func TestGCAgainstTheLiving(t *testing.T) {
	for n := int64(1); n < 8; n++ {
		w := newWorld(t)
		for i := range 4 {
			w.put("a.so", fmt.Sprintf("FAKE\nid %s\nf 0 8 v%d 1\n%*s", idA, i, i, ""))
			w.run()
		}
		w.now = w.now.Add(25 * time.Hour)
		f := &flaky{from: n, until: 1 << 60}
		gc.Run(t.Context(), gc.Options{Store: flakyStore(w.store, f), Keyring: w.ring, Now: func() time.Time { return w.now }})
		w.verify()
		w.gc(gc.Options{})
		if w.verify(); w.loads() != 2 {
			t.Fatalf("operation %d: %d loads", n, w.loads())
		}
	}
	w := newWorld(t)
	p := newJob(w.o).publisher
	x := outcome.New(t.Context(), &discover.Task{URL: "file:/x"}, w.now)
	l := &publish.Load{Object: x, Artifact: symbol.NewID(symbol.ELF, idA), ID: row.NewLoad(w.now), Loaded: &row.Loaded{}}
	big := sinks.Row{Key: append(row.LoadPrefix(l.Artifact, l.ID), make([]byte, 9)...), Value: make([]byte, publish.OwnBatchBytes)}
	if err := p.Write(t.Context(), l, big); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(record.LeaseTime + 25*time.Hour)
	w.gc(gc.Options{})
	if err := p.Publish(l); err != nil || !errors.Is(x.Err(), record.ErrLost) {
		t.Fatal(err, x.Err())
	}
}

func TestVerifyFindsEverything(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.put(fmt.Sprintf("%d.so", i), fmt.Sprintf("FAKE\nid %040x\nf 0 8 f%d 1\nf 16 32 g 2\n", i+1, i))
	}
	w.run()
	// One load's rows are lost, one's row is swapped with another's, one record
	// forgets its name, one row has no owner.
	ids := func(i int) *catalog.Record { return w.record(fmt.Sprintf("%040x", i+1)) }
	lost := ids(0)
	if err := w.store.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(lost.ID, lost.Published.Load)}); err != nil {
		t.Fatal(err)
	}
	damaged := ids(1)
	prefix := row.LoadPrefix(damaged.ID, damaged.Published.Load)
	var rows []sinks.Row
	if err := w.store.Blocks.Scan(t.Context(), sinks.Span{From: prefix, Stop: stored.After(prefix)}, func(r sinks.Row) error {
		r.Value = append([]byte(nil), r.Value...)
		r.Value[len(r.Value)-1] ^= 1
		rows = append(rows, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rows = append(rows, sinks.Row{Key: make([]byte, 33), Value: []byte("x")})
	b, err := w.store.Blocks.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := b.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.cat.Names.Remove(t.Context(), "2.so", catalog.Ref{Artifact: ids(2).ID}); err != nil {
		t.Fatal(err)
	}
	if err := w.cat.Artifacts.Swap(t.Context(), ids(3), nil); err != nil {
		t.Fatal(err)
	}
	r, err := verify.Run(t.Context(), verify.Options{Store: w.store, Keyring: w.ring})
	if err != nil {
		t.Fatal(err)
	}
	// Lost rows, a broken seal, a name, rows without an owner (twice: a record is gone
	// too), and the ledger and the names of that record.
	if len(r.Problems) != 7 || r.Artifacts != 4 {
		for _, p := range r.Problems {
			t.Log(p.Where, p.Error)
		}
		t.Fatalf("%d problems, %d artifacts", len(r.Problems), r.Artifacts)
	}
}
