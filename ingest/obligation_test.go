package ingest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/upkeep/forget"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

const (
	needsPart = "FAKE\nid " + idA + "\nneed dwo:77 sub/part.dwo\nf 0 8 main 1\n"
	hasPart   = "FAKE\ncompanion dwo:77\nf 8 16 part 2\n"
)

// whileRead is the fake format. It calls once when an object that needs a companion has looked for it.
func whileRead(once func()) *formats.Format {
	f := *fake(1)
	var did sync.Once
	f.Open = func(ctx context.Context, in *formats.Input) (*formats.Object, error) {
		ask := in.Companion
		in.Companion = func(ctx context.Context, want formats.Ref) (*formats.Input, error) {
			c, err := ask(ctx, want)
			if errors.Is(err, formats.ErrNoCompanion) {
				did.Do(once)
			}
			return c, err
		}
		return openFake(ctx, in)
	}
	return &f
}

// A companion that another process loads after an object looked for it, and before the object is published, wakes the
// object all the same.
func TestCompanionComesMeanwhile(t *testing.T) {
	for name, companion := range map[string]string{"by id": "z/elsewhere", "by name": "x/part.dwp"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			need := needsPart
			if name == "by name" {
				need = strings.Replace(need, "dwo:77 sub/part.dwo", "name part.dwp", 1)
			}
			w.put("x/a.so", need)
			other := w.o
			w.o.Alive = func(string, string) (alive, known bool) { return true, true }
			other.Alive = w.o.Alive
			w.o.Formats = []*formats.Format{whileRead(func() {
				w.put(companion, hasPart)
				src := w.src
				src.Key = companion
				if _, err := Run(t.Context(), []discover.Source{src}, other); err != nil {
					t.Error(err)
				}
			}), &archive.Zip}
			w.run()
			w.answers(idA, 8, "part:2")
			w.verify()
		})
	}
}

// mappedNames is the fake format, but the names and ids that it gives are views of the mapped object.
func mappedNames() *formats.Format {
	f := *fake(1)
	f.Open = func(ctx context.Context, in *formats.Input) (*formats.Object, error) {
		view := func(s string) string {
			if i := strings.Index(string(in.Mapped), s); i >= 0 && s != "" {
				return unsafe.String(&in.Mapped[i], len(s))
			}
			return s
		}
		ask := in.Companion
		in.Companion = func(ctx context.Context, want formats.Ref) (*formats.Input, error) {
			want.ID, want.Name = view(want.ID), view(want.Name)
			return ask(ctx, want)
		}
		obj, err := openFake(ctx, in)
		for i := range obj.Companions {
			obj.Companions[i] = view(obj.Companions[i])
		}
		return obj, err
	}
	return &f
}

// What an object is asked for and brings outlives the mapping that it was read from.
func TestNamesOutliveTheObject(t *testing.T) {
	w := newWorld(t)
	w.o.Formats = []*formats.Format{mappedNames()}
	w.put("x/a.so", needsPart)
	w.put("x/b.so", "FAKE\nid "+idB+"\nneed name other.dwp\nf 0 8 main 1\n")
	w.put("z/elsewhere", hasPart)
	w.run()
	w.answers(idA, 8, "part:2")
	if ws, err := w.cat.Waiters.For(t.Context(), "file:other.dwp"); err != nil || len(ws) != 1 {
		t.Fatal(ws, err)
	}
	w.verify()
}

