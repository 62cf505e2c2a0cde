package ingest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/upkeep"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// problems are what verify finds.
func (w *world) problems() string {
	w.t.Helper()
	r, err := verify.Run(w.t.Context(), verify.Options{Store: w.store, Keyring: w.ring, Alive: w.o.Alive})
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, p := range r.Problems {
		all = append(all, p.Where+": "+p.Error)
	}
	return strings.Join(all, "\n")
}

// lose deletes the record of an artifact.
func (w *world) lose(id string) {
	w.t.Helper()
	if err := w.cat.Artifacts.Swap(w.t.Context(), w.record(id), nil); err != nil {
		w.t.Fatal(err)
	}
}

// A record that went is a problem of verify, gc drops nothing that it led to, and what verify says heals it.
func TestLostRecord(t *testing.T) {
	w := newWorld(t)
	w.put("liba.so", "FAKE\nid "+idA+"\nneed dwo:a a.dwo\nf 16 32 one 5\n")
	w.put("libb.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	w.run()
	want := w.verify()
	w.lose(idA)
	if r := w.run(); r.Objects.New != 0 {
		t.Fatalf("%+v", r.Objects)
	}
	url := w.src.Bucket.URL("liba.so")
	heal := "symlake ingest --force " + url
	if said := w.problems(); !strings.Contains(said, "its record is gone, and 2 names lead to it") || !strings.Contains(said, heal) {
		t.Fatalf("verify finds\n%s", said)
	}
	w.now = w.now.Add(100 * time.Hour)
	for _, dry := range []bool{true, false, false} {
		r := w.gc(gc.Options{Alone: true, DryRun: dry})
		if r.Loads != 0 || r.Names != 0 || len(r.Damaged) != 1 || !strings.Contains(r.Damaged[0].Error, heal) || w.loads() != 2 {
			t.Fatalf("%+v, %d loads", r, w.loads())
		}
	}
	o := w.o
	o.Force = true
	if _, err := Run(t.Context(), []discover.Source{{Bucket: w.src.Bucket, Key: "liba.so"}}, o); err != nil {
		t.Fatal(err)
	}
	w.answers(idA, 16, "one:5")
	w.now = w.now.Add(100 * time.Hour)
	if r := w.gc(gc.Options{}); r.Orphans != 1 || len(r.Damaged) != 0 {
		t.Fatalf("%+v", r)
	}
	if got := w.verify(); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// A record and its ledger entry went: the names alone keep the rows.
func TestLostRecordAndLedger(t *testing.T) {
	w := newWorld(t)
	w.put("liba.so", "FAKE\nid "+idA+"\nf 16 32 one 5\n")
	w.run()
	w.lose(idA)
	if err := w.cat.Ledger.Swap(t.Context(), w.object("liba.so"), nil); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(100 * time.Hour)
	if r := w.gc(gc.Options{}); r.Loads != 0 || r.Names != 0 || len(r.Damaged) != 1 || w.loads() != 1 {
		t.Fatalf("%+v, %d loads", r, w.loads())
	}
	w.run()
	w.answers(idA, 16, "one:5")
	w.now = w.now.Add(100 * time.Hour)
	w.gc(gc.Options{})
	w.verify()
}

// A process that died between the names and the record leaves names, which go once gc has removed its load.
func TestLeftNames(t *testing.T) {
	w := newWorld(t)
	w.put("liba.so", "FAKE\nid "+idA+"\nf 16 32 one 5\n")
	w.run()
	id := symbol.NewID(symbol.ELF, idB)
	for _, name := range []string{idB, "libb.so"} {
		if err := w.cat.Names.Add(t.Context(), name, catalog.Ref{Artifact: id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.cat.Waiters.Add(t.Context(), "dwo:b", catalog.Waiter{Artifact: id, Object: "x"}); err != nil {
		t.Fatal(err)
	}
	next := &catalog.Record{ID: id, State: catalog.Live, Progress: []catalog.Progress{{Load: row.NewLoad(w.now), Owner: "dead", Lease: w.now}}}
	if err := w.cat.Artifacts.Swap(t.Context(), nil, next); err != nil {
		t.Fatal(err)
	}
	w.verify()
	w.now = w.now.Add(100 * time.Hour)
	if r := w.gc(gc.Options{}); r.Records != 1 || r.Names != 3 || len(r.Damaged) != 0 {
		t.Fatalf("%+v", r)
	}
	w.verify()
	if names, err := w.cat.Names.Find(t.Context(), "libb.so", 0); err != nil || len(names) != 0 {
		t.Errorf("%v %v", names, err)
	}
}

// A ledger that lost entries is a problem of verify, and an ingest enters them anew.
func TestEmptiedLedger(t *testing.T) {
	w := filled(t, mem.New())
	want := w.verify()
	for _, key := range []string{"shop/1/liba.so", "shop/1/libb.so", "shop/1/libc.so", "shop/2/liba.so", "readme.txt"} {
		if err := w.cat.Ledger.Swap(t.Context(), w.object(key), nil); err != nil {
			t.Fatal(err)
		}
	}
	if said := w.problems(); strings.Count(said, "the ledger has no entry of object") != 2 || !strings.Contains(said, w.src.Bucket.URL("shop/1/libb.so")) {
		t.Fatalf("verify finds\n%s", said)
	}
	w.run()
	if got := w.verify(); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Nothing is rolled back to a load without its rows, and gc forgets it.
func TestRollbackLost(t *testing.T) {
	w := newWorld(t)
	w.put("liba.so", "FAKE\nid "+idA+"\nf 16 32 one 5\n")
	w.run()
	w.put("liba.so", "FAKE\nid "+idA+"\nf 16 32 other 5\n")
	w.run()
	rec := w.record(idA)
	if err := w.store.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(rec.ID, rec.Previous.Load)}); err != nil {
		t.Fatal(err)
	}
	if _, err := upkeep.Rollback(t.Context(), w.projection(), rec.ID); !errors.Is(err, upkeep.ErrNoPrevious) || !strings.Contains(err.Error(), "are gone") {
		t.Fatal(err)
	}
	w.answers(idA, 16, "other:5")
	if r := w.gc(gc.Options{}); r.Lost != 1 || w.record(idA).Previous != nil {
		t.Fatalf("%+v", r)
	}
	w.verify()
}

// Waiters that went are a problem of verify, and a forced ingest enters them anew.
func TestLostWaiters(t *testing.T) {
	w := filled(t, mem.New())
	w.verify()
	id := symbol.NewID(symbol.ELF, idB)
	err := w.cat.Waiters.Each(t.Context(), func(companion string, waiter catalog.Waiter) error {
		return w.cat.Waiters.Remove(t.Context(), companion, waiter)
	})
	if err != nil {
		t.Fatal(err)
	}
	if said := w.problems(); !strings.Contains(said, "artifact "+id.String()+": it lacks companion dwo:b") {
		t.Fatalf("verify finds\n%s", said)
	}
	o := w.o
	o.Force = true
	if _, err := Run(t.Context(), []discover.Source{{Bucket: w.src.Bucket, Key: "shop/1/libb.so"}}, o); err != nil {
		t.Fatal(err)
	}
	w.verify()
}
