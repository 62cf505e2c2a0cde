package lookup_test

import (
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
)

// world is a store with some artifacts, whose clock and disasters a test rules.
type world struct {
	t       testing.TB
	store   *sinks.Store // as the client sees it
	kek     sinks.KEK
	ring    *row.Keyring
	catalog *catalog.Catalog
	blocks  *shakyBlocks
	values  *shakyCatalog
	clock   atomic.Int64
}

// shakyBlocks counts what is read, and lets a test come between.
type shakyBlocks struct {
	sinks.Blocks
	trips, spans atomic.Int64
	before       atomic.Pointer[func(ctx context.Context) error]
	change       atomic.Pointer[func(r sinks.Row) (sinks.Row, error)]
}

func (b *shakyBlocks) First(ctx context.Context, spans []sinks.Span, found func(int, sinks.Row, error)) error {
	b.trips.Add(1)
	b.spans.Add(int64(len(spans)))
	if f := b.before.Load(); f != nil {
		if err := (*f)(ctx); err != nil {
			return err
		}
	}
	return b.Blocks.First(ctx, spans, func(i int, r sinks.Row, err error) {
		if f := b.change.Load(); f != nil && err == nil && r.Key != nil {
			r, err = (*f)(r)
		}
		found(i, r, err)
	})
}

type shakyCatalog struct {
	sinks.Catalog
	gets, lists atomic.Int64
	err         atomic.Pointer[error]
}

func (c *shakyCatalog) fails() error {
	if err := c.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (c *shakyCatalog) Get(ctx context.Context, key []byte) ([]byte, error) {
	c.gets.Add(1)
	if err := c.fails(); err != nil {
		return nil, err
	}
	return c.Catalog.Get(ctx, key)
}

func (c *shakyCatalog) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	c.lists.Add(1)
	if err := c.fails(); err != nil {
		return err
	}
	return c.Catalog.List(ctx, s, emit)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	inner := mem.New()
	w := &world{t: t, kek: kek.Ephemeral(), blocks: &shakyBlocks{Blocks: inner.Blocks}, values: &shakyCatalog{Catalog: inner.Catalog}}
	w.store = &sinks.Store{Blocks: w.blocks, Catalog: w.values, Close: inner.Close}
	ring, err := row.CreateKeyring(t.Context(), inner.Catalog, w.kek)
	if err != nil {
		t.Fatal(err)
	}
	w.ring, w.catalog = ring, catalog.New(inner.Catalog, ring)
	w.clock.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano())
	return w
}

func (w *world) now() time.Time          { return time.Unix(0, w.clock.Load()) }
func (w *world) advance(d time.Duration) { w.clock.Add(int64(d)) }
func (w *world) client() *lookup.Client  { return w.clientWith(lookup.Options{}) }
func (w *world) ctx() context.Context    { return w.t.Context() }
func (w *world) must(err error)          { w.t.Helper(); noError(w.t, err) }
func noError(t testing.TB, err error)    { t.Helper(); failIf(t, err != nil, "%v", err) }
func failIf(t testing.TB, bad bool, f string, a ...any) {
	t.Helper()
	if bad {
		t.Fatalf(f, a...)
	}
}

func (w *world) clientWith(o lookup.Options) *lookup.Client {
	o.Now = w.now
	return lookup.New(w.store, w.kek, o)
}

// image is a made-up artifact: functions of 64 bytes, each with three ranges (its own
// lines around an inlined call) and, but for every seventh, a hole of 16 bytes at its end.
type image struct {
	symbol.Artifact
	functions int
	names     []symbol.Name // in the record: the artifact's and APP@BUILD
	salt      string        // of function names: tells loads apart
	depth     int           // of the inlined call's chain
}

const imageBase = 0x10000

func newImage(canonical, file string, functions int) *image {
	im := &image{functions: functions, depth: 2, Artifact: symbol.Artifact{
		ID: symbol.NewID(symbol.ELF, canonical), Kind: symbol.ELF, Canonical: canonical, Arch: "arm64",
		Base: imageBase, End: uint64(functions)*64 + 128,
		Anchors: map[string]uint64{".text": 64},
	}}
	im.Names = []symbol.Name{{Kind: symbol.NameBuildID, Text: canonical}, {Kind: symbol.NameFile, Text: file}}
	im.names = slices.Clone(im.Names)
	return im
}

func (im *image) function(i int) string {
	name := fmt.Sprintf("cart%s%d", im.salt, i)
	return fmt.Sprintf("_Z%d%sv", len(name), name)
}

func inlined(k int) string { return fmt.Sprintf("_ZN5boost7inline%dEi", k) }

func (im *image) load() (row.Table, []symbol.Run) {
	t := row.Table{Strings: []string{""}, Runs: []uint32{0}}
	index := map[string]uint32{}
	str := func(s string) uint32 {
		at, ok := index[s]
		if !ok {
			at = uint32(len(t.Strings))
			index[s] = at
			t.Strings, t.Runs = append(t.Strings, s), append(t.Runs, 0)
		}
		t.Runs[at]++
		return at
	}
	var runs []symbol.Run
	for i := range im.functions {
		start := uint64(i) * 64
		file := str(fmt.Sprintf("src/file%d.cpp", i/50))
		header := str("include/boost/inline.hpp")
		r := symbol.Run{Rank: symbol.RankDWARF, Scopes: []symbol.Scope{{Parent: -1, Function: str(im.function(i))}}}
		for d := 1; d < im.depth; d++ {
			call := symbol.Site{File: header, Line: uint32(d), Column: 9}
			if d == 1 {
				call = symbol.Site{File: file, Line: uint32(10*i + 2), Column: 3}
			}
			r.Scopes = append(r.Scopes, symbol.Scope{Parent: int32(d - 1), Function: str(inlined(d)), Call: call})
		}
		end := start + 48
		if i%7 == 0 {
			end = start + 64
		}
		r.Ranges = []symbol.Range{
			{Start: start, End: start + 16, At: symbol.Site{File: file, Line: uint32(10*i + 1)}},
			{Start: start + 16, End: start + 32, Scope: int32(im.depth - 1), At: symbol.Site{File: header, Line: uint32(100 + i%10), Column: 5}},
			{Start: start + 32, End: end, At: symbol.Site{File: file, Line: uint32(10*i + 3)}},
		}
		runs = append(runs, r)
	}
	for i := range runs {
		runs[i].Strings = t.Strings
	}
	return t, runs
}

