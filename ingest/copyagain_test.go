package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/ingest/transfer"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// reopened is a file store in dir without its rows: only a folder for them is left.
func reopened(t *testing.T, dir string) *sinks.Store {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "blocks")); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Open(dir, file.Options{}); !errors.Is(err, sinks.ErrLost) || !strings.Contains(err.Error(), "init --new-blocks") {
		t.Fatalf("a store without its rows opens: %v", err)
	}
	if err := file.CreateBlocks(dir); err != nil {
		t.Fatal(err)
	}
	s, err := file.Open(dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// A copy brings back rows that the target lost, forced or not; gc forgets previous loads that nothing brings back.
func TestCopyLostRows(t *testing.T) {
	for _, force := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "store")
		if err := file.Create(dir); err != nil {
			t.Fatal(err)
		}
		s, err := file.Open(dir, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := filled(t, mem.New())
		to := w.target(s)
		w.copyTo(to, nil)
		// A second load of one artifact, so that it has a previous one.
		w.now = w.now.Add(time.Minute)
		w.put("shop/1/liba.so", "FAKE\nid "+idA+"\nf 16 32 uno 5\nf 32 48 two 6\n")
		w.run()
		w.copyTo(to, nil)
		want := to.verify()
		if to.record(idA).Previous == nil {
			t.Fatal("there is no previous load")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		to.store = reopened(t, dir)
		if to.ring, err = row.OpenKeyring(t.Context(), to.store.Catalog, to.kek); err != nil {
			t.Fatal(err)
		}
		to.cat, to.o.Store, to.o.Keyring = catalog.New(to.store.Catalog, to.ring), to.store, to.ring
		if r, err := verify.Run(t.Context(), verify.Options{Store: to.store, Keyring: to.ring}); err != nil || len(r.Problems) < 2 {
			t.Fatalf("verify finds %+v: %v", r, err)
		}
		collecting := gc.Options{Store: to.store, Keyring: to.ring, Now: func() time.Time { return to.now }}
		if report, err := gc.Run(t.Context(), collecting); err == nil && len(report.Damaged) == 0 {
			t.Errorf("gc says nothing of lost rows: %+v", report)
		}
		if to.record(idA).Previous == nil {
			t.Error("gc forgot a previous load while the published one was lost too")
		}
		r := w.copyTo(to, func(o *transfer.Options) { o.Force = force })
		if r.Artifacts != (transfer.Counts{Seen: 2, Copied: 2}) {
			t.Fatalf("%+v", r.Artifacts)
		}
		to.answers(idA, 16, "uno:5")
		to.answers(idB, 0, "b:1")
		if len(to.record(idA).Progress) != 0 {
			t.Errorf("the copy left %+v", to.record(idA).Progress)
		}
		report, err := gc.Run(t.Context(), collecting)
		if err != nil || report.Lost != 1 {
			t.Fatalf("%+v %v", report, err)
		}
		if got := to.verify(); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
		if r := w.copyTo(to, nil); r.Artifacts != (transfer.Counts{Seen: 2, There: 2}) {
			t.Errorf("again: %+v", r.Artifacts)
		}
	}
}
