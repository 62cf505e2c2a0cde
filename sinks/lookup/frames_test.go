package lookup_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
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

const cartID = "6f1c0a55e2d94b0f8a7713c4d5e6f708090a0b0c"

// Every boundary of an image and its neighbours, in a random order, one by
// one and as a batch, cold and warm, answers as the rule says.
func TestEveryPosition(t *testing.T) {
	w := newWorld(t)
	cart := newImage(cartID, "libcart.so", 1500)
	game := newImage(strings.Repeat("ab", 20), "libgame.so", 5)
	w.publish(cart)
	w.publish(game)
	var qs []lookup.Query
	for _, im := range []*image{cart, game} {
		for pos := uint64(0); pos < im.End+16; pos += 8 {
			qs = append(qs, at(im.ID, pos), at(im.ID, pos+7))
		}
		qs = append(qs, at(im.ID, 1<<63), at(im.ID, 1<<64-1))
	}
	qs = append(qs, qs[:len(qs)/3]...)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(qs), func(i, j int) { qs[i], qs[j] = qs[j], qs[i] })
	of := func(q lookup.Query) *image {
		if q.Artifact == game.ID {
			return game
		}
		return cart
	}
	for _, o := range []lookup.Options{{}, {CacheBytes: 1}, {NoDemangle: true}} {
		c := w.clientWith(o)
		for range 2 {
			for _, form := range forms {
				for i, a := range form(t, c, qs...) {
					of(qs[i]).check(t, qs[i].Where.Value, a)
				}
			}
		}
		for i, a := range emitted(t, w.clientWith(o), qs...) {
			of(qs[i]).check(t, qs[i].Where.Value, a)
		}
		for _, q := range qs[:200] {
			of(q).check(t, q.Where.Value, c.Lookup(t.Context(), q))
		}
	}
}

func TestSpaces(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 10)
	w.publish(im)
	c := w.client()
	for _, k := range []struct {
		where symbol.Where
		pos   uint64
		want  symbol.Status
	}{
		{symbol.Where{Space: symbol.Position, Value: 20}, 20, symbol.Found},
		{symbol.Where{Space: symbol.Unslid, Value: imageBase + 20}, 20, symbol.Found},
		{symbol.Where{Space: symbol.Loaded, Value: 0x7000_0014, Load: 0x7000_0000}, 20, symbol.Found},
		{symbol.Where{Space: symbol.Anchored, Value: 20, Anchor: ".text"}, 84, symbol.Found},
		{symbol.Where{Space: symbol.Anchored, Value: 20, Anchor: ".init"}, 0, symbol.Outside},
		{symbol.Where{Space: symbol.Unslid, Value: imageBase - 1}, 0, symbol.Outside},
	} {
		q := lookup.Query{Artifact: im.ID, Where: k.where}
		for _, a := range []symbol.Answer{ask(t, c, q)[0], c.Lookup(t.Context(), q)} {
			failIf(t, a.Status != k.want, "%+v: %s, want %s", k.where, a.Status, k.want)
			if k.want == symbol.Found {
				im.check(t, k.pos, a)
			}
		}
	}
}

func TestDemangles(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 10)
	w.publish(im)
	a := w.client().Lookup(t.Context(), at(im.ID, 20))
	failIf(t, a.Frames[1].Function != "cart0()" || a.Frames[1].Linkage != "_Z5cart0v", "%+v", a.Frames)
	a = w.clientWith(lookup.Options{NoDemangle: true}).Lookup(t.Context(), at(im.ID, 20))
	failIf(t, a.Frames[1].Function != "_Z5cart0v", "%+v", a.Frames)
}

// A batch asks for its cold rows in one round trip, and for nothing when warm.
func TestRoundTrips(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 5000)
	loaded := w.publish(im)
	failIf(t, loaded.Rows < 5, "only %d rows", loaded.Rows)
	c := w.client()
	var qs []lookup.Query
	for pos := uint64(0); pos < im.End; pos += 32 {
		qs = append(qs, at(im.ID, pos))
	}
	ask(t, c, qs...)
	failIf(t, w.blocks.trips.Load() != 1, "%d trips", w.blocks.trips.Load())
	failIf(t, uint64(w.blocks.spans.Load()) > loaded.Rows+1, "%d spans for %d rows", w.blocks.spans.Load(), loaded.Rows)
	gets := w.values.gets.Load()
	ask(t, c, qs...)
	c.Lookup(t.Context(), qs[7])
	failIf(t, w.blocks.trips.Load() != 1 || w.values.gets.Load() != gets, "a warm client read the store")
	failIf(t, gets != 1, "%d catalog reads for one artifact", gets)
}

