package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

func TestCompanions(t *testing.T) {
	need := "FAKE\nid " + idA + "\nneed dwo:77 sub/part.dwo\nf 0 8 main 1\n"
	// Beside the object.
	w := newWorld(t)
	w.put("x/a.so", need)
	w.put("x/sub/part.dwo", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
	if r := w.run(); r.Objects.Loaded != 1 || r.Objects.Skipped["companion"] != 1 || len(r.Missing) != 0 {
		t.Fatalf("%+v", r)
	}
	w.answers(idA, 8, "part:2")

	// Any file of a folder, but no hidden one and none below it.
	w = newWorld(t)
	w.put("x/a.so", "FAKE\nid "+idA+"\nneed dwo:77 sub/\nf 0 8 main 1\n")
	w.put("x/sub/.part.dwo", "FAKE\ncompanion dwo:78\n")
	w.put("x/sub/below/part.dwo", "FAKE\ncompanion dwo:79\n")
	w.put("x/sub/part.dwo", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
	w.run()
	w.answers(idA, 8, "part:2")

	// In the same archive.
	w = newWorld(t)
	w.put("a.zip", zipped(t, "x/a.so", need, "x/sub/part.dwo", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n"))
	w.run()
	w.answers(idA, 8, "part:2")

	// By id from the ledger, out of another archive that came earlier.
	w = newWorld(t)
	w.put("1.zip", zipped(t, "far/away", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n"))
	w.run()
	w.put("x/a.so", need)
	w.run()
	w.answers(idA, 8, "part:2")

	// Later, in another run: the waiting object is derived again.
	w = newWorld(t)
	w.put("x/a.so", need)
	r := w.run()
	if !slices.Contains(r.Missing, "dwo:77") {
		t.Fatalf("%+v", r.Missing)
	}
	w.answers(idA, 8, "")
	if m := w.record(idA).Published.Quality.Missing; !slices.Equal(m, []string{"dwo:77"}) {
		t.Fatal(m)
	}
	w.put("z/elsewhere", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
	w.run()
	w.answers(idA, 8, "part:2")
	if m := w.record(idA).Published.Quality.Missing; len(m) != 0 {
		t.Fatal(m)
	}
	for _, key := range []string{"dwo:77", "file:part.dwo"} {
		if ws, err := w.cat.Waiters.For(t.Context(), key); err != nil || len(ws) != 0 && key == "dwo:77" {
			t.Fatalf("%s: %v %v", key, ws, err)
		}
	}

	// In the same run, listed after the object that needs it and not beside it.
	w = newWorld(t)
	w.put("x/a.so", need)
	w.put("z/elsewhere", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
	w.run()
	w.answers(idA, 8, "part:2")
	w.verify()
}

// An object that was open when a process died is taken alone the next time; after three deaths in a process of
// its own, and only if that dies, too, is it quarantined.
func TestCrashes(t *testing.T) {
	w := newWorld(t)
	w.put("killer.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("other.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	die := func(key string) { // what a killed process leaves
		t.Helper()
		old := w.object(key)
		o := *old
		if o.State == catalog.ObjectLoading {
			o.Interrupted++
		}
		o.State, o.Owner = catalog.ObjectLoading, row.NewWorkerID()
		if err := w.cat.Ledger.Swap(t.Context(), old, &o); err != nil {
			t.Fatal(err)
		}
	}
	later := func() { // objects are seen, and not taken
		w.o.Deadline = w.now
		w.run()
		w.o.Deadline = time.Time{}
	}
	later()
	die("killer.so")
	die("other.so")
	if r := w.run(); r.Objects.Loaded != 2 {
		t.Fatalf("%+v", r.Objects)
	}
	if o := w.object("killer.so"); o.Interrupted != 0 || o.Attempts != 0 || o.Owner != (row.WorkerID{}) {
		t.Fatalf("%+v", o)
	}

	w.put("killer.so", "FAKE\nid "+idA+"\nf 0 8 a 2\n")
	later()
	for range 3 {
		die("killer.so")
	}
	var alone []string
	child := func(ctx context.Context, url string) (*report.Report, error) {
		alone = append(alone, url)
		o := w.o
		o.Isolated, o.Only, o.Isolate = true, []string{url}, nil
		return Run(ctx, []discover.Source{w.src}, o)
	}
	w.o.Isolate = child
	if r := w.run(); r.Objects.Loaded != 1 || len(alone) != 1 || r.Artifacts != 1 {
		t.Fatalf("%+v, alone: %v", r, alone)
	}
	w.is("killer.so", catalog.ObjectLoaded)
	w.answers(idA, 0, "a:2")

	w.put("killer.so", "FAKE\nid "+idA+"\nf 0 8 a 33\n")
	later()
	for range 3 {
		die("killer.so")
	}
	w.o.Isolate = func(ctx context.Context, url string) (*report.Report, error) { // it opens the object, and dies
		die("killer.so")
		return nil, errors.New("killed: out of memory")
	}
	if r := w.run(); r.Objects.Rejected != 1 || len(r.Rejected) != 1 || !strings.Contains(r.Rejected[0].Error, "out of memory") {
		t.Fatalf("%+v", r)
	}
	w.is("killer.so", catalog.ObjectRejected)
	if r := w.run(); r.Objects.New != 0 {
		t.Fatalf("%+v", r.Objects)
	}
	w.put("killer.so", "FAKE\nid "+idA+"\nf 0 8 a 444\n")
	w.run()
	w.is("killer.so", catalog.ObjectLoaded)
	w.verify()

	// A child that cannot even begin says something about the machine, and nothing about the object.
	w.put("killer.so", "FAKE\nid "+idA+"\nf 0 8 a 5555\n")
	later()
	for range 3 {
		die("killer.so")
	}
	w.o.Isolate = func(context.Context, string) (*report.Report, error) { return nil, errors.New("no more processes") }
	if _, err := Run(t.Context(), []discover.Source{w.src}, w.o); err == nil || !strings.Contains(err.Error(), "no more processes") {
		t.Fatal(err)
	}
	w.is("killer.so", catalog.ObjectPending)
}

// An object that cannot be read fails; the others go on, and the next run takes it again. In
// the third run it is quarantined. Five in a row stop the job, and then none of them is to blame.
func TestFailures(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nfail\n")
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	r := w.run()
	if r.Objects.Failed != 1 || r.Objects.Loaded != 1 || len(r.Failed) != 1 {
		t.Fatalf("%+v", r)
	}
	w.is("a.so", catalog.ObjectFailed)
	if r := w.run(); r.Objects.New != 1 || r.Objects.Failed != 1 || w.object("a.so").Attempts != 2 {
		t.Fatalf("%+v", r.Objects)
	}
	if r := w.run(); r.Objects.Failed != 0 || r.Objects.Rejected != 1 || len(r.Failed) != 0 || !strings.Contains(r.Rejected[0].Error, "the disk is on fire") {
		t.Fatalf("%+v", r)
	}
	w.is("a.so", catalog.ObjectRejected)
	if r := w.run(); r.Objects.New != 0 {
		t.Fatalf("%+v", r.Objects)
	}
	for i := range 20 {
		w.put(fmt.Sprintf("f%d.so", i), fmt.Sprintf("FAKE\nid %040x\nfail\n", i+1))
	}
	for range 4 {
		if _, err := Run(t.Context(), []discover.Source{w.src}, w.o); err == nil || !strings.Contains(err.Error(), "one after the other") {
			t.Fatal(err)
		}
	}
	err := w.cat.Ledger.Each(t.Context(), w.src.Bucket.URL("f"), func(o *catalog.Object) error {
		if o.State == catalog.ObjectRejected || o.Attempts > 0 {
			t.Errorf("%s is %s, %d attempts", o.URL, o.State, o.Attempts)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A canceled run says where things stand, leaves no goroutine, and the next
// one finishes.
func TestCancel(t *testing.T) {
	before := runtime.NumGoroutine()
	w := newWorld(t)
	for i := range 50 {
		w.put(fmt.Sprintf("lib%02d.so", i), fmt.Sprintf("FAKE\nid %040x\nf 0 8 f%d 1\n", i+1, i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.o.Progress = func(e Event) {
		if e.Done == 5 {
			cancel()
		}
	}
	w.put("lib00.so", "nothing")
	w.put("lib01.so", "nothing")
	w.put("lib02.so", "nothing")
	w.put("lib03.so", "nothing")
	w.put("lib04.so", "nothing")
	if _, err := Run(ctx, []discover.Source{w.src}, w.o); err == nil {
		t.Fatal("no error")
	}
	err := w.cat.Ledger.Each(t.Context(), "", func(o *catalog.Object) error {
		if o.State == catalog.ObjectLoading {
			t.Errorf("%s is still loading", o.URL)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.o.Progress = nil
	w.run()
	w.answers(fmt.Sprintf("%040x", 50), 0, "f49:1")
	w.verify()
	formattest.Await(t, "the run's goroutines end", func() bool { return runtime.NumGoroutine() <= before+1 })
}
