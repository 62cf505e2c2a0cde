package ingest

import (
	"context"
	"errors"
	"fmt"
	"github.com/symlake/symlake/sinks/sinktest"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/transfer"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// filled is a world with everything a ledger can say.
func filled(t *testing.T, s *sinks.Store) *world {
	w := worldOf(t, s)
	w.src.Names = "{app}/{build}/**"
	w.put("shop/1/liba.so", "FAKE\nid "+idA+"\nf 16 32 one 5\nf 32 48 two 6\n")
	w.put("shop/1/libb.so", "FAKE\nid "+idB+"\nneed dwo:b b.dwo\nf 0 8 b 1\n")
	w.put("shop/1/libc.so", "FAKE\nid "+idC+"\nbroken\n")
	w.put("readme.txt", "hello")
	w.put("shop/2/liba.so", "FAKE\nid "+idA+"\nrank 3\nf 16 32 worse 5\n")
	w.run()
	return w
}

func fileStore(t *testing.T) *sinks.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := file.Create(dir); err != nil {
		t.Fatal(err)
	}
	s, err := file.Open(dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// target is a store of its own keys that looks at w's objects.
func (w *world) target(s *sinks.Store) *world {
	to := worldOf(w.t, s)
	to.dir, to.src = w.dir, w.src
	return to
}

func (w *world) copyTo(to *world, edit func(*transfer.Options)) *transfer.Report {
	w.t.Helper()
	o := w.copyOptions(to)
	if edit != nil {
		edit(&o)
	}
	r, err := transfer.Copy(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) copyOptions(to *world) transfer.Options {
	return transfer.Options{From: transfer.Store{Store: w.store, Keyring: w.ring}, To: transfer.Store{Store: to.store, Keyring: to.ring}, Owner: "copy", Now: func() time.Time { return to.now }}
}

// After a copy the target answers as the source does, and an ingest into it finds nothing new.
func TestCopy(t *testing.T) {
	for name, stores := range map[string][2]func(*testing.T) *sinks.Store{
		"file to file": {fileStore, fileStore},
		"file to mem":  {fileStore, func(*testing.T) *sinks.Store { return mem.New() }},
	} {
		t.Run(name, func(t *testing.T) {
			w := filled(t, stores[0](t))
			to := w.target(stores[1](t))
			r := w.copyTo(to, nil)
			if want := (transfer.Counts{Seen: 2, Copied: 2}); r.Artifacts != want || r.Objects != 5 || r.Waiters == 0 || r.Batches != 1 {
				t.Fatalf("%+v", r)
			}
			if got, want := to.verify(), w.verify(); got != want {
				t.Fatalf("digest %s, want %s", got, want)
			}
			to.answers(idA, 16, "one:5")
			to.answers(idB, 0, "b:1")
			for _, name := range []string{idA, "shop@1/liba.so", "shop@2", "libc.so", "LIBB.so"} {
				want, err := w.cat.Names.Find(t.Context(), name, 0)
				got, err2 := to.cat.Names.Find(t.Context(), name, 0)
				if err := errors.Join(err, err2); err != nil || len(want) == 0 || !reflect.DeepEqual(got, want) {
					t.Errorf("%s leads to %v, want %v: %v", name, got, want, err)
				}
			}
			for _, key := range []string{"shop/1/liba.so", "shop/1/libc.so", "readme.txt", "shop/2/liba.so"} {
				got, want := to.object(key), w.object(key)
				if got.State != want.State || got.ETag != want.ETag || len(got.Artifacts) != len(want.Artifacts) {
					t.Errorf("%s is %+v, want %+v", key, got, want)
				}
			}
			if a, b := to.record(idA).Published, w.record(idA).Published; a.Load != b.Load || string(a.WrappedKey) == string(b.WrappedKey) {
				t.Error("another load, or the source's wrapped key")
			}
			if got := to.run().Objects; got.New != 0 || got.Seen != 5 {
				t.Fatalf("%+v", got)
			}
			if r := w.copyTo(to, nil); r.Artifacts != (transfer.Counts{Seen: 2, There: 2}) || r.Bytes != 0 || r.Objects != 0 {
				t.Fatalf("again: %+v", r)
			}
			// What waited is woken in the target too.
			w.put("b.dwo", "FAKE\ncompanion dwo:b\nf 8 16 more 2\n")
			to.run()
			to.answers(idB, 8, "more:2")
		})
	}
}

// A load that gc removed from the target comes again.
func TestCopyAfterGC(t *testing.T) {
	w := filled(t, mem.New())
	to := w.target(mem.New())
	w.copyTo(to, nil)
	rec := to.record(idA)
	next := record.Copy(rec, rec.ID)
	next.Published, next.Progress = nil, []catalog.Progress{{Load: rec.Published.Load, Owner: record.Superseded, Lease: to.now}}
	if err := to.cat.Artifacts.Swap(t.Context(), rec, next); err != nil {
		t.Fatal(err)
	}
	later := func() time.Time { return to.now.Add(48 * time.Hour) }
	if _, err := gc.Run(t.Context(), gc.Options{Store: to.store, Keyring: to.ring, Now: later}); err != nil {
		t.Fatal(err)
	}
	if to.record(idA) != nil {
		t.Fatal("gc left the record")
	}
	if r := w.copyTo(to, nil); r.Artifacts != (transfer.Counts{Seen: 2, Copied: 1, There: 1}) {
		t.Fatalf("%+v", r)
	}
	to.answers(idA, 16, "one:5")
	if to.verify() != w.verify() {
		t.Fatal("another digest")
	}
	// While gc is at it, nothing is published that it drops next.
	rec = to.record(idA)
	next = record.Copy(rec, rec.ID)
	next.Published, next.Progress = nil, []catalog.Progress{{Load: rec.Published.Load, Owner: record.Doomed}}
	if err := to.cat.Artifacts.Swap(t.Context(), rec, next); err != nil {
		t.Fatal(err)
	}
	if r := w.copyTo(to, nil); r.Artifacts.Failed != 1 || !strings.Contains(r.Failed[0].Error, "run gc") {
		t.Fatalf("%+v", r)
	}
}

// A load of the target is replaced only by a better one.
func TestCopyKeeps(t *testing.T) {
	w := newWorld(t)
	w.put("liba.so", "FAKE\nid "+idA+"\nf 16 32 one 5\n")
	w.put("libb.so", "FAKE\nid "+idB+"\nrank 3\nf 0 8 worse 1\n")
	w.put("libc.so", "FAKE\nid "+idC+"\nf 0 8 c 1\n")
	w.run()
	other := newWorld(t)
	other.put("debug/liba.so", "FAKE\nid "+idA+"\nrank 3\nf 16 32 worse 5\n")
	other.put("debug/libb.so", "FAKE\nid "+idB+"\nf 0 8 better 1\n")
	other.put("debug/libc.so", "FAKE\nid "+idC+"\nrank 3\nf 0 8 pinned 1\n")
	other.run()
	pin := func(s catalog.State) {
		rec := other.record(idC)
		next := record.Copy(rec, rec.ID)
		next.State = s
		if err := other.cat.Artifacts.Swap(t.Context(), rec, next); err != nil {
			t.Fatal(err)
		}
	}
	pin(catalog.Pinned)
	if r := w.copyTo(other, nil); r.Artifacts != (transfer.Counts{Seen: 3, Copied: 1, Kept: 2}) {
		t.Fatalf("%+v", r)
	}
	other.answers(idA, 16, "one:5")
	other.answers(idB, 0, "better:1")
	other.answers(idC, 0, "pinned:1")
	other.is("debug/liba.so", catalog.ObjectKept)
	other.is("debug/libb.so", catalog.ObjectLoaded)
	if o, err := other.cat.Ledger.Get(t.Context(), w.src.Bucket.URL("libb.so")); err != nil || o == nil || o.State != catalog.ObjectKept {
		t.Fatalf("%+v %v", o, err)
	}
	if prev := other.record(idA).Previous; prev == nil || len(other.record(idA).Progress) != 0 {
		t.Fatalf("%+v", other.record(idA))
	}
	if r := w.copyTo(other, func(o *transfer.Options) { o.Force = true }); r.Artifacts != (transfer.Counts{Seen: 3, Copied: 3}) {
		t.Fatalf("%+v", r)
	}
	other.answers(idC, 0, "c:1")
	other.verify()
}

// One artifact brings the ledger of its own objects only.
func TestCopyNamed(t *testing.T) {
	w := filled(t, mem.New())
	to := w.target(mem.New())
	r := w.copyTo(to, func(o *transfer.Options) { o.Artifacts = []symbol.ID{symbol.NewID(symbol.ELF, idA)} })
	if r.Artifacts != (transfer.Counts{Seen: 1, Copied: 1}) || r.Objects != 2 {
		t.Fatalf("%+v", r)
	}
	to.answers(idA, 16, "one:5")
	if got := to.run().Objects; got.New != 3 {
		t.Fatalf("%+v", got)
	}
}

// failing ends a store's batches after some rows, or its swaps after some records.
type failing struct {
	sinks.Blocks
	sinks.Catalog
	rows, swaps atomic.Int64 // that are left
}

var errPulled = errors.New("the plug was pulled")

func (f *failing) Begin(ctx context.Context) (sinks.Batch, error) {
	b, err := f.Blocks.Begin(ctx)
	return &failingBatch{b, f}, err
}

func (f *failing) swap(ctx context.Context, ch sinks.Change) error {
	if f.swaps.Add(-1) < 0 {
		return errPulled
	}
	return sinktest.SwapOne(ctx, f.Catalog, ch)
}

func (f *failing) Swap(ctx context.Context, key, old, new []byte) error {
	return f.swap(ctx, sinks.Change{Key: key, Old: old, New: new})
}

func (f *failing) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	return sinktest.SwapEach(changes, func(ch sinks.Change) error { return f.swap(ctx, ch) })
}

type failingBatch struct {
	sinks.Batch
	f *failing
}

func (b *failingBatch) Write(r sinks.Row) error {
	if b.f.rows.Add(-1) < 0 {
		return errPulled
	}
	return b.Batch.Write(r)
}

// A copy that was cut off anywhere is finished by the next one.
func TestCopyResumes(t *testing.T) {
	w := newWorld(t)
	for i := range 8 {
		id := strings.Repeat(fmt.Sprintf("%x", i+1), 40)
		w.put(fmt.Sprintf("lib%d.so", i), "FAKE\nid "+id+"\nf 0 8 f 1\n")
	}
	w.run()
	want := w.verify()
	for swaps := 0; ; swaps++ {
		s := mem.New()
		f := &failing{Blocks: s.Blocks, Catalog: s.Catalog}
		f.rows.Store(int64(swaps / 2))
		f.swaps.Store(int64(swaps))
		to := w.target(s)
		o := w.copyOptions(to)
		o.To.Store = &sinks.Store{Blocks: f, Catalog: f, Close: s.Close}
		o.BatchBytes = 1 // many batches
		_, err := transfer.Copy(t.Context(), o)
		if err != nil && !errors.Is(err, errPulled) {
			t.Fatal(err)
		}
		whole := err == nil
		r := w.copyTo(to, nil)
		if r.Artifacts.Copied+r.Artifacts.There != 8 || to.verify() != want {
			t.Fatalf("after %d swaps: %+v", swaps, r)
		}
		if got := to.run().Objects; got.New != 0 {
			t.Fatalf("after %d swaps: %+v", swaps, got)
		}
		if whole {
			return
		}
	}
}

// Rows that the source has lost are not published, and nothing else suffers.
func TestCopyDamaged(t *testing.T) {
	w := filled(t, mem.New())
	to := w.target(mem.New())
	rec := w.record(idA)
	if err := w.store.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(rec.ID, rec.Published.Load)}); err != nil {
		t.Fatal(err)
	}
	r := w.copyTo(to, nil)
	if r.Artifacts != (transfer.Counts{Seen: 2, Copied: 1, Failed: 1}) || r.Objects != 3 || len(r.Failed) != 1 {
		t.Fatalf("%+v", r)
	}
	to.answers(idB, 0, "b:1")
	if rec := to.record(idA); rec.Published != nil || rec.Progress[0].Owner != record.Superseded {
		t.Fatalf("%+v", rec)
	}
	if got := to.run().Objects; got.New != 2 {
		t.Fatalf("%+v", got)
	}
	to.answers(idA, 16, "one:5")
}
