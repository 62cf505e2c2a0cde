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
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// Every boundary of an image and its neighbors, in a random order, one by
// one and as a batch, cold and warm, answers as the rule says.
func TestEveryPosition(t *testing.T) {
	w := lookuptest.NewWorld(t)
	cart := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 1500)
	game := lookuptest.NewImage(strings.Repeat("ab", 20), "libgame.so", 5)
	w.Publish(cart)
	w.Publish(game)
	var qs []lookup.Query
	for _, im := range []*lookuptest.Image{cart, game} {
		for pos := uint64(0); pos < im.End+16; pos += 8 {
			qs = append(qs, lookuptest.At(im.ID, pos), lookuptest.At(im.ID, pos+7))
		}
		qs = append(qs, lookuptest.At(im.ID, 1<<63), lookuptest.At(im.ID, 1<<64-1))
	}
	qs = append(qs, qs[:len(qs)/3]...)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(qs), func(i, j int) { qs[i], qs[j] = qs[j], qs[i] })
	of := func(q lookup.Query) *lookuptest.Image {
		if q.Artifact == game.ID {
			return game
		}
		return cart
	}
	for _, o := range []lookup.Options{{}, {CacheBytes: 1}, {NoDemangle: true}} {
		c := w.ClientWith(o)
		for range 2 {
			for _, form := range forms {
				for i, a := range form(t, c, qs...) {
					of(qs[i]).Check(t, qs[i].Where.Value, a)
				}
			}
		}
		for i, a := range emitted(t, w.ClientWith(o), qs...) {
			of(qs[i]).Check(t, qs[i].Where.Value, a)
		}
		for _, q := range qs[:200] {
			of(q).Check(t, q.Where.Value, c.Lookup(t.Context(), q))
		}
	}
}

func TestSpaces(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 10)
	w.Publish(im)
	c := w.Client()
	for _, k := range []struct {
		where symbol.Where
		pos   uint64
		want  symbol.Status
	}{
		{symbol.Where{Space: symbol.Position, Value: 20}, 20, symbol.Found},
		{symbol.Where{Space: symbol.Unslid, Value: lookuptest.ImageBase + 20}, 20, symbol.Found},
		{symbol.Where{Space: symbol.Loaded, Value: 0x7000_0014, Load: 0x7000_0000}, 20, symbol.Found},
		{symbol.Where{Space: symbol.Anchored, Value: 20, Anchor: ".text"}, 84, symbol.Found},
		{symbol.Where{Space: symbol.Anchored, Value: 20, Anchor: ".init"}, 0, symbol.Outside},
		{symbol.Where{Space: symbol.Unslid, Value: lookuptest.ImageBase - 1}, 0, symbol.Outside},
	} {
		q := lookup.Query{Artifact: im.ID, Where: k.where}
		for _, a := range []symbol.Answer{lookuptest.Ask(t, c, q)[0], c.Lookup(t.Context(), q)} {
			lookuptest.FailIf(t, a.Status != k.want, "%+v: %s, want %s", k.where, a.Status, k.want)
			if k.want == symbol.Found {
				im.Check(t, k.pos, a)
			}
		}
	}
}

func TestDemangles(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 10)
	w.Publish(im)
	a := w.Client().Lookup(t.Context(), lookuptest.At(im.ID, 20))
	lookuptest.FailIf(t, a.Frames[1].Function != "cart0()" || a.Frames[1].Linkage != "_Z5cart0v", "%+v", a.Frames)
	a = w.ClientWith(lookup.Options{NoDemangle: true}).Lookup(t.Context(), lookuptest.At(im.ID, 20))
	lookuptest.FailIf(t, a.Frames[1].Function != "_Z5cart0v", "%+v", a.Frames)
}

// Functions of C in 32-bit images of Windows lose the marks of their calling convention; in others such a name stays.
func TestWindowsNames(t *testing.T) {
	w := lookuptest.NewWorld(t)
	for arch, want := range map[string]string{"x86": "cart0", "x86_64": "_cart0@8"} {
		im := lookuptest.NewImage(lookuptest.CartID+arch, "cart.dll", 10)
		im.Kind, im.Arch = symbol.PE, arch
		im.ID = symbol.NewID(im.Kind, im.Canonical)
		w.Publish(im)
		a := w.Client().Lookup(t.Context(), lookuptest.At(im.ID, 20))
		lookuptest.FailIf(t, a.Frames[1].Function != want || a.Frames[1].Linkage != "_cart0@8", "%s: %+v", arch, a.Frames)
	}
}

