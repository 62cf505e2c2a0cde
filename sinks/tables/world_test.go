package tables

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/answer"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
)

// world is a store of made-up artifacts that counts its reads.
type world struct {
	store *sinks.Store
	kek   sinks.KEK
	reads *countedBlocks
}

// countedBlocks counts how often each row is given out.
type countedBlocks struct {
	sinks.Blocks
	mu    sync.Mutex
	times map[string]int
}

func (b *countedBlocks) First(ctx context.Context, spans []sinks.Span, found func(int, sinks.Row, error)) error {
	return b.Blocks.First(ctx, spans, func(i int, r sinks.Row, err error) {
		if err == nil && r.Key != nil {
			b.mu.Lock()
			b.times[string(r.Key)]++
			b.mu.Unlock()
		}
		found(i, r, err)
	})
}

// functionBytes is how long every function is; its line is its number plus 1.
const functionBytes = 64

func artifactName(i int) string { return fmt.Sprintf("%040x", i+1) }

func functionName(artifact, i int) string { return fmt.Sprintf("function_%d_of_%d", i, artifact) }

// newWorld stores artifacts of so many functions each.
func newWorld(t testing.TB, artifacts, functions int) *world {
	t.Helper()
	inner := mem.New()
	w := &world{kek: kek.Ephemeral(), reads: &countedBlocks{Blocks: inner.Blocks, times: map[string]int{}}}
	w.store = &sinks.Store{Blocks: w.reads, Catalog: inner.Catalog, Close: inner.Close}
	ring, err := row.CreateKeyring(t.Context(), inner.Catalog, w.kek)
	must(t, err)
	cat := catalog.New(inner.Catalog, ring)
	for n := range artifacts {
		a := symbol.Artifact{ID: symbol.NewID(symbol.ELF, artifactName(n)), Kind: symbol.ELF, Canonical: artifactName(n), Arch: "arm64", End: uint64(functions) * functionBytes}
		a.Names = []symbol.Name{{Kind: symbol.NameBuildID, Text: a.Canonical}}
		batch, err := inner.Blocks.Begin(t.Context())
		must(t, err)
		defer batch.Abort()
		table := dictionary.Table{Strings: []string{"", "cart.cpp"}, Runs: []uint32{0, uint32(functions)}}
		for i := range functions {
			table.Strings, table.Runs = append(table.Strings, functionName(n, i)), append(table.Runs, 1)
		}
		enc, err := loads.NewEncoder(ring, &a, row.NewLoad(time.Now()), nil, table, batch.Write)
		must(t, err)
		for i := range functions {
			start := uint64(i) * functionBytes
			must(t, enc.Add(&symbol.Run{Rank: symbol.RankDWARF, Strings: table.Strings, Scopes: []symbol.Scope{{Parent: -1, Function: uint32(i) + 2}},
				Ranges: []symbol.Range{{Start: start, End: start + functionBytes, At: symbol.Site{File: 1, Line: uint32(i) + 1}}}}))
		}
		loaded, err := enc.Close()
		must(t, err)
		must(t, batch.Commit(t.Context()))
		must(t, cat.Names.Add(t.Context(), a.Canonical, catalog.Ref{Artifact: a.ID}))
		must(t, cat.Artifacts.Swap(t.Context(), nil, &catalog.Record{ID: a.ID, State: catalog.Live, Names: a.Names, Published: loaded}))
	}
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run answers the files of a folder, with a client of its own.
func (w *world) run(t testing.TB, in, out string, cacheBytes int64, o Options) *Report {
	t.Helper()
	var err error
	o.Client, o.Scratch = answer.New(lookup.New(w.store, w.kek, lookup.Options{CacheBytes: cacheBytes})), t.TempDir()
	o.Input, _, err = bucketall.Open(t.Context(), in, bucketall.Options{})
	must(t, err)
	must(t, os.MkdirAll(out, 0o755))
	o.Output, _, err = bucketall.Open(t.Context(), out, bucketall.Options{})
	must(t, err)
	clear(w.reads.times)
	report, err := Run(t.Context(), o)
	must(t, err)
	if len(report.Rejected) > 0 {
		t.Fatalf("rejected: %v", report.Rejected)
	}
	return report
}

// writeRows writes files of frames that are drawn at random, and gives how many there are.
func writeRows(t testing.TB, dir string, files, rows, artifacts, functions int) int {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range files {
		var b []byte
		for range rows {
			b = fmt.Appendf(b, `{"artifact":%q,"address":%d,"frame0":"exact"}`+"\n", artifactName(rng.IntN(artifacts)), rng.IntN(functions*functionBytes))
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.ndjson", n)), b, 0o644))
	}
	return files * rows
}
