// Package lookuptest has a store with made-up artifacts for the tests of
// look-ups and of layers above them. A test rules its clock and its disasters.
package lookuptest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/classes"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
)

// World is a store with some artifacts. A test rules its clock and its disasters.
type World struct {
	T       testing.TB
	Store   *sinks.Store // as the client sees it
	KEK     sinks.KEK
	Ring    *row.Keyring
	Catalog *catalog.Catalog
	Blocks  *ShakyBlocks
	Values  *ShakyCatalog
	clock   atomic.Int64
}

// ShakyBlocks counts reads, and lets a test come between.
type ShakyBlocks struct {
	sinks.Blocks
	Trips, Spans atomic.Int64
	Before       atomic.Pointer[func(ctx context.Context) error]
	Change       atomic.Pointer[func(r sinks.Row) (sinks.Row, error)]
}

// First counts the spans, then asks Before and Change.
func (b *ShakyBlocks) First(ctx context.Context, spans []sinks.Span, found func(int, sinks.Row, error)) error {
	b.Trips.Add(1)
	b.Spans.Add(int64(len(spans)))
	if f := b.Before.Load(); f != nil {
		if err := (*f)(ctx); err != nil {
			return err
		}
	}
	return b.Blocks.First(ctx, spans, func(i int, r sinks.Row, err error) {
		if f := b.Change.Load(); f != nil && err == nil && r.Key != nil {
			r, err = (*f)(r)
		}
		found(i, r, err)
	})
}

// ShakyCatalog counts what a client reads from a catalog, and fails when a test says so.
type ShakyCatalog struct {
	sinks.Catalog
	Gets, Lists atomic.Int64
	Err         atomic.Pointer[error]
}

func (c *ShakyCatalog) fails() error {
	if err := c.Err.Load(); err != nil {
		return *err
	}
	return nil
}

// Get counts and passes on.
func (c *ShakyCatalog) Get(ctx context.Context, key []byte) ([]byte, error) {
	c.Gets.Add(1)
	if err := c.fails(); err != nil {
		return nil, err
	}
	return c.Catalog.Get(ctx, key)
}

// GetAll counts each key and passes on.
func (c *ShakyCatalog) GetAll(ctx context.Context, keys [][]byte) ([][]byte, error) {
	c.Gets.Add(int64(len(keys)))
	if err := c.fails(); err != nil {
		return nil, err
	}
	return c.Catalog.GetAll(ctx, keys)
}

// List counts and passes on.
func (c *ShakyCatalog) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	c.Lists.Add(1)
	if err := c.fails(); err != nil {
		return err
	}
	return c.Catalog.List(ctx, s, emit)
}

// NewWorld makes a store without artifacts.
func NewWorld(t testing.TB) *World {
	t.Helper()
	inner := mem.New()
	w := &World{T: t, KEK: kek.Ephemeral(), Blocks: &ShakyBlocks{Blocks: inner.Blocks}, Values: &ShakyCatalog{Catalog: inner.Catalog}}
	w.Store = &sinks.Store{Blocks: w.Blocks, Catalog: w.Values, Close: inner.Close}
	ring, err := row.CreateKeyring(t.Context(), inner.Catalog, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	w.Ring, w.Catalog = ring, catalog.New(inner.Catalog, ring)
	w.clock.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano())
	return w
}

// Now returns the time of the world's clock, which only Advance moves.
func (w *World) Now() time.Time { return time.Unix(0, w.clock.Load()) }

// Advance moves the clock forward.
func (w *World) Advance(d time.Duration) { w.clock.Add(int64(d)) }

// Client returns a client of the world's store.
func (w *World) Client() *lookup.Client { return w.ClientWith(lookup.Options{}) }

func (w *World) ctx() context.Context { return w.T.Context() }

// Must ends the test on an error.
func (w *World) Must(err error) { w.T.Helper(); NoError(w.T, err) }

// NoError ends the test unless err is nil.
func NoError(t testing.TB, err error) { t.Helper(); FailIf(t, err != nil, "%v", err) }

// FailIf ends the test if bad.
func FailIf(t testing.TB, bad bool, f string, a ...any) {
	t.Helper()
	if bad {
		t.Fatalf(f, a...)
	}
}

// ClientWith makes a client that goes by the clock of the world.
func (w *World) ClientWith(o lookup.Options) *lookup.Client {
	o.Now = w.Now
	return lookup.New(w.Store, w.KEK, o)
}

// write stores the rows of an image as a new load, unpublished.
func (w *World) write(im *Image) *row.Loaded {
	w.T.Helper()
	batch, err := w.Store.Blocks.Begin(w.ctx())
	w.Must(err)
	defer batch.Abort()
	table, runs := im.load()
	enc, err := loads.NewEncoder(w.Ring, &im.Artifact, row.NewLoad(w.Now()), nil, table, batch.Write)
	w.Must(err)
	for i := range runs {
		w.Must(enc.Add(&runs[i]))
	}
	for _, g := range im.Unwind {
		w.Must(enc.AddUnwind(g, im.Rules))
	}
	loaded, err := enc.Close()
	w.Must(err)
	w.Must(batch.Commit(w.ctx()))
	loaded.Source.URL = "s3://symbols/" + im.Names[len(im.Names)-1].Text
	return loaded
}

