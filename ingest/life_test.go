package ingest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/ingest/upkeep"
	"github.com/symlake/symlake/ingest/upkeep/forget"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

func (w *world) projection() projection.Stores {
	return projection.Stores{Store: w.store, Keyring: w.ring, Lake: w.o.Lake}
}

// The load that was rolled back to answers, holds against ingest, and gives way to force and to another rollback. The ledger tells.
func TestRollback(t *testing.T) {
	w := newWorld(t)
	id := symbol.NewID(symbol.ELF, idA)
	if _, err := upkeep.Rollback(t.Context(), w.projection(), id); !errors.Is(err, upkeep.ErrNoPrevious) {
		t.Fatal(err)
	}
	w.put("a.so", "FAKE\nid "+idA+"\nrank 3\nf 0 8 first 1\n")
	w.run()
	if _, err := upkeep.Rollback(t.Context(), w.projection(), id); !errors.Is(err, upkeep.ErrNoPrevious) {
		t.Fatal(err)
	}
	w.put("b.so", "FAKE\nid "+idA+"\nf 0 8 second 2\n")
	w.run()
	w.answers(idA, 0, "second:2")
	w.is("a.so", catalog.ObjectKept)
	if _, err := upkeep.Rollback(t.Context(), w.projection(), id); err != nil {
		t.Fatal(err)
	}
	w.answers(idA, 0, "first:1")
	w.is("a.so", catalog.ObjectLoaded)
	w.is("b.so", catalog.ObjectKept)
	w.put("b.so", "FAKE\nid "+idA+"\nf 0 8 third 3\n")
	if r := w.run(); r.Objects.Kept != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	w.answers(idA, 0, "first:1")
	w.verify()
	if _, err := gc.Run(t.Context(), gc.Options{Store: w.store, Keyring: w.ring, Grace: 1, Now: func() time.Time { return w.now.Add(time.Hour) }}); err != nil {
		t.Fatal(err)
	}
	if _, err := upkeep.Rollback(t.Context(), w.projection(), id); err != nil {
		t.Fatal(err)
	}
	w.answers(idA, 0, "second:2")
	w.o.Force = true
	w.run()
	w.answers(idA, 0, "third:3")
	if s := w.record(idA).State; s != catalog.Live {
		t.Fatal(s)
	}
	w.verify()
}

