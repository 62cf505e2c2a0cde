package ingest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/mem"
)

// requests counts the requests that change or read records by their keys.
type requests struct {
	sinks.Catalog
	swaps, changes, gets int
	all                  chan struct{} // one token: its holder counts
}

func (r *requests) count(n *int, by int) {
	r.all <- struct{}{}
	*n += by
	<-r.all
}

func (r *requests) Swap(ctx context.Context, key, old, new []byte) error {
	r.count(&r.swaps, 1)
	r.count(&r.changes, 1)
	return r.Catalog.Swap(ctx, key, old, new)
}

func (r *requests) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	r.count(&r.swaps, 1)
	r.count(&r.changes, len(changes))
	return r.Catalog.SwapAll(ctx, changes)
}

func (r *requests) GetAll(ctx context.Context, keys [][]byte) ([][]byte, error) {
	r.count(&r.gets, 1)
	return r.Catalog.GetAll(ctx, keys)
}

// Small objects share the requests of each step, however many they are. An object that replaces another one's load, and
// one that waits for a companion, go alone and end as they should.
func TestSmallTogether(t *testing.T) {
	s := mem.New()
	count := &requests{Catalog: s.Catalog, all: make(chan struct{}, 1)}
	s.Catalog = count
	w := worldOf(t, s)
	const n = 200
	for i := range n {
		w.put(fmt.Sprintf("lib%03d.so", i), fmt.Sprintf("FAKE\nid %040x\nf 0 8 f%d 1\n", i, i))
	}
	count.swaps, count.changes, count.gets = 0, 0, 0
	if r := w.run(); r.Objects.Loaded != n {
		t.Fatalf("%+v", r.Objects)
	}
	if count.changes < 4*n || count.swaps > 40 {
		t.Errorf("%d changes in %d requests, want at most 40", count.changes, count.swaps)
	}
	if count.gets > 2*n {
		t.Errorf("%d reads for %d objects", count.gets, n)
	}
	first := w.verify()

	w.put("other/lib000.so", fmt.Sprintf("FAKE\nid %040x\nf 0 8 f0 1\nf 8 16 more 1\n", 0))
	w.put("other/new.so", fmt.Sprintf("FAKE\nid %040x\nf 0 8 new 1\n", n))
	if r := w.run(); r.Objects.New != 2 || r.Objects.Loaded != 2 {
		t.Fatalf("%+v", r.Objects)
	}
	if w.verify() == first {
		t.Error("nothing changed")
	}
	w.answers(fmt.Sprintf("%040x", 0), 9, "more:1")
	w.answers(fmt.Sprintf("%040x", n), 0, "new:1")
	for _, url := range []string{"lib000.so", "other/lib000.so"} {
		o, err := w.cat.Ledger.Get(t.Context(), w.src.Bucket.URL(url))
		if err != nil || o == nil {
			t.Fatal(o, err)
		}
		want := map[string]string{"lib000.so": "kept", "other/lib000.so": "loaded"}[url]
		if o.Artifacts[0].Outcome != want || string(o.State) != want {
			t.Errorf("%s is %s: %+v, want %s", url, o.State, o.Artifacts, want)
		}
	}
}

// begun counts the batches of a lake that begin.
type begun struct {
	sinks.Lake
	n atomic.Int64
}

func (l *begun) Begin(ctx context.Context) (sinks.LakeBatch, error) {
	l.n.Add(1)
	return l.Lake.Begin(ctx)
}

// Small objects are read many at once, so that their questions to the store travel together. Big objects are read one a
// worker. No more workers than there are write to the lake at once.
func TestSmallAtOnce(t *testing.T) {
	w := newWorld(t)
	lake := &begun{Lake: plainLake(t, t.TempDir())}
	w.o.Lake = lake
	const small, big = 2 * smallAtOnce, 4
	for i := range small {
		w.put(fmt.Sprintf("small%02d.so", i), fmt.Sprintf("FAKE\nid %040x\nf 0 8 f%d 1\n", i, i))
	}
	f := fake(1)
	open := f.Open
	var now, bigNow, bigMost atomic.Int64
	all := make(chan struct{})
	f.Open = func(ctx context.Context, in *formats.Input) (*formats.Object, error) {
		if in.Size <= smallBytes {
			if now.Add(1) == small {
				close(all)
			}
			select {
			case <-all:
			case <-time.After(time.Minute):
				t.Errorf("%d small objects are read at once, want %d", now.Load(), small)
			}
		} else {
			n := bigNow.Add(1)
			defer bigNow.Add(-1)
			for most := bigMost.Load(); n > most && !bigMost.CompareAndSwap(most, n); most = bigMost.Load() {
			}
		}
		return open(ctx, in)
	}
	w.o.Formats = []*formats.Format{f}
	if r := w.run(); r.Objects.Loaded != small {
		t.Fatalf("%+v", r.Objects)
	}
	if n := int(lake.n.Load()); n == 0 || n > w.o.Workers {
		t.Errorf("%d batches of the lake, by %d workers", n, w.o.Workers)
	}
	for i := range big {
		w.put(fmt.Sprintf("big%d.so", i), fmt.Sprintf("FAKE\nid %040x\nf 0 8 f%d 1\n", 100+i, i)+strings.Repeat("\n", smallBytes))
	}
	if r := w.run(); r.Objects.Loaded != big {
		t.Fatalf("%+v", r.Objects)
	}
	if most := bigMost.Load(); most > int64(w.o.Workers) {
		t.Errorf("%d big objects were read at once, by %d workers", most, w.o.Workers)
	}
	w.verify()
}
