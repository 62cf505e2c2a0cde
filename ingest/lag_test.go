package ingest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/upkeep"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// walked is a catalog that counts how often all records of artifacts are listed.
type walked struct {
	sinks.Catalog
	walks atomic.Int64
}

func (c *walked) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	if len(s.From) > 0 && s.From[0] == row.RecordArtifact {
		c.walks.Add(1)
	}
	return c.Catalog.List(ctx, s, emit)
}

// A run compares all artifacts with the lake only if something may differ.
func TestCompareOnlyAfterChanges(t *testing.T) {
	w := newWorld(t)
	w.lakeDir = t.TempDir()
	w.o.Lake = w.lakeOf(plainLake(t, w.lakeDir), nil)
	count := &walked{Catalog: w.store.Catalog}
	s := *w.store
	s.Catalog = count
	w.o.Store = &s
	run := func(why string, want bool) {
		t.Helper()
		before := count.walks.Load()
		w.o.Worker = row.NewWorkerID()
		w.o.Lake = w.lakeOf(w.o.Lake, nil)
		w.run()
		if did := count.walks.Load() > before; did != want {
			t.Errorf("%s: compared %v", why, did)
		}
	}
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	run("a new lake", true)
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	run("after a whole run", false)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 2\n")
	run("after another", false)
	run("nothing new", false)
	compact := func(why string, want bool) {
		t.Helper()
		before := count.walks.Load()
		if _, err := projection.Compact(t.Context(), projection.CompactOptions{Stores: projection.Stores{Store: &s, Keyring: w.ring, Lake: w.o.Lake}}); err != nil {
			t.Fatal(err)
		}
		if did := count.walks.Load() > before; did != want {
			t.Errorf("a compaction %s: compared %v", why, did)
		}
	}
	compact("of a whole lake", false)
	if err := w.cat.Lakes.NoteOf(t.Context(), row.NewWorkerID()); err != nil {
		t.Fatal(err)
	}
	compact("after a worker died", true)
	compact("after that", false)

	id := symbol.NewID(symbol.ELF, idA)
	if _, err := upkeep.Rollback(t.Context(), projection.Stores{Store: w.store, Keyring: w.ring}, id); err != nil {
		t.Fatal(err)
	}
	run("after a rollback", true)
	w.inLake(w.o.Lake, idA)
	w.inLake(w.o.Lake, idB)
	run("within the hour after it", true)
	w.now = time.Now().Add(2 * catalog.LagAge)
	run("later", true)
	run("then", false)

	// Without the lake.
	lake := w.o.Lake
	w.o.Lake = nil
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 2\n")
	w.run()
	w.o.Lake = lake
	run("after a run without the lake", true)
	w.inLake(w.o.Lake, idB)

	// Made anew.
	w.lakeDir = t.TempDir()
	run("a lake that was removed", true)
	w.inLake(w.o.Lake, idA)
	w.inLake(w.o.Lake, idB)
}

// The lag of a worker that died makes the next run compare; the lag of a live one does not.
func TestLagOfTheDead(t *testing.T) {
	w := newWorld(t)
	w.lakeDir = t.TempDir()
	w.o.Lake = w.lakeOf(plainLake(t, w.lakeDir), nil)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.run()
	id := row.NewWorkerID()
	if err := w.cat.Workers.Swap(t.Context(), nil, &catalog.Worker{ID: id, Host: "h", Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if err := w.cat.Lakes.NoteOf(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	catchUp := func(lives bool) (lags int) {
		t.Helper()
		_, err := projection.CatchUp(t.Context(), projection.Stores{Store: w.store, Keyring: w.ring, Lake: w.o.Lake}, func(context.Context, row.WorkerID) (bool, error) { return lives, nil })
		if err == nil {
			err = w.cat.Lakes.EachLag(t.Context(), func(*catalog.Lag) error {
				lags++
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		return lags
	}
	if n := catchUp(true); n != 1 {
		t.Errorf("%d lags beside a live worker", n)
	}
	if n := catchUp(false); n != 0 {
		t.Errorf("%d lags after a worker died", n)
	}
}