// A forgotten artifact is gone from names, rows and ledger, does not come back with the next runs, changed or under another key, and
// does with force.
func TestForget(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("copy.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("z.zip", zipped(t, "a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n", "b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n"))
	w.run()
	options := forget.Options{Stores: w.projection(), Artifacts: []symbol.ID{symbol.NewID(symbol.ELF, idA)}, DryRun: true, Now: func() time.Time { return w.now }}
	before := w.verify()
	r, err := forget.Run(t.Context(), options)
	if err != nil || r.Artifacts != 1 || r.Loads == 0 || r.Bytes == 0 || r.Objects != 2 || w.verify() != before {
		t.Fatalf("%v %+v", err, r)
	}
	options.DryRun = false
	if r, err = forget.Run(t.Context(), options); err != nil || r.Artifacts != 1 || r.Objects != 2 {
		t.Fatalf("%v %+v", err, r)
	}
	forgotten := func() {
		t.Helper()
		if rec := w.record(idA); rec.State != catalog.Forgotten || rec.Published != nil || rec.Previous != nil || len(rec.Names)+len(rec.Progress) > 0 {
			t.Fatalf("%+v", rec)
		}
		for _, name := range []string{idA, "a.so"} {
			refs, err := w.cat.Names.Find(t.Context(), name, 0)
			if err != nil || slices.ContainsFunc(refs, func(r catalog.Ref) bool { return r.Artifact == options.Artifacts[0] }) {
				t.Fatalf("%s: %v %v", name, refs, err)
			}
		}
		err := stored.Each(t.Context(), w.store.Blocks, func(id symbol.ID, l sinks.Load) error {
			if id == options.Artifacts[0] {
				t.Fatalf("load %x has rows", l)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.answers(idB, 0, "b:1")
		w.verify()
	}
	forgotten()
	w.is("a.so", catalog.ObjectGone)
	w.is("copy.so", catalog.ObjectGone)
	w.is("z.zip", catalog.ObjectLoaded)

	if r := w.run(); r.Objects.New != 0 {
		t.Fatalf("%+v", r.Objects)
	}
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 changed 1\n")
	w.put("third.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("z.zip", zipped(t, "a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n", "b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n", "c", ""))
	w.run()
	forgotten()
	if _, err := gc.Run(t.Context(), gc.Options{Store: w.store, Keyring: w.ring, Grace: 1, Alone: true, Now: func() time.Time { return w.now.Add(time.Hour) }}); err != nil {
		t.Fatal(err)
	}
	forgotten()
	if r, err := forget.Run(t.Context(), options); err != nil || r.Loads != 0 {
		t.Fatalf("once more: %v %+v", err, r)
	}
	w.o.Force = true
	w.run()
	if rec := w.record(idA); rec.State != catalog.Live || rec.Published == nil {
		t.Fatalf("%+v", rec)
	}
	w.verify()
}

// A death in the middle of forgetting is ended by the next one, also when it forgets something else.
func TestForgetDies(t *testing.T) {
	for from := int64(1); from < 40; from++ {
		f := &flaky{}
		w := newWorld(t)
		w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
		w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
		w.run()
		f.from, f.until = from, 1<<62
		broken := w.projection()
		broken.Store = &sinks.Store{Blocks: flakyBlocks{w.store.Blocks, f}, Catalog: flakyCatalog{w.store.Catalog, f}}
		_, err := forget.Run(t.Context(), forget.Options{Stores: broken, Artifacts: []symbol.ID{symbol.NewID(symbol.ELF, idA)}})
		if err == nil {
			return
		}
		// Readers see all of it or nothing.
		if got := w.ask(idA, 0); got != "a:1" && got != "no artifact" {
			t.Fatal(got)
		}
		if w.record(idA).State == catalog.Live {
			continue // nothing was done
		}
		if _, err := forget.Run(t.Context(), forget.Options{Stores: w.projection(), Artifacts: []symbol.ID{symbol.NewID(symbol.ELF, idB)}}); err != nil {
			t.Fatal(err)
		}
		if rec := w.record(idA); len(rec.Names)+len(rec.Progress) > 0 {
			t.Fatalf("death at %d: %+v", from, rec)
		}
		if r := w.run(); r.Objects.Loaded != 0 {
			t.Fatalf("death at %d: %+v", from, r.Objects)
		}
		w.verify()
	}
	t.Fatal("it never got through")
}

// The rules: builds by age of their loads, shared artifacts, artifacts without demand.
func TestForgetRules(t *testing.T) {
	w := newWorld(t)
	w.src.Names = "{app}/{build}/**"
	for i := range 4 {
		w.now = w.now.Add(24 * time.Hour)
		w.put(fmt.Sprintf("shop/%d/lib.so", i), fmt.Sprintf("FAKE\nid %s\nf 0 8 f 1\n", hookID(i)))
		w.put(fmt.Sprintf("shop/%d/sys.so", i), "FAKE\nid "+idA+"\nf 0 8 sys 1\n")
		w.run()
	}
	w.put("mail/9/lib.so", "FAKE\nid "+hookID(0)+"\nf 0 8 f 1\n")
	w.run()
	there := func() (list []int) {
		for i := range 4 {
			if w.record(hookID(i)).Published != nil {
				list = append(list, i)
			}
		}
		return list
	}
	forgotten := func(o forget.Options) *forget.Report {
		t.Helper()
		o.Stores, o.Now = w.projection(), func() time.Time { return w.now }
		r, err := forget.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		w.verify()
		return r
	}
	// Build 0 belongs to another app, too, and sys.so to builds that stay.
	if r := forgotten(forget.Options{App: "shop", KeepLast: 2}); r.Artifacts != 1 || r.Renamed != 2 || !slices.Equal(there(), []int{0, 2, 3}) {
		t.Fatalf("%+v %v", r, there())
	}
	if apps := record.Builds(w.record(idA).Names); !slices.Equal(apps, []string{"shop@2", "shop@3"}) {
		t.Fatal(apps)
	}
	if apps := record.Builds(w.record(hookID(0)).Names); !slices.Equal(apps, []string{"mail@9"}) {
		t.Fatal(apps)
	}
	if r := forgotten(forget.Options{App: "mail@9", OlderThan: 90 * 24 * time.Hour}); r.Artifacts != 0 {
		t.Fatalf("%+v", r)
	}
	_, err := forget.Run(t.Context(), forget.Options{Stores: w.projection(), UnaskedFor: time.Hour})
	if !errors.Is(err, forget.ErrUnasked) {
		t.Fatal(err)
	}
	var asked wanted.Demand
	if err := asked.Note(t.Context(), w.cat, w.now); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(100 * 24 * time.Hour)
	asked.Found(symbol.NewID(symbol.ELF, hookID(2)))
	if err := asked.Note(t.Context(), w.cat, w.now); err != nil {
		t.Fatal(err)
	}
	if r := forgotten(forget.Options{UnaskedFor: 90 * 24 * time.Hour}); r.Artifacts != 3 || !slices.Equal(there(), []int{2}) {
		t.Fatalf("%+v %v", r, there())
	}
}

// A much worse load of a changed object is held back and reported; of a better source, or by force, it is not.
func TestMinQuality(t *testing.T) {
	w := newWorld(t)
	w.o.MinQuality = 0.5
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 100 good 1\n")
	w.run()
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 40 poor 1\n")
	r := w.run()
	if r.Objects.Kept != 1 || len(r.Held) != 1 || !strings.Contains(r.Held[0].Error, "min_quality 0.5: bytes with a line is 40, and 100") {
		t.Fatalf("%+v", r)
	}
	w.answers(idA, 0, "good:1")
	w.is("a.so", catalog.ObjectKept)
	if r := w.run(); r.Objects.New != 0 {
		t.Fatalf("%+v", r.Objects)
	}
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 60 fair 1\n")
	if r := w.run(); len(r.Held) != 0 {
		t.Fatalf("%+v", r.Held)
	}
	w.answers(idA, 0, "fair:1")
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 poor 1\n")
	w.run()
	w.answers(idA, 0, "fair:1")
	w.o.Force = true
	w.run()
	w.answers(idA, 0, "poor:1")
	w.verify()
}

// A name that was asked for in vain is told when it comes, once; the table is bounded.
func TestWanted(t *testing.T) {
	w := newWorld(t)
	var d wanted.Demand
	for range 3 {
		d.Missing(strings.ToUpper(idA), "/system/liba.so", "tombstone", w.now)
	}
	d.Missing(idC, "c.so", "tombstone", w.now)
	if err := d.Note(t.Context(), w.cat, w.now); err != nil || !d.Empty() {
		t.Fatal(err)
	}
	d.Missing(idA, "", "", w.now)
	if err := d.Note(t.Context(), w.cat, w.now); err != nil {
		t.Fatal(err)
	}
	list, err := wanted.All(t.Context(), w.cat)
	if err != nil || len(list) != 2 || list[0].Name != idA || list[0].Asked != 4 || list[0].File != "/system/liba.so" {
		t.Fatalf("%v %+v", err, list)
	}
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	r := w.run()
	if len(r.Wanted) != 1 || r.Wanted[0].Name != idA || r.Wanted[0].Asked != 4 || r.Wanted[0].Artifact != symbol.NewID(symbol.ELF, idA).String() {
		t.Fatalf("%+v", r.Wanted)
	}
	if list, err = wanted.All(t.Context(), w.cat); err != nil || len(list) != 1 || list[0].Name != idC {
		t.Fatalf("%v %+v", err, list)
	}
}

// Rederive takes what an older parser made, the worst first, and no more than it may.
func TestRederive(t *testing.T) {
	w := newWorld(t)
	for i, size := range []int{90, 10, 50, 70} {
		w.put(fmt.Sprintf("%d.so", i), fmt.Sprintf("FAKE\nid %s\nf 0 %d f 1\n", hookID(i), size))
	}
	quality := func(v int) *formats.Format {
		f := fake(v)
		open := f.Open
		f.Open = withText(open, 100)
		return f
	}
	w.o.Formats = []*formats.Format{quality(1), &archive.Zip}
	w.run()
	w.o.Formats[0] = quality(2)
	w.o.Rederive, w.o.Limit, w.o.Workers = true, 2, 1
	var order []string
	w.o.Progress = func(e Event) { order = append(order, path.Base(e.URL)) }
	if r := w.run(); r.Objects.Loaded != 2 || r.Objects.Pending != 2 {
		t.Fatalf("%+v", r.Objects)
	}
	if slices.Sort(order); !slices.Equal(order, []string{"1.so", "2.so"}) {
		t.Fatal(order)
	}
	w.is("0.so", catalog.ObjectLoaded)
	w.o.Limit = 0
	if r := w.run(); r.Objects.Loaded != 2 {
		t.Fatalf("%+v", r.Objects)
	}
	for i := range 4 {
		if p := w.record(hookID(i)).Published.Parser; p != 2 {
			t.Errorf("%d: parser %d", i, p)
		}
	}
	w.verify()
}

func TestPlan(t *testing.T) {
	w := newWorld(t)
	for i := range 10 {
		w.put(fmt.Sprintf("%d.so", i), "FAKE\nid "+hookID(i)+"\n"+strings.Repeat(" ", i*10))
	}
	w.o.Limit = 3
	w.run()
	w.o.Limit = 0
	list, more, err := Plan(t.Context(), []discover.Source{w.src}, w.o, 4)
	if err != nil || more != 3 || len(list) != 4 || path.Base(list[0].URL) != "9.so" || path.Base(list[3].URL) != "6.so" || list[0].State != catalog.ObjectPending {
		t.Fatalf("%v %d %+v", err, more, list)
	}
	if r := w.run(); r.Objects.New != 7 {
		t.Fatalf("%+v", r.Objects)
	}
}

// withText gives artifacts an image of so many bytes; quality is a share of them.
func withText(open func(context.Context, *formats.Input) (*formats.Object, error), text uint64) func(context.Context, *formats.Input) (*formats.Object, error) {
	return func(ctx context.Context, in *formats.Input) (*formats.Object, error) {
		o, err := open(ctx, in)
		if err != nil {
			return o, err
		}
		for i := range o.Artifacts {
			explode := o.Artifacts[i].Explode
			o.Artifacts[i].Explode = func(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
				q, err := explode(ctx, part, emit)
				q.Text = text
				return q, err
			}
		}
		return o, nil
	}
}