// Publish stores an image and makes it findable.
func (w *World) Publish(im *Image) *row.Loaded {
	w.T.Helper()
	loaded := w.write(im)
	for _, n := range im.Recorded {
		w.Must(w.Catalog.Names.Add(w.ctx(), n.Text, catalog.Ref{Artifact: im.ID}))
	}
	w.Record(im.ID, func(r *catalog.Record) {
		r.State, r.Names, r.Published, r.Previous = catalog.Live, im.Recorded, loaded, r.Published
	})
	return loaded
}

// Record changes an artifact's record.
func (w *World) Record(id symbol.ID, change func(*catalog.Record)) {
	w.T.Helper()
	old, err := w.Catalog.Artifacts.Get(w.ctx(), id)
	w.Must(err)
	next := &catalog.Record{ID: id, State: catalog.Live}
	if old != nil {
		copied := *old
		next = &copied
	}
	change(next)
	w.Must(w.Catalog.Artifacts.Swap(w.ctx(), old, next))
}

// Object notes an object in the ledger.
func (w *World) Object(url string, s catalog.ObjectState, reason string) {
	w.T.Helper()
	w.Must(w.Catalog.Ledger.Swap(w.ctx(), nil, &catalog.Object{URL: url, State: s, Reason: reason, First: w.Now(), Last: w.Now()}))
}

// At is a question for a position of an artifact.
func At(id symbol.ID, pos uint64) lookup.Query {
	return lookup.Query{Artifact: id, Where: symbol.Where{Value: pos}}
}

// Ask answers through the batch form.
func Ask(t testing.TB, c *lookup.Client, qs ...lookup.Query) []symbol.Answer {
	t.Helper()
	out := make([]symbol.Answer, 0, len(qs))
	err := c.Frames(t.Context(), qs, func(i int, a symbol.Answer) {
		FailIf(t, i != len(out), "answer %d came as number %d", i, len(out))
		out = append(out, a)
	})
	NoError(t, err)
	FailIf(t, len(out) != len(qs), "%d answers to %d questions", len(out), len(qs))
	return out
}

// Together runs f in n goroutines at once.
func Together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// MappingOf makes n classes and the facts.
func MappingOf(n int) []*symbol.Class {
	all := []*symbol.Class{{Facts: &symbol.Facts{Version: "2.2", Packages: []string{"", "o"}}}}
	for i := range n {
		c := &symbol.Class{Name: fmt.Sprintf("o.c%d", i), Original: fmt.Sprintf("com.example.shop.Thing%d", i), File: fmt.Sprintf("Thing%d.java", i)}
		for k := range i % 40 {
			c.Members = append(c.Members, symbol.Member{Name: fmt.Sprintf("m%02d", k), Method: &symbol.Method{Original: fmt.Sprintf("method%d", k*i), Type: "void", Params: "int,java.lang.String"},
				Lines: symbol.Lines{First: uint32(k), Last: uint32(k), Count: 2}, From: symbol.Lines{First: uint32(i + k), Last: uint32(i + k), Count: 2}})
		}
		all = append(all, c)
	}
	return all
}

// PublishClasses stores a mapping and makes it findable.
func (w *World) PublishClasses(all []*symbol.Class) symbol.ID {
	w.T.Helper()
	a := symbol.Artifact{ID: symbol.NewID(symbol.R8, "cafe"), Kind: symbol.R8, Canonical: "cafe"}
	secret := row.NewSecret()
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y *symbol.Class) int { return cmp.Compare(secret.Position(x.Name), secret.Position(y.Name)) })
	batch, err := w.Store.Blocks.Begin(w.ctx())
	w.Must(err)
	enc, err := loads.NewEncoder(w.Ring, &a, row.NewLoad(w.Now()), secret, dictionary.Table{Strings: []string{""}, Runs: []uint32{0}}, batch.Write)
	w.Must(err)
	packer := classes.NewPacker(nil)
	for _, c := range all {
		w.Must(enc.AddClass(&classes.Packed{Position: secret.Position(c.Name), Form: packer.Append(nil, c)}))
	}
	loaded, err := enc.Close()
	w.Must(err)
	w.Must(batch.Commit(w.ctx()))
	w.Record(a.ID, func(r *catalog.Record) { r.Published = loaded })
	return a.ID
}

// ExampleStore makes a store that holds one image, for examples.
func ExampleStore() (*sinks.Store, sinks.KEK) {
	w := NewWorld(exampleTB{})
	w.Publish(NewImage(CartID, "libcart.so", 5))
	return w.Store, w.KEK
}

// exampleTB lets an example build a test's world.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper()                   {}
func (exampleTB) Context() context.Context  { return context.Background() }
func (exampleTB) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (exampleTB) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// RowKey is the key of the row that speaks for pos.
func (w *World) RowKey(im *Image, pos uint64) []byte {
	w.T.Helper()
	span, ok := w.Opened(im).At(pos)
	FailIf(w.T, !ok, "no row at %#x", pos)
	return span.From
}

// Opened returns the published load of an image, opened.
func (w *World) Opened(im *Image) *loads.Opened {
	w.T.Helper()
	rec, err := w.Catalog.Artifacts.Get(w.ctx(), im.ID)
	w.Must(err)
	opened, err := loads.Open(w.Ring, im.ID, rec.Published)
	w.Must(err)
	return opened
}