// A store that was written before obligations were kept gets them from its waiters, once.
func TestEarlierStoreIsJoined(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", needsPart)
	w.run()
	// The run that took the companion died before it derived the object again.
	w.put("z/elsewhere", hasPart)
	w.o.Formats = []*formats.Format{fake(1)}
	if err := w.cat.Names.Add(t.Context(), "dwo:77", catalog.Ref{Object: w.src.Bucket.URL("z/elsewhere")}); err != nil {
		t.Fatal(err)
	}
	part := &catalog.Object{URL: w.src.Bucket.URL("z/elsewhere"), State: catalog.ObjectSkipped, Reason: ledger.ReasonCompanion}
	e, _, err := w.src.Bucket.Stat(t.Context(), "z/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	part.ETag = e.ETag
	if err := w.cat.Ledger.Swap(t.Context(), nil, part); err != nil {
		t.Fatal(err)
	}
	if p := w.problems(); strings.Count(p, "\n") > 0 || !strings.Contains(p, "dwo:77") || !strings.Contains(p, "symlake gc") {
		t.Fatalf("verify says %q", p)
	}
	w.run() // the store is joined already, and does not look again
	w.answers(idA, 8, "")
	mark := []byte{'p', 0}
	value, err := w.store.Catalog.Get(t.Context(), mark)
	if err != nil || value == nil {
		t.Fatalf("%x %v", value, err)
	}
	if err := w.store.Catalog.Swap(t.Context(), mark, value, nil); err != nil {
		t.Fatal(err)
	}
	w.run()
	w.answers(idA, 8, "part:2")
	w.verify()
}

// gc records the obligations that it finds due, and the next run does them. Waits of forgotten artifacts end.
func TestGCJoinsWaiters(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", needsPart)
	w.put("x/b.so", strings.ReplaceAll(needsPart, idA, idB))
	w.run()
	if _, err := forget.Run(t.Context(), forget.Options{Stores: w.projection(), Artifacts: []symbol.ID{elfID(idB)}}); err != nil {
		t.Fatal(err)
	}
	w.gc(gc.Options{})
	if ws, err := w.cat.Waiters.For(t.Context(), "dwo:77"); err != nil || len(ws) != 1 || ws[0].Artifact != elfID(idA) {
		t.Fatalf("%+v %v", ws, err)
	}
}

// An obligation of an object that no source of a run holds stays for a run that has it, and verify tells of it.
func TestObligationOfAnotherSource(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", needsPart)
	w.put("z/elsewhere", hasPart)
	all := w.src
	w.src.Key = "x/a.so"
	w.run()
	w.src.Bucket, w.src.Key = folder(t, w.dir+"/z"), ""
	w.run()
	if p := w.problems(); strings.Count(p, "\n") > 0 || !strings.Contains(p, "run symlake ingest") {
		t.Fatalf("verify says %q", p)
	}
	w.src = all
	w.run()
	w.answers(idA, 8, "part:2")
	w.verify()
}

// After its process died, an object that was derived again is taken alone, and in the end in a process of its own.
func TestObligationThatKills(t *testing.T) {
	w := newWorld(t)
	w.put("x/a.so", needsPart)
	w.run()
	w.put("z/elsewhere", hasPart)
	die := func() {
		old := w.object("x/a.so")
		o := *old
		if o.State == catalog.ObjectLoading {
			o.Interrupted++
		}
		o.State, o.Owner = catalog.ObjectLoading, row.NewWorkerID()
		if err := w.cat.Ledger.Swap(t.Context(), old, &o); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := w.cat.Waiters.For(t.Context(), "dwo:77")
	if err != nil || len(ws) != 1 {
		t.Fatal(ws, err)
	}
	if err := w.cat.Obligations.Add(t.Context(), "dwo:77", ws[0]); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		die()
	}
	alone := 0
	w.o.Isolate = func(ctx context.Context, url string) (*report.Report, error) {
		alone++
		die()
		return nil, errors.New("killed: out of memory")
	}
	w.run()
	w.is("x/a.so", catalog.ObjectRejected)
	w.run()
	if alone != 1 {
		t.Errorf("it was tried %d times", alone)
	}
	w.o.Retry, w.o.Isolate = true, nil
	w.run()
	w.answers(idA, 8, "part:2")
	w.verify()
}

// A copy brings the ids of companions: an object that comes to the target later finds them.
func TestCopyBringsCompanions(t *testing.T) {
	w := newWorld(t)
	w.put("z/1.zip", zipped(t, "far/away", hasPart))
	w.put("x/b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	w.run()
	to := w.target(mem.New())
	w.copyTo(to, nil)
	w.put("x/a.so", needsPart)
	to.run()
	to.answers(idA, 8, "part:2")
	to.verify()
}

// A record of an obligation that was written again since it was read is not discharged by whoever read it.
func TestDischargeOfAnEarlierRecord(t *testing.T) {
	w := newWorld(t)
	waiter := catalog.Waiter{Artifact: elfID(idA), Object: "file:/x"}
	read := func() (all []*catalog.Obligation) {
		if err := w.cat.Obligations.Each(t.Context(), func(o *catalog.Obligation) error { all = append(all, o); return nil }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	oblige := func() {
		if err := w.cat.Obligations.Add(t.Context(), "dwo:1", waiter); err != nil {
			t.Fatal(err)
		}
	}
	oblige()
	first := read()
	oblige()
	if err := w.cat.Obligations.Discharge(t.Context(), first[0]); err != nil || len(read()) != 1 {
		t.Fatal(err, read())
	}
	if err := w.cat.Obligations.Discharge(t.Context(), read()[0]); err != nil || len(read()) != 0 {
		t.Fatal(err, read())
	}
	if got := first[0]; got.Companion != "dwo:1" || got.Waiter != waiter {
		t.Fatalf("%+v", got)
	}
}
