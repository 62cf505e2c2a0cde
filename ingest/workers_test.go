package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/crew"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// hooked is a format. Its objects are "HOOK" and an id. Exploding one calls f and then gives one function.
func hooked(f func(ctx context.Context, id string) error) *formats.Format {
	return &formats.Format{Name: "hook", Version: 1,
		Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("HOOK ")) },
		Open: func(ctx context.Context, in *formats.Input) (*formats.Object, error) {
			text, err := in.View(0, in.Size)
			if err != nil {
				return nil, err
			}
			id := strings.TrimSpace(string(text[5:]))
			a := formats.Artifact{Rank: symbol.RankDWARF, Parts: 1}
			a.Kind, a.End, a.Canonical, a.ID = symbol.ELF, 64, id, symbol.NewID(symbol.ELF, id)
			a.Explode = func(ctx context.Context, _ int, emit func(*symbol.Run) error) (symbol.Quality, error) {
				if err := f(ctx, id); err != nil {
					return symbol.Quality{}, err
				}
				return symbol.Quality{Units: 1}, emit(&symbol.Run{Rank: a.Rank, Strings: []string{"", "f.c", "f" + id},
					Scopes: []symbol.Scope{{Parent: -1, Function: 2}}, Ranges: []symbol.Range{{Start: 0, End: 8, At: symbol.Site{File: 1, Line: 1}}}})
			}
			return &formats.Object{Artifacts: []formats.Artifact{a}}, nil
		}}
}

func hookID(i int) string { return fmt.Sprintf("%040x", i+1) }

