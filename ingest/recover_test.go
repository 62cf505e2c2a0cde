package ingest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

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
		if ws, err := w.cat.Waiters(t.Context(), key); err != nil || len(ws) != 0 && key == "dwo:77" {
			t.Fatalf("%s: %v %v", key, ws, err)
		}
	}

	// In the same run, listed after who needs it and not beside it.
	w = newWorld(t)
	w.put("x/a.so", need)
	w.put("z/elsewhere", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
	w.run()
	w.answers(idA, 8, "part:2")
	w.verify()
}

// An object that was open when the process died is taken alone the next time,
// and quarantined after the second.
func TestCrashes(t *testing.T) {
	w := newWorld(t)
	w.put("killer.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("other.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	die := func(key string) { // what a killed process leaves
		t.Helper()
		o := *w.object(key)
		old := o
		o.State, o.Attempts = row.ObjectLoading, o.Attempts+1
		if err := w.cat.SwapObject(t.Context(), w.object(key), &o); err != nil {
			t.Fatal(err, old)
		}
	}
	w.o.Limit = 1
	w.o.Deadline = w.now
	w.run()
	w.o.Limit, w.o.Deadline = 0, time.Time{}
	die("killer.so")
	die("other.so")
	if r := w.run(); r.Objects.Loaded != 2 {
		t.Fatalf("%+v", r.Objects)
	}
	w.put("killer.so", "FAKE\nid "+idA+"\nf 0 8 a 2\n")
	w.o.Deadline = w.now
	w.run()
	w.o.Deadline = time.Time{}
	die("killer.so")
	die("killer.so")
	if r := w.run(); r.Objects.Rejected != 1 || len(r.Rejected) != 1 {
		t.Fatalf("%+v", r)
	}
	w.is("killer.so", row.ObjectRejected)
	if r := w.run(); r.Objects.New != 0 {
		t.Fatalf("%+v", r.Objects)
	}
	w.put("killer.so", "FAKE\nid "+idA+"\nf 0 8 a 33\n")
	w.run()
	w.is("killer.so", row.ObjectLoaded)
}

// An environment error fails its object; the others go on, and the next run
// takes it again. Five in a row stop the job.
func TestFailures(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nfail\n")
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	r := w.run()
	if r.Objects.Failed != 1 || r.Objects.Loaded != 1 || len(r.Failed) != 1 {
		t.Fatalf("%+v", r)
	}
	w.is("a.so", row.ObjectFailed)
	if r := w.run(); r.Objects.New != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	for i := range 20 {
		w.put(fmt.Sprintf("f%d.so", i), fmt.Sprintf("FAKE\nid %040x\nfail\n", i+1))
	}
	if _, err := Run(t.Context(), []Source{w.src}, w.o); err == nil || !strings.Contains(err.Error(), "one after the other") {
		t.Fatal(err)
	}
}

// A cancelled run says where things stand, leaves no goroutine, and the next
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
	if _, err := Run(ctx, []Source{w.src}, w.o); err == nil {
		t.Fatal("no error")
	}
	err := w.cat.Objects(t.Context(), "", func(o *row.Object) error {
		if o.State == row.ObjectLoading {
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
	for range 100 {
		if runtime.NumGoroutine() <= before+1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
