package ingest

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lake"
	"github.com/symlake/symlake/sinks/row"
)

// plainLake is a lake in a folder.
func plainLake(t *testing.T, dir string) sinks.Lake {
	return lake.Open(lake.Options{Bucket: folder(t, dir), Profile: sinks.LakePlain, Scratch: t.TempDir(), Keys: sinks.LakeKeys{Names: []byte("names"), Newest: 1,
		Master: func(context.Context, uint32) ([]byte, error) { return bytes.Repeat([]byte{1}, 32), nil }}})
}

// inLake fails unless the lake names the published load of an artifact.
func (w *world) inLake(l sinks.Lake, id string) {
	w.t.Helper()
	live, err := l.Live(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if now := w.record(id).Published.Load; live[symbol.NewID(symbol.ELF, id)].Load != now {
		w.t.Errorf("the lake names load %x of %s, the store %x", live[symbol.NewID(symbol.ELF, id)].Load, id, now)
	}
}

// slowBlocks says when its first batch is being committed, and takes its time for that.
type slowBlocks struct {
	sinks.Blocks
	met   atomic.Bool
	began chan struct{}
}

type slowBatch struct {
	sinks.Batch
	b *slowBlocks
}

func (b *slowBlocks) Begin(ctx context.Context) (sinks.Batch, error) {
	batch, err := b.Blocks.Begin(ctx)
	return slowBatch{batch, b}, err
}

func (b slowBatch) Commit(ctx context.Context) error {
	if !b.b.met.Swap(true) {
		close(b.b.began)
		time.Sleep(500 * time.Millisecond)
	}
	return b.Batch.Commit(ctx)
}

// A group of loads that the clock publishes while the run comes to its end is in the lake like any other.
func TestGroupAtTheEnd(t *testing.T) {
	w := newWorld(t)
	slow := &slowBlocks{Blocks: w.store.Blocks, began: make(chan struct{})}
	s := *w.store
	s.Blocks = slow
	w.o.Store, w.o.Lake = &s, plainLake(t, t.TempDir())
	w.o.Formats = []*formats.Format{hooked(func(_ context.Context, id string) error {
		if id == hookID(1) {
			<-slow.began
		}
		return nil
	})}
	w.put("a.so", "HOOK "+hookID(0))
	w.put("b.so", "HOOK "+hookID(1))
	if r := w.run(); r.Objects.Loaded != 2 {
		t.Errorf("%+v", r.Objects)
	}
	w.is("a.so", catalog.ObjectLoaded)
	w.is("b.so", catalog.ObjectLoaded)
	w.inLake(w.o.Lake, hookID(0))
	w.inLake(w.o.Lake, hookID(1))
}

// A load that a process had published and not named in the lake when it died is named by the process that takes its object over,
// while others are at work too.
func TestLakeOfTheDead(t *testing.T) {
	w := newWorld(t)
	w.o.Formats = []*formats.Format{hooked(func(context.Context, string) error { return nil })}
	w.put("a.so", "HOOK "+hookID(0))
	w.run()
	dead, living := row.NewWorkerID(), &catalog.Worker{ID: row.NewWorkerID(), Host: "living", Lease: time.Hour}
	if err := w.cat.Workers.Swap(t.Context(), nil, living); err != nil {
		t.Fatal(err)
	}
	old := w.object("a.so")
	left := *old
	left.State, left.Owner, left.Artifacts = catalog.ObjectPublished, dead, nil
	if err := w.cat.Ledger.Swap(t.Context(), old, &left); err != nil {
		t.Fatal(err)
	}
	w.o.Alive = func(host, _ string) (alive, known bool) { return host == living.Host, true }
	w.o.Lake = plainLake(t, t.TempDir())
	if r := w.run(); r.Objects.Loaded != 1 {
		t.Errorf("%+v", r.Objects)
	}
	w.is("a.so", catalog.ObjectLoaded)
	w.inLake(w.o.Lake, hookID(0))
}

// raced is a lake that somebody else writes to just before the first commit.
type raced struct {
	sinks.Lake
	other func()
}

type racedBatch struct {
	sinks.LakeBatch
	l *raced
}

func (l *raced) Begin(ctx context.Context) (sinks.LakeBatch, error) {
	b, err := l.Lake.Begin(ctx)
	return racedBatch{b, l}, err
}

func (b racedBatch) Commit(ctx context.Context, loads []*sinks.LakeLoad) (sinks.LakeCommitted, error) {
	if other := b.l.other; other != nil {
		b.l.other = nil
		other()
	}
	return b.LakeBatch.Commit(ctx, loads)
}

// following notes what a batch of the lake is told.
type following struct {
	sinks.LakeBatch
	told *[]string
}

type followed struct {
	sinks.Lake
	told []string
}

func (l *followed) Begin(ctx context.Context) (sinks.LakeBatch, error) {
	b, err := l.Lake.Begin(ctx)
	return following{b, &l.told}, err
}

func (b following) Write(r *symbol.Run) error {
	*b.told = append(*b.told, "write")
	return b.LakeBatch.Write(r)
}

func (b following) EndLoad() {
	*b.told = append(*b.told, "end")
	b.LakeBatch.EndLoad()
}

func (b following) Commit(ctx context.Context, loads []*sinks.LakeLoad) (sinks.LakeCommitted, error) {
	*b.told = append(*b.told, "commit")
	return b.LakeBatch.Commit(ctx, loads)
}

// A run tells the lake when it has all rows of a load, before it commits.
func TestEndLoad(t *testing.T) {
	w := newWorld(t)
	w.o.Workers = 1
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	lake := &followed{Lake: plainLake(t, t.TempDir())}
	w.o.Lake = lake
	w.run()
	if got, want := lake.told, []string{"write", "end", "write", "end", "commit"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Two processes that bring the lake up to the store at once both succeed, and its rows are there once.
func TestProjectTwice(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	w.run()
	dir := t.TempDir()
	one, two := &raced{Lake: plainLake(t, dir)}, plainLake(t, dir)
	one.other = func() {
		if p, err := projection.Update(t.Context(), projection.Stores{Store: w.store, Keyring: w.ring, Lake: two}, []symbol.ID{symbol.NewID(symbol.ELF, idA)}); err != nil || p.Artifacts != 1 {
			t.Errorf("%+v %v", p, err)
		}
	}
	p, err := projection.Update(t.Context(), projection.Stores{Store: w.store, Keyring: w.ring, Lake: one}, nil)
	if err != nil || p.Artifacts != 1 {
		t.Errorf("%+v %v", p, err)
	}
	w.inLake(two, idA)
	w.inLake(two, idB)
	r, err := verify.Run(t.Context(), verify.Options{Store: w.store, Keyring: w.ring, Lake: two})
	if err != nil || len(r.Problems) > 0 {
		t.Errorf("%v %v", r.Problems, err)
	}
}

// What a run has published and not named in the lake yet is no problem for verify meanwhile; a load that no run is to name is one.
func TestVerifyMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.run()
	lake := plainLake(t, t.TempDir())
	become := func(state catalog.ObjectState) {
		old := w.object("a.so")
		o := *old
		o.State = state
		if err := w.cat.Ledger.Swap(t.Context(), old, &o); err != nil {
			t.Fatal(err)
		}
	}
	for state, want := range map[catalog.ObjectState]int{catalog.ObjectLoading: 0, catalog.ObjectPublished: 0, catalog.ObjectLoaded: 1, catalog.ObjectFailed: 1} {
		become(state)
		r, err := verify.Run(t.Context(), verify.Options{Store: w.store, Keyring: w.ring, Lake: lake})
		if err != nil || len(r.Problems) != want || r.Waiting != 1-want {
			t.Errorf("%s: %d on their way, %v, %v", state, r.Waiting, r.Problems, err)
		}
	}
	// While a run holds its lease: it may have given names.
	become(catalog.ObjectLoaded)
	run := &catalog.Worker{ID: row.NewWorkerID(), Host: "h", Lease: time.Hour}
	if err := w.cat.Workers.Swap(t.Context(), nil, run); err != nil {
		t.Fatal(err)
	}
	if r, err := verify.Run(t.Context(), verify.Options{Store: w.store, Keyring: w.ring, Lake: lake}); err != nil || len(r.Problems) > 0 || r.Waiting != 1 {
		t.Errorf("beside a run: %+v, %v", r, err)
	}
	dead := func(host, _ string) (alive, known bool) { return false, host == "h" }
	if r, err := verify.Run(t.Context(), verify.Options{Store: w.store, Keyring: w.ring, Lake: lake, Alive: dead}); err != nil || len(r.Problems) != 1 {
		t.Errorf("after a run that died: %+v, %v", r, err)
	}
	if err := w.cat.Workers.Swap(t.Context(), run, nil); err != nil {
		t.Fatal(err)
	}
	// Named between the first readings of the lake and of the store.
	late := &lateLake{Lake: lake, then: func() {
		if _, err := projection.Update(t.Context(), projection.Stores{Store: w.store, Keyring: w.ring, Lake: lake}, nil); err != nil {
			t.Error(err)
		}
	}}
	if r, err := verify.Run(t.Context(), verify.Options{Store: w.store, Keyring: w.ring, Lake: late}); err != nil || len(r.Problems) > 0 || r.Waiting > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// lateLake is a lake that changes once it was read for the first time.
type lateLake struct {
	sinks.Lake
	then func()
}

func (l *lateLake) Live(ctx context.Context) (map[symbol.ID]sinks.LakeMark, error) {
	live, err := l.Lake.Live(ctx)
	if then := l.then; then != nil {
		l.then = nil
		then()
	}
	return live, err
}

// lateCatalog lists artifacts as they were before something happens.
type lateCatalog struct {
	sinks.Catalog
	then func()
}

func (c *lateCatalog) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	var rows []sinks.Row
	err := c.Catalog.List(ctx, s, func(r sinks.Row) error {
		rows = append(rows, sinks.Row{Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)})
		return nil
	})
	if then := c.then; then != nil {
		c.then = nil
		then()
	}
	for _, r := range rows {
		if err == nil {
			err = emit(r)
		}
	}
	return err
}

// Rows that come while the records are read are not rows that no record names.
func TestVerifyMeanwhileRows(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.run()
	s := *w.store
	s.Catalog = &lateCatalog{Catalog: w.store.Catalog, then: func() {
		w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
		w.run()
	}}
	if r, err := verify.Run(t.Context(), verify.Options{Store: &s, Keyring: w.ring}); err != nil || len(r.Problems) > 0 {
		t.Errorf("%v, %v", r.Problems, err)
	}
}
