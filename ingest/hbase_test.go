package ingest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/ingest/transfer"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/hbase"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// TestHBase runs what differs on a real server.
func TestHBase(t *testing.T) {
	t.Parallel()
	server := hbasetest.Start(t, hbasetest.Options{})
	t.Run("copy after gc", func(t *testing.T) { copyAfterGC(t, server) })
	t.Run("crash points", func(t *testing.T) { crashOnHBase(t, server) })
}

// crashOnHBase tries deaths as TestCrashPoints does: a few of one scenario, or with SYMLAKE_CRASH_HBASE all of all.
func crashOnHBase(t *testing.T, server *hbasetest.Server) {
	try, stride := []scenario{*scenarioNamed("companion after its object")}, 7
	if os.Getenv("SYMLAKE_CRASH_HBASE") != "" {
		try, stride = scenarios, 1
	}
	made, points := 0, 0
	for _, s := range try {
		t.Run(s.name, func(t *testing.T) {
			points += s.dieEverywhere(t, func() *sinks.Store {
				made++
				rest, o := fmt.Sprintf("//%s/crash%d?regions=1", server.Master, made), hbase.Options{}
				if err := hbase.Create(t.Context(), rest, o); err != nil {
					t.Fatal(err)
				}
				store, err := hbase.Open(t.Context(), rest, o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close() })
				return store
			}, stride)
		})
	}
	t.Logf("%d deaths", points)
}

// copyAfterGC: what gc deleted comes again, above the delete markers, without a compaction; three times, so that no
// number is lucky.
func copyAfterGC(t *testing.T, server *hbasetest.Server) {
	for _, puts := range []bool{false, true} {
		rest := "//" + server.Master + "/bulk?regions=4"
		if puts {
			rest = "//" + server.Master + "/puts?regions=4"
		}
		o := hbase.Options{Write: hbase.WriteOptions{Puts: puts}}
		if err := hbase.Create(t.Context(), rest, o); err != nil {
			t.Fatal(err)
		}
		open := func() *sinks.Store {
			s, err := hbase.Open(t.Context(), rest, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
		w := filled(t, mem.New())
		to := w.target(open())
		w.copyTo(to, nil)
		for range 3 {
			rec := to.record(idA)
			next := record.Copy(rec, rec.ID)
			next.Published, next.Progress = nil, []catalog.Progress{{Load: rec.Published.Load, Owner: record.Superseded, Lease: to.now}}
			if err := to.cat.Artifacts.Swap(t.Context(), rec, next); err != nil {
				t.Fatal(err)
			}
			later := func() time.Time { return to.now.Add(48 * time.Hour) }
			// Without Tidy's compaction, which would take the markers away.
			if _, err := gc.Run(t.Context(), gc.Options{Store: untidy(to.store), Keyring: to.ring, Now: later}); err != nil {
				t.Fatal(err)
			}
			if to.record(idA) != nil {
				t.Fatal("gc left the record")
			}
			if n := to.rows(idA); n != 0 {
				t.Fatalf("%d rows after gc", n)
			}
			if r := w.copyTo(to, nil); r.Artifacts != (transfer.Counts{Seen: 2, Copied: 1, There: 1}) {
				t.Fatalf("%+v", r)
			}
			to.answers(idA, 16, "one:5")
			if to.verify() != w.verify() {
				t.Fatal("another digest")
			}
		}
		// And with it.
		if _, err := gc.Run(t.Context(), gc.Options{Store: to.store, Keyring: to.ring}); err != nil {
			t.Fatal(err)
		}
		if to.verify() != w.verify() {
			t.Fatal("another digest after gc")
		}
	}
}

// rows counts the rows of an artifact, published or not.
func (w *world) rows(id string) (n int) {
	w.t.Helper()
	p := row.LoadPrefix(symbol.NewID(symbol.ELF, id), sinks.Load{})[:16]
	if err := w.store.Blocks.Scan(w.t.Context(), sinks.Span{From: p, Stop: stored.After(p)}, func(sinks.Row) error {
		n++
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// untidy is a store that never tidies its blocks.
func untidy(s *sinks.Store) *sinks.Store {
	return &sinks.Store{Blocks: idle{s.Blocks}, Catalog: s.Catalog, Close: s.Close}
}

type idle struct{ sinks.Blocks }

func (idle) Tidy(context.Context, time.Time) (int64, error) { return 0, nil }