// Who asks again, in one call, gets the very frames that are there.
func TestRepeated(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 1500)
	w.publish(im)
	c := w.client()
	var qs []lookup.Query
	for i := range uint64(3000) {
		qs = append(qs, at(im.ID, 20+i%30*24))
	}
	for range 2 {
		as, again := ask(t, c, qs...), 0
		for i, a := range as {
			im.check(t, qs[i].Where.Value, a)
			if i >= 30 && a.Status == symbol.Found && &a.Frames[0] == &as[i%30].Frames[0] {
				again++
			}
		}
		failIf(t, again < 1000, "%d of 3000 have frames that were there", again)
	}
}

// A load that was published since, with the old one's rows removed, answers
// at once; the artifact's cached record notwithstanding.
func TestSuperseded(t *testing.T) {
	for _, form := range forms {
		w := newWorld(t)
		im := newImage(cartID, "libcart.so", 5000)
		old := w.publish(im)
		c := w.client()
		im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
		next := newImage(cartID, "libcart.so", 4000)
		next.salt = "new"
		w.publish(next)
		w.must(w.store.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(im.ID, old.Load)}))
		im.check(t, 24, c.Lookup(t.Context(), at(im.ID, 24))) // its block is cached: the old load still answers
		var qs []lookup.Query
		for pos := im.End / 2; pos < im.End; pos += 16 {
			qs = append(qs, at(im.ID, pos))
		}
		qs = append(qs, qs...)
		for i, a := range form(t, c, qs...) {
			next.check(t, qs[i].Where.Value, a)
		}
		next.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
	}
}

func TestPublishIsSeen(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 50)
	c := w.client()
	a := c.Lookup(t.Context(), at(im.ID, 20))
	failIf(t, a.Status != symbol.NoArtifact || a.Err == nil, "%+v", a)
	w.publish(im)
	a = c.Lookup(t.Context(), at(im.ID, 20))
	failIf(t, a.Status != symbol.NoArtifact, "absence was not believed")
	w.advance(11 * time.Second)
	im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
	next := newImage(cartID, "libcart.so", 50)
	next.salt = "new"
	w.publish(next)
	im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
	w.advance(61 * time.Second)
	next.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
	spans := w.blocks.spans.Load()
	w.advance(61 * time.Second) // the same load: its blocks stay
	next.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
	failIf(t, w.blocks.spans.Load() != spans, "a record read again lost its blocks")
}

func TestStatuses(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 50)
	live := symbol.NewID(symbol.ELF, "11")
	dead := symbol.NewID(symbol.ELF, "22")
	bare := symbol.NewID(symbol.ELF, "33")
	w.record(live, func(r *catalog.Record) {
		r.Progress = []catalog.Progress{{Load: row.NewLoad(w.now()), Owner: "host", Lease: w.now().Add(time.Hour)}}
	})
	w.record(dead, func(r *catalog.Record) {
		r.Progress = []catalog.Progress{{Load: row.NewLoad(w.now()), Owner: "host", Lease: w.now().Add(-time.Hour)}}
	})
	w.record(bare, func(*catalog.Record) {})
	shredded, keyless := newImage("44", "a.so", 5), newImage("55", "b.so", 5)
	w.publish(shredded)
	w.record(shredded.ID, func(r *catalog.Record) { r.State = catalog.Shredded })
	w.publish(keyless)
	w.record(keyless.ID, func(r *catalog.Record) {
		p := *r.Published
		p.WrappedKey = nil
		r.Published = &p
	})
	w.publish(im)
	c := w.client()
	for _, k := range []struct {
		q    lookup.Query
		want symbol.Status
	}{
		{at(im.ID, 0), symbol.Found}, {at(im.ID, 50*64+1), symbol.Hole}, {at(im.ID, im.End), symbol.Outside},
		{at(symbol.ID{9}, 0), symbol.NoArtifact}, {at(live, 0), symbol.Loading}, {at(dead, 0), symbol.Pending},
		{at(bare, 0), symbol.NoArtifact}, {at(shredded.ID, 0), symbol.Sealed}, {at(keyless.ID, 0), symbol.Sealed},
	} {
		for _, a := range []symbol.Answer{ask(t, c, k.q)[0], c.Lookup(t.Context(), k.q)} {
			failIf(t, a.Status != k.want, "%v: %s (%v), want %s", k.q, a.Status, a.Err, k.want)
			failIf(t, (a.Err == nil) != (k.want == symbol.Found), "%v: reason %v", k.q, a.Err)
		}
	}
}