// A batch asks for its cold rows in one round trip, and for nothing when warm.
func TestRoundTrips(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5000)
	loaded := w.Publish(im)
	lookuptest.FailIf(t, loaded.Rows < 5, "only %d rows", loaded.Rows)
	c := w.Client()
	var qs []lookup.Query
	for pos := uint64(0); pos < im.End; pos += 32 {
		qs = append(qs, lookuptest.At(im.ID, pos))
	}
	lookuptest.Ask(t, c, qs...)
	lookuptest.FailIf(t, w.Blocks.Trips.Load() != 1, "%d trips", w.Blocks.Trips.Load())
	lookuptest.FailIf(t, uint64(w.Blocks.Spans.Load()) > loaded.Rows+1, "%d spans for %d rows", w.Blocks.Spans.Load(), loaded.Rows)
	gets := w.Values.Gets.Load()
	lookuptest.Ask(t, c, qs...)
	c.Lookup(t.Context(), qs[7])
	lookuptest.FailIf(t, w.Blocks.Trips.Load() != 1 || w.Values.Gets.Load() != gets, "a warm client read the store")
	lookuptest.FailIf(t, gets != 1, "%d catalog reads for one artifact", gets)
}

// A repeated question in one call gets the very same frames.
func TestRepeated(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 1500)
	w.Publish(im)
	c := w.Client()
	var qs []lookup.Query
	for i := range uint64(3000) {
		qs = append(qs, lookuptest.At(im.ID, 20+i%30*24))
	}
	for range 2 {
		as, again := lookuptest.Ask(t, c, qs...), 0
		for i, a := range as {
			im.Check(t, qs[i].Where.Value, a)
			if i >= 30 && a.Status == symbol.Found && &a.Frames[0] == &as[i%30].Frames[0] {
				again++
			}
		}
		lookuptest.FailIf(t, again < 1000, "%d of 3000 have frames that were there", again)
	}
}

// A load that was published since, with the old one's rows removed, answers
// at once; the artifact's cached record notwithstanding.
func TestSuperseded(t *testing.T) {
	for _, form := range forms {
		w := lookuptest.NewWorld(t)
		im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5000)
		old := w.Publish(im)
		c := w.Client()
		im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
		next := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 4000)
		next.Salt = "new"
		w.Publish(next)
		w.Must(w.Store.Blocks.Drop(t.Context(), [][]byte{row.LoadPrefix(im.ID, old.Load)}))
		im.Check(t, 24, c.Lookup(t.Context(), lookuptest.At(im.ID, 24))) // its block is cached: the old load still answers
		var qs []lookup.Query
		for pos := im.End / 2; pos < im.End; pos += 16 {
			qs = append(qs, lookuptest.At(im.ID, pos))
		}
		qs = append(qs, qs...)
		for i, a := range form(t, c, qs...) {
			next.Check(t, qs[i].Where.Value, a)
		}
		next.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
	}
}

func TestPublishIsSeen(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50)
	c := w.Client()
	a := c.Lookup(t.Context(), lookuptest.At(im.ID, 20))
	lookuptest.FailIf(t, a.Status != symbol.NoArtifact || a.Err == nil, "%+v", a)
	w.Publish(im)
	a = c.Lookup(t.Context(), lookuptest.At(im.ID, 20))
	lookuptest.FailIf(t, a.Status != symbol.NoArtifact, "absence was not believed")
	w.Advance(11 * time.Second)
	im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
	next := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50)
	next.Salt = "new"
	w.Publish(next)
	im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
	w.Advance(61 * time.Second)
	next.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
	spans := w.Blocks.Spans.Load()
	w.Advance(61 * time.Second) // the same load: its blocks stay
	next.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
	lookuptest.FailIf(t, w.Blocks.Spans.Load() != spans, "a record read again lost its blocks")
}

func TestStatuses(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50)
	live := symbol.NewID(symbol.ELF, "11")
	dead := symbol.NewID(symbol.ELF, "22")
	bare := symbol.NewID(symbol.ELF, "33")
	w.Record(live, func(r *catalog.Record) {
		r.Progress = []catalog.Progress{{Load: row.NewLoad(w.Now()), Owner: "host", Lease: w.Now().Add(time.Hour)}}
	})
	w.Record(dead, func(r *catalog.Record) {
		r.Progress = []catalog.Progress{{Load: row.NewLoad(w.Now()), Owner: "host", Lease: w.Now().Add(-time.Hour)}}
	})
	w.Record(bare, func(*catalog.Record) {})
	shredded, keyless := lookuptest.NewImage("44", "a.so", 5), lookuptest.NewImage("55", "b.so", 5)
	w.Publish(shredded)
	w.Record(shredded.ID, func(r *catalog.Record) { r.State = catalog.Shredded })
	w.Publish(keyless)
	w.Record(keyless.ID, func(r *catalog.Record) {
		p := *r.Published
		p.WrappedKey = nil
		r.Published = &p
	})
	w.Publish(im)
	c := w.Client()
	for _, k := range []struct {
		q    lookup.Query
		want symbol.Status
	}{
		{lookuptest.At(im.ID, 0), symbol.Found}, {lookuptest.At(im.ID, 50*64+1), symbol.Hole}, {lookuptest.At(im.ID, im.End), symbol.Outside},
		{lookuptest.At(symbol.ID{9}, 0), symbol.NoArtifact}, {lookuptest.At(live, 0), symbol.Loading}, {lookuptest.At(dead, 0), symbol.Pending},
		{lookuptest.At(bare, 0), symbol.NoArtifact}, {lookuptest.At(shredded.ID, 0), symbol.Sealed}, {lookuptest.At(keyless.ID, 0), symbol.Sealed},
	} {
		for _, a := range []symbol.Answer{lookuptest.Ask(t, c, k.q)[0], c.Lookup(t.Context(), k.q)} {
			lookuptest.FailIf(t, a.Status != k.want, "%v: %s (%v), want %s", k.q, a.Status, a.Err, k.want)
			lookuptest.FailIf(t, (a.Err == nil) != (k.want == symbol.Found), "%v: reason %v", k.q, a.Err)
		}
	}
}