// Four processes without shards over the same objects: each object is opened once, each artifact published once, and the
// store is what one process makes of it.
func TestWorkers(t *testing.T) {
	const objects = 300
	one := newWorld(t)
	w := newWorld(t)
	var mu sync.Mutex
	opened := map[string]int{}
	w.o.Alive = nil // they know each other by their leases alone
	w.o.Formats = []*formats.Format{hooked(func(_ context.Context, id string) error {
		mu.Lock()
		defer mu.Unlock()
		opened[id]++
		return nil
	})}
	one.o.Formats = []*formats.Format{hooked(func(context.Context, string) error { return nil })}
	for i := range objects {
		w.put(fmt.Sprintf("%03d.so", i), "HOOK "+hookID(i))
		one.put(fmt.Sprintf("%03d.so", i), "HOOK "+hookID(i))
	}
	var wg sync.WaitGroup
	var loaded, artifacts atomic.Int64
	for range 4 {
		wg.Go(func() {
			r, err := Run(t.Context(), []discover.Source{w.src}, w.o)
			if err != nil || r.Objects.Failed > 0 {
				t.Error(err, r.Failed)
				return
			}
			loaded.Add(int64(r.Objects.Loaded))
			artifacts.Add(int64(r.Artifacts))
		})
	}
	wg.Wait()
	if loaded.Load() != objects || artifacts.Load() != objects {
		t.Errorf("%d objects loaded, %d artifacts published", loaded.Load(), artifacts.Load())
	}
	for id, n := range opened {
		if n != 1 {
			t.Errorf("%s was opened %d times", id, n)
		}
	}
	err := w.cat.Artifacts.Each(t.Context(), func(r *catalog.Record) error {
		if r.Previous != nil || len(r.Progress) > 0 {
			t.Errorf("%s was published twice", r.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cat.Workers.Each(t.Context(), func(l *catalog.Worker) error { t.Errorf("a lease is left: %+v", l); return nil }); err != nil {
		t.Fatal(err)
	}
	one.run()
	if got, want := w.verify(), one.verify(); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// A process that stands still loses its lease and its object: the other finishes it, and the first
// publishes nothing when it goes on.
func TestLostLease(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "HOOK "+hookID(0))
	stands, goOn := make(chan struct{}), make(chan struct{})
	first := w.o
	first.Alive = nil
	var sleeper row.WorkerID
	first.Formats = []*formats.Format{hooked(func(context.Context, string) error {
		close(stands)
		<-goOn
		return nil
	})}
	done := make(chan error, 1)
	j := newJob(first)
	if err := j.open([]discover.Source{w.src}); err != nil {
		t.Fatal(err)
	}
	var stoodStill atomic.Int64 // nanoseconds
	j.crew.Clock = func() time.Time { return time.Now().Add(time.Duration(stoodStill.Load())) }
	go func() { done <- j.run(t.Context()) }()
	<-stands
	sleeper = w.object("a.so").Owner
	if sleeper == (row.WorkerID{}) {
		t.Fatal("nobody has it")
	}

	second := w.o // believes no host
	second.Formats = []*formats.Format{hooked(func(context.Context, string) error { return nil })}
	r, err := Run(t.Context(), []discover.Source{w.src}, second)
	if err != nil || r.Objects.Loaded != 1 {
		t.Fatalf("%v %+v", err, r)
	}
	published := w.record(hookID(0)).Published.Load
	stoodStill.Store(int64(crew.LeaseTime))
	close(goOn)
	<-done
	if now := w.record(hookID(0)); now.Published.Load != published || now.Previous != nil {
		t.Errorf("the sleeper published: %x, before %x", now.Published.Load, published)
	}
	w.is("a.so", catalog.ObjectLoaded)
	if gone, err := w.cat.Workers.Get(t.Context(), sleeper); err != nil || gone != nil {
		t.Errorf("its lease is still there: %v %v", gone, err)
	}
	w.verify()
}

// An object at another process is left to it while it lives, and taken over by the living ones when it dies.
func TestWorkerTakesOver(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "HOOK "+hookID(0))
	w.put("b.so", "HOOK "+hookID(1))
	lease := &catalog.Worker{ID: row.NewWorkerID(), Lease: 1500 * time.Millisecond}
	if err := w.cat.Workers.Swap(t.Context(), nil, lease); err != nil {
		t.Fatal(err)
	}
	e, _, err := w.src.Bucket.Stat(t.Context(), "a.so")
	if err != nil {
		t.Fatal(err)
	}
	theirs := &catalog.Object{URL: w.src.Bucket.URL("a.so"), ETag: e.ETag, State: catalog.ObjectLoading, Owner: lease.ID}
	if err := w.cat.Ledger.Swap(t.Context(), nil, theirs); err != nil {
		t.Fatal(err)
	}
	w.o.Formats = []*formats.Format{hooked(func(context.Context, string) error { return nil })}
	w.o.Alive = func(string, string) (bool, bool) { return true, true }
	if r := w.run(); r.Objects.Loaded != 1 || r.Objects.Elsewhere != 1 {
		t.Fatalf("it lives: %+v", r.Objects)
	}
	w.o.Alive = nil
	began := time.Now()
	if r := w.run(); r.Objects.Loaded != 1 || r.Objects.Elsewhere != 0 {
		t.Fatalf("it is dead: %+v", r.Objects)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("it was believed dead after %v", took)
	}
	if o := w.object("a.so"); o.State != catalog.ObjectLoaded || o.Interrupted != 0 {
		t.Errorf("%+v", o)
	}
	w.verify()
}

// An object that never ends costs its own time, and nothing else.
func TestEndless(t *testing.T) {
	w := newWorld(t)
	stop := make(chan struct{})
	defer close(stop)
	for i := range 8 {
		w.put(fmt.Sprintf("%d.so", i), "HOOK "+hookID(i))
	}
	w.o.Formats = []*formats.Format{hooked(func(ctx context.Context, id string) error {
		switch id {
		case hookID(2): // takes no notice of anything
			<-stop
		case hookID(3): // listens
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})}
	w.o.Workers, w.o.ObjectTime, w.o.Limits.ObjectBytes = 1, time.Second, 1<<20
	w.put("big.so", "HOOK "+strings.Repeat("x", 2<<20))
	r := w.run()
	if r.Objects.Loaded != 6 || r.Objects.Rejected != 3 {
		t.Fatalf("%+v %v", r.Objects, r.Rejected)
	}
	for _, x := range r.Rejected {
		if want := "limits.time"; !strings.Contains(x.URL, "big.so") && !strings.Contains(x.Error, want) {
			t.Errorf("%s: %s", x.URL, x.Error)
		} else if strings.Contains(x.URL, "big.so") && !strings.Contains(x.Error, "limits.object") {
			t.Errorf("%s: %s", x.URL, x.Error)
		}
	}
	w.verify()
}

// When the run's time is over, objects at work are put back; an object that had all of it is counted as failed.
func TestDeadline(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "HOOK "+hookID(0))
	w.put("b.so", "HOOK "+hookID(1))
	w.o.Workers = 1
	var clock atomic.Int64 // moves only where the test says so
	clock.Store(time.Now().UnixNano())
	w.o.Now = func() time.Time { return time.Unix(0, clock.Load()) }
	const whole = 3 * time.Second
	w.o.Formats = []*formats.Format{hooked(func(ctx context.Context, id string) error {
		if id == hookID(0) {
			clock.Add(int64(whole / 2))
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})}
	w.o.Deadline = w.o.Now().Add(whole)
	if r := w.run(); r.Objects.Loaded != 1 || r.Objects.Pending != 1 || r.Objects.Failed != 0 {
		t.Fatalf("%+v %v", r.Objects, r.Failed)
	}
	w.is("b.so", catalog.ObjectPending)
	for i := range 3 {
		w.o.Deadline = w.o.Now().Add(time.Second)
		r := w.run()
		if i < 2 && r.Objects.Failed != 1 || i == 2 && (r.Objects.Rejected != 1 || !strings.Contains(r.Rejected[0].Error, "--deadline")) {
			t.Fatalf("%+v %v %v", r.Objects, r.Failed, r.Rejected)
		}
	}
	w.is("b.so", catalog.ObjectRejected)
}

// An object that needs more scratch than there is is rejected when nothing else could have been in its way.
func TestDisk(t *testing.T) {
	w := newWorld(t)
	w.o.MemoryBytes, w.o.DiskBytes = 1<<20, 5<<20
	b := newRemote(w)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n"+strings.Repeat("f 0 8 a 1\n", 150_000))
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n"+strings.Repeat("f 0 8 b 1\n", 500_000))
	r := w.run()
	if r.Objects.Loaded != 1 || r.Objects.Rejected != 1 || !strings.Contains(r.Rejected[0].Error, "limits.disk") || r.Objects.Pending != 0 {
		t.Fatalf("%+v %v %v", r.Objects, r.Rejected, b.fetched)
	}
	w.is("a.so", catalog.ObjectLoaded)
	w.is("b.so", catalog.ObjectRejected)
}

// fakeHints gives messages once.
type fakeHints struct {
	waiting []discover.Hint
	done    []string
	err     error
}

func (h *fakeHints) Take(context.Context) ([]discover.Hint, error) {
	now := h.waiting
	h.waiting = nil
	return now, h.err
}

func (h *fakeHints) Done(_ context.Context, done []discover.Hint) error {
	for _, d := range done {
		h.done = append(h.done, d.Token)
	}
	return nil
}

// Hints bring objects forward; an object that is missing, unwanted or done already costs a question.
func TestHinted(t *testing.T) {
	w := newWorld(t)
	w.put("a b.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	w.put("c.txt", "FAKE\nid "+idC+"\nf 0 8 c 1\n")
	w.src.Include = []string{"*.so"}
	url := w.src.Bucket.URL
	hints := &fakeHints{waiting: []discover.Hint{{URLs: []string{url("a+b.so"), url("a b.so")}, Token: "1"}, {URLs: []string{url("gone.so")}, Token: "2"},
		{URLs: []string{url("c.txt")}, Token: "3"}, {Token: "4"}, {URLs: []string{"s3://elsewhere/x.so"}, Token: "5"}}}
	w.src.Hints = hints
	w.o.HintsOnly = true
	if r := w.run(); r.Objects.Loaded != 1 || r.Objects.Seen != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	if !slices.Equal(hints.done, []string{"1", "2", "3", "4", "5"}) {
		t.Fatal(hints.done)
	}
	w.answers(idA, 0, "a:1")
	w.o.HintsOnly = false
	hints.waiting = []discover.Hint{{URLs: []string{url("a b.so")}, Token: "6"}}
	if r := w.run(); r.Objects.Loaded != 1 || r.Objects.New != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	hints.err = errors.New("no such queue")
	if _, err := Run(t.Context(), []discover.Source{w.src}, w.o); err == nil || !strings.Contains(err.Error(), "no such queue") {
		t.Fatal(err)
	}
}