func TestKeys(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 50)
	w.publish(im)
	wrong := lookup.New(w.store, kek.Ephemeral(), lookup.Options{Now: w.now})
	a := wrong.Lookup(t.Context(), at(im.ID, 20))
	failIf(t, a.Status != symbol.Sealed || !errors.Is(a.Err, row.ErrSealed), "%+v", a)
	r := wrong.Resolve(t.Context(), cartID, lookup.Narrow{})
	failIf(t, r.Status != symbol.Sealed, "%+v", r)
	lists := w.values.lists.Load()
	wrong.Lookup(t.Context(), at(symbol.ID{1}, 20))
	failIf(t, w.values.lists.Load() != lists, "a refused key was asked for again at once")

	empty := newWorld(t)
	c := lookup.New(mem.New(), empty.kek, lookup.Options{Now: w.now})
	a = c.Lookup(t.Context(), at(im.ID, 20))
	failIf(t, a.Status != symbol.NoArtifact || !errors.Is(a.Err, row.ErrKeyless), "%+v", a)

	// Rotation adds a version that the client, already open, has not seen.
	c = w.client()
	im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
	if _, _, err := w.ring.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := newImage(strings.Repeat("cd", 20), "libgame.so", 50)
	w.publish(next)
	next.check(t, 20, c.Lookup(t.Context(), at(next.ID, 20)))
}

// A store that does not answer is unavailable, with retry, and believed no
// longer than it lasts.
func TestUnavailable(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 50)
	w.publish(im)
	down := errors.New("connection refused")
	c := w.client()
	check := func(where string) {
		t.Helper()
		for _, a := range []symbol.Answer{c.Lookup(t.Context(), at(im.ID, 20)), ask(t, c, at(im.ID, 20))[0]} {
			failIf(t, a.Status != symbol.Unavailable || !a.Status.Retry() || !errors.Is(a.Err, down), "%s: %+v", where, a)
		}
	}
	w.values.err.Store(&down)
	check("keys")
	r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	failIf(t, r.Status != symbol.Unavailable || !errors.Is(r.Err, down), "%+v", r)
	w.values.err.Store(nil)
	c.Lookup(t.Context(), at(symbol.ID{1}, 0)) // keys are open
	w.values.err.Store(&down)
	check("record")
	w.values.err.Store(nil)
	fail := func(context.Context) error { return down }
	w.blocks.before.Store(&fail)
	check("rows, all at once")
	w.blocks.before.Store(nil)
	failRow := func(sinks.Row) (sinks.Row, error) { return sinks.Row{}, down }
	w.blocks.change.Store(&failRow)
	check("a row")
	w.blocks.change.Store(nil)
	im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
}

// What a call answered is not touched by the next one, which works in the same memory.
func TestAnswersStay(t *testing.T) {
	w := newWorld(t)
	cart := newImage(cartID, "libcart.so", 1500)
	w.publish(cart)
	c := w.client()
	var first []lookup.Query
	for pos := uint64(0); pos < cart.End; pos += 16 {
		first = append(first, at(cart.ID, pos))
	}
	answers := ask(t, c, first...)
	var others []lookup.Query
	for pos := uint64(8); pos < cart.End; pos += 48 {
		others = append(others, at(cart.ID, pos))
	}
	ask(t, c, others...)
	for i, a := range answers {
		cart.check(t, first[i].Where.Value, a)
	}
}

func TestWarmAllocatesLittle(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 2000)
	w.publish(im)
	c := w.client()
	var qs []lookup.Query
	for i := range 10_000 {
		qs = append(qs, at(im.ID, uint64(i*13)%(2000*64)))
	}
	ask(t, c, qs...)
	ctx := t.Context()
	n := testing.AllocsPerRun(5, func() { c.Frames(ctx, qs, func(int, symbol.Answer) {}) })
	failIf(t, n > 200, "%v allocations for %d answers", n, len(qs))
	n = testing.AllocsPerRun(5, func() { c.Each(ctx, qs, func(int, *symbol.Answer) error { return nil }) })
	failIf(t, n > 20, "%v allocations for %d answers that pass", n, len(qs))
	n = testing.AllocsPerRun(100, func() { c.Lookup(ctx, qs[3]) })
	failIf(t, n > 2, "%v allocations for one answer", n)
}
