package hbase

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

// benchLibrary makes a store and fills it in so many batches. Each leaves a store file in every region.
func benchLibrary(t *testing.T, server *hbasetest.Server, batches int) *library {
	t.Helper()
	l := &library{rest: "//" + server.Master + "/" + namespace() + "?regions=4"}
	if err := Create(t.Context(), l.rest, Options{}); err != nil {
		t.Fatal(err)
	}
	a, err := parse(l.rest, false)
	if err != nil {
		t.Fatal(err)
	}
	l.table = a.blocks()
	l.Store, l.c = l.open(t, nil)
	loads := slices.SortedFunc(slices.Values(someLoads(300, 30, 60_000)), func(x, y []sinks.Row) int { return bytes.Compare(x[0].Key[8:], y[0].Key[8:]) })
	for part := range slices.Chunk(loads, (len(loads)+batches-1)/batches) {
		b, err := l.Blocks.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer b.Abort()
		for _, r := range slices.Concat(part...) {
			if err := b.Write(r); err != nil {
				t.Fatal(err)
			}
			l.all = append(l.all, r)
		}
		if err := b.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// scans asks for one random row after another from so many goroutines, and gives what each took.
func (l *library) scans(t *testing.T, goroutines, each int) (took []time.Duration, perSecond float64) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	began := time.Now()
	for range goroutines {
		wg.Go(func() {
			var own []time.Duration
			for range each {
				at := time.Now()
				if err := l.ask(context.Background(), l.Store, 1); err != nil {
					failed.Store(&err)
					return
				}
				own = append(own, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
	slices.Sort(took)
	return took, float64(len(took)) / time.Since(began).Seconds()
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1))].Round(time.Microsecond)
}

// TestBenchReads measures look-ups on a warm server with all rows in its cache, with client and server
// on the same processors. Every row is compared with the written one.
func TestBenchReads(t *testing.T) {
	formattest.Bench(t)
	server := hbasetest.Start(t, hbasetest.Options{Heap: "2g", Fast: true, Site: map[string]string{"hbase.regionserver.handler.count": "30",
		// Compactions would change the measurement.
		"hbase.hstore.compactionThreshold": "1000", "hbase.hstore.compaction.min": "1000", "hbase.hstore.blockingStoreFiles": "2000"}})
	libraries := []struct {
		files int
		*library
		p50 []time.Duration
	}{{files: 1}, {files: 10}, {files: 50}}
	for i := range libraries {
		l := &libraries[i]
		l.library = benchLibrary(t, server, l.files)
		l.scans(t, 4, 5000) // warms up
	}
	for range 3 { // in turn, so that the machine's moods hit all alike
		for i := range libraries {
			took, rate := libraries[i].scans(t, 1, 4000)
			libraries[i].p50 = append(libraries[i].p50, quantile(took, 0.5))
			t.Logf("limit-1 scan, %d store files a region, 1 caller: p50 %v p99 %v, %.0f/s", libraries[i].files, quantile(took, 0.5), quantile(took, 0.99), rate)
		}
	}
	one := float64(slices.Min(libraries[0].p50))
	for _, l := range libraries[1:] {
		t.Logf("%d store files a region: %.2f of one file's p50", l.files, float64(slices.Min(l.p50))/one)
	}
	for range 2 {
		for _, n := range []int{16, 64} {
			took, rate := libraries[0].scans(t, n, 40_000/n)
			t.Logf("limit-1 scan, %d goroutines: %.0f/s, p50 %v p99 %v", n, rate, quantile(took, 0.5), quantile(took, 0.99))
		}
	}
	benchStacks(t, libraries[0].library)
}

// benchStacks looks up stacks of 30 frames over 6 artifacts, with a new client each time: of the client's
// memory, nothing but where regions are is warm.
func benchStacks(t *testing.T, l *library) {
	keys := kek.Ephemeral()
	ring, err := row.CreateKeyring(t.Context(), l.Catalog, keys)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 40
	var artifacts []published
	for i := range 6 {
		artifacts = append(artifacts, publish(t, l.Store, ring, string(rune('a'+i))+"cafe", rows*rowFunctions))
	}
	var took []time.Duration
	for n := range 300 {
		client := lookup.New(l.Store, keys, lookup.Options{})
		for _, a := range artifacts { // records are read once in a while, blocks are what counts
			if answer := client.Lookup(t.Context(), lookup.Query{Artifact: a.ID}); answer.Status != symbol.Found {
				t.Fatal(answer.Status, answer.Err)
			}
		}
		var qs []lookup.Query
		for i := range 30 {
			at := uint64(1+rand.IntN(rows-1))*rowFunctions + rand.Uint64N(rowFunctions)
			qs = append(qs, lookup.Query{Artifact: artifacts[i%6].ID, Where: symbol.Where{Value: at * functionBytes}})
		}
		at := time.Now()
		if err := client.Frames(t.Context(), qs, func(_ int, a symbol.Answer) {
			if a.Status != symbol.Found {
				t.Error(a.Status, a.Err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if n >= 50 {
			took = append(took, time.Since(at))
		}
	}
	slices.Sort(took)
	t.Logf("a stack of 30 frames over 6 artifacts, blocks cold in the client: p50 %v p99 %v", quantile(took, 0.5), quantile(took, 0.99))
}