// want is the answer by the rule above, not by anything stored.
func (im *image) want(pos uint64) (status symbol.Status, frames []symbol.Frame) {
	i, off := int(pos/64), pos%64
	switch {
	case pos >= im.End:
		return symbol.Outside, nil
	case i >= im.functions || off >= 48 && i%7 != 0:
		return symbol.Hole, nil
	}
	file := fmt.Sprintf("src/file%d.cpp", i/50)
	outer := symbol.Frame{Linkage: im.function(i), File: file, Line: uint32(10*i + 3)}
	switch {
	case off < 16:
		outer.Line = uint32(10*i + 1)
	case off < 32:
		outer.Line, outer.Column = uint32(10*i+2), 3
		at := symbol.Site{Line: uint32(100 + i%10), Column: 5}
		for d := im.depth - 1; d > 0; d-- {
			frames = append(frames, symbol.Frame{Linkage: inlined(d), File: "include/boost/inline.hpp", Line: at.Line, Column: at.Column})
			at = symbol.Site{Line: uint32(d), Column: 9}
		}
		if im.depth == 1 {
			outer.Line, outer.Column = at.Line, at.Column
			outer.File = "include/boost/inline.hpp"
		}
	}
	return symbol.Found, append(frames, outer)
}

// write stores the rows of an image as a new load, unpublished.
func (w *world) write(im *image) *row.Loaded {
	w.t.Helper()
	batch, err := w.store.Blocks.Begin(w.ctx())
	w.must(err)
	defer batch.Abort()
	table, runs := im.load()
	enc, err := row.NewEncoder(w.ring, &im.Artifact, row.NewLoad(w.now()), table, batch.Write)
	w.must(err)
	for i := range runs {
		w.must(enc.Add(&runs[i]))
	}
	loaded, err := enc.Close()
	w.must(err)
	w.must(batch.Commit(w.ctx()))
	loaded.Source.URL = "s3://symbols/" + im.Names[len(im.Names)-1].Text
	return loaded
}

// publish stores an image and makes it findable.
func (w *world) publish(im *image) *row.Loaded {
	w.t.Helper()
	loaded := w.write(im)
	for _, n := range im.names {
		w.must(w.catalog.Names.Add(w.ctx(), n.Text, catalog.Ref{Artifact: im.ID}))
	}
	w.record(im.ID, func(r *catalog.Record) {
		r.State, r.Names, r.Published, r.Previous = catalog.Live, im.names, loaded, r.Published
	})
	return loaded
}

// record changes an artifact's record.
func (w *world) record(id symbol.ID, change func(*catalog.Record)) {
	w.t.Helper()
	old, err := w.catalog.Artifacts.Get(w.ctx(), id)
	w.must(err)
	next := &catalog.Record{ID: id, State: catalog.Live}
	if old != nil {
		copied := *old
		next = &copied
	}
	change(next)
	w.must(w.catalog.Artifacts.Swap(w.ctx(), old, next))
}

func (w *world) object(url string, s catalog.ObjectState, reason string) {
	w.t.Helper()
	w.must(w.catalog.Ledger.Swap(w.ctx(), nil, &catalog.Object{URL: url, State: s, Reason: reason, First: w.now(), Last: w.now()}))
}

func at(id symbol.ID, pos uint64) lookup.Query {
	return lookup.Query{Artifact: id, Where: symbol.Where{Value: pos}}
}

// ask answers through the batch form.
func ask(t testing.TB, c *lookup.Client, qs ...lookup.Query) []symbol.Answer {
	t.Helper()
	out := make([]symbol.Answer, 0, len(qs))
	err := c.Frames(t.Context(), qs, func(i int, a symbol.Answer) {
		failIf(t, i != len(out), "answer %d came as number %d", i, len(out))
		out = append(out, a)
	})
	noError(t, err)
	failIf(t, len(out) != len(qs), "%d answers to %d questions", len(out), len(qs))
	return out
}

// check compares an answer with the rule.
func (im *image) check(t testing.TB, pos uint64, a symbol.Answer) {
	t.Helper()
	status, frames := im.want(pos)
	failIf(t, a.Status != status, "position %#x: %s (%v), want %s", pos, a.Status, a.Err, status)
	failIf(t, (a.Err == nil) != (status == symbol.Found), "position %#x: %s with reason %v", pos, a.Status, a.Err)
	got := slices.Clone(a.Frames)
	for i := range got {
		failIf(t, got[i].Function == "", "position %#x: frame %d has no function", pos, i)
		got[i].Function = ""
	}
	failIf(t, !slices.Equal(got, frames), "position %#x:\n got %+v\nwant %+v", pos, got, frames)
}

// together runs f in n goroutines at once.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