func TestKeys(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50)
	w.Publish(im)
	wrong := lookup.New(w.Store, kek.Ephemeral(), lookup.Options{Now: w.Now})
	a := wrong.Lookup(t.Context(), lookuptest.At(im.ID, 20))
	lookuptest.FailIf(t, a.Status != symbol.Sealed || !errors.Is(a.Err, row.ErrSealed), "%+v", a)
	r := wrong.Resolve(t.Context(), lookuptest.CartID, lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Sealed, "%+v", r)
	lists := w.Values.Lists.Load()
	wrong.Lookup(t.Context(), lookuptest.At(symbol.ID{1}, 20))
	lookuptest.FailIf(t, w.Values.Lists.Load() != lists, "a refused key was asked for again at once")

	empty := lookuptest.NewWorld(t)
	c := lookup.New(mem.New(), empty.KEK, lookup.Options{Now: w.Now})
	a = c.Lookup(t.Context(), lookuptest.At(im.ID, 20))
	lookuptest.FailIf(t, a.Status != symbol.NoArtifact || !errors.Is(a.Err, row.ErrKeyless), "%+v", a)

	// Rotation adds a version that the client, already open, has not seen.
	c = w.Client()
	im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
	if _, _, err := w.Ring.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := lookuptest.NewImage(strings.Repeat("cd", 20), "libgame.so", 50)
	w.Publish(next)
	next.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(next.ID, 20)))
}

// A store that does not answer is unavailable, with retry, and believed no
// longer than it lasts.
func TestUnavailable(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 50)
	w.Publish(im)
	down := errors.New("connection refused")
	c := w.Client()
	check := func(where string) {
		t.Helper()
		for _, a := range []symbol.Answer{c.Lookup(t.Context(), lookuptest.At(im.ID, 20)), lookuptest.Ask(t, c, lookuptest.At(im.ID, 20))[0]} {
			lookuptest.FailIf(t, a.Status != symbol.Unavailable || !a.Status.Retry() || !errors.Is(a.Err, down), "%s: %+v", where, a)
		}
	}
	w.Values.Err.Store(&down)
	check("keys")
	r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Unavailable || !errors.Is(r.Err, down), "%+v", r)
	w.Values.Err.Store(nil)
	c.Lookup(t.Context(), lookuptest.At(symbol.ID{1}, 0)) // keys are open
	w.Values.Err.Store(&down)
	check("record")
	w.Values.Err.Store(nil)
	fail := func(context.Context) error { return down }
	w.Blocks.Before.Store(&fail)
	check("rows, all at once")
	w.Blocks.Before.Store(nil)
	failRow := func(sinks.Row) (sinks.Row, error) { return sinks.Row{}, down }
	w.Blocks.Change.Store(&failRow)
	check("a row")
	w.Blocks.Change.Store(nil)
	im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
}

// What a call answered is not touched by the next one, which works in the same memory.
func TestAnswersStay(t *testing.T) {
	w := lookuptest.NewWorld(t)
	cart := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 1500)
	w.Publish(cart)
	c := w.Client()
	var first []lookup.Query
	for pos := uint64(0); pos < cart.End; pos += 16 {
		first = append(first, lookuptest.At(cart.ID, pos))
	}
	answers := lookuptest.Ask(t, c, first...)
	var others []lookup.Query
	for pos := uint64(8); pos < cart.End; pos += 48 {
		others = append(others, lookuptest.At(cart.ID, pos))
	}
	lookuptest.Ask(t, c, others...)
	for i, a := range answers {
		cart.Check(t, first[i].Where.Value, a)
	}
}

func TestWarmAllocatesLittle(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 2000)
	w.Publish(im)
	c := w.Client()
	var qs []lookup.Query
	for i := range 10_000 {
		qs = append(qs, lookuptest.At(im.ID, uint64(i*13)%(2000*64)))
	}
	lookuptest.Ask(t, c, qs...)
	ctx := t.Context()
	n := testing.AllocsPerRun(5, func() { c.Frames(ctx, qs, func(int, symbol.Answer) {}) })
	lookuptest.FailIf(t, n > 200, "%v allocations for %d answers", n, len(qs))
	n = testing.AllocsPerRun(5, func() { c.Each(ctx, qs, func(int, *symbol.Answer) error { return nil }) })
	lookuptest.FailIf(t, n > 20, "%v allocations for %d answers that pass", n, len(qs))
	n = testing.AllocsPerRun(100, func() { c.Lookup(ctx, qs[3]) })
	lookuptest.FailIf(t, n > 2, "%v allocations for one answer", n)
}
