package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/transfer"
	"github.com/symlake/symlake/ingest/upkeep"
	"github.com/symlake/symlake/ingest/upkeep/forget"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/keys"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lake"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/sinktest"
)

// scenario is work that may die at any of its writes.
type scenario struct {
	name  string
	lake  bool
	setup func(w *world)                            // the world before
	act   func(ctx context.Context, w *world) error // the work, on a store that dies; also run again afterwards
	// again, when not nil, is what an operator runs after the death, in place of act.
	again func(ctx context.Context, w *world) error
	check func(w *world) // what must be answered in the end
	// either: the death decides between two right outcomes, so the aftermath may equal doing nothing.
	either bool
}

// ingestAll runs and tells what the run did, as a job does.
func ingestAll(ctx context.Context, w *world) error {
	return ingestWith(ctx, w, w.o)
}

func ingestWith(ctx context.Context, w *world, o Options) error {
	srcs := w.owners
	if srcs == nil {
		srcs = []discover.Source{w.src}
	}
	r, err := Run(ctx, srcs, o)
	if err != nil {
		return err
	}
	telling, err := Outbox(o).Tell(ctx, r)
	if err != nil {
		return err
	}
	return telling.Done(ctx)
}

// ingestBoth runs two workers on one store. The worker of w.o dies.
func ingestBoth(ctx context.Context, w *world) error {
	other := w.o
	other.Process, other.Store, other.Keyring, other.Lake = "other", w.store, w.ring, w.lakeOf(w.o.Lake, nil)
	other.Alive = func(_, process string) (alive, known bool) { return process != "mortal" || !w.dying.Dead(), true }
	var wg sync.WaitGroup
	var oerr, err error
	wg.Go(func() { oerr = ingestWith(ctx, w, other) })
	mine := w.o
	mine.Alive = func(string, string) (alive, known bool) { return true, true }
	err = ingestWith(ctx, w, mine)
	wg.Wait()
	if oerr != nil {
		return fmt.Errorf("the other worker: %w", oerr)
	}
	return err
}

func elfID(id string) symbol.ID { return symbol.NewID(symbol.ELF, id) }

var scenarios = []scenario{
	{name: "one object", lake: true, act: ingestAll,
		setup: func(w *world) {
			w.src.Names = "{app}/{build}/**"
			w.put("shop/1/a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\npart\nf 8 16 b 2\n")
		}, check: func(w *world) { w.answers(idA, 8, "b:2") }},
	{name: "companion after its object", act: ingestAll,
		setup: func(w *world) {
			w.put("x/a.so", "FAKE\nid "+idA+"\nneed dwo:77 sub/part.dwo\nf 0 8 main 1\n")
			w.put("z/elsewhere", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
		}, check: func(w *world) { w.answers(idA, 8, "part:2") }},
	{name: "companion before its object", lake: true, act: ingestAll,
		setup: func(w *world) {
			w.put("a/elsewhere", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
			w.put("x/a.so", "FAKE\nid "+idA+"\nneed dwo:77 sub/part.dwo\nf 0 8 main 1\n")
		}, check: func(w *world) { w.answers(idA, 8, "part:2") }},
	{name: "companion in a later run", lake: true, act: ingestAll,
		setup: func(w *world) {
			w.put("x/a.so", "FAKE\nid "+idA+"\nneed dwo:77 sub/part.dwo\nneed dwo:78 sub/two.dwo\nf 0 8 main 1\n")
			w.put("x/b.so", "FAKE\nid "+idB+"\nneed dwo:77 sub/part.dwo\nf 0 8 main 1\n")
			w.run()
			w.put("z/1.zip", zipped(w.t, "far/1", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n", "far/2", "FAKE\ncompanion dwo:78\nf 16 24 two 3\n"))
		}, check: func(w *world) {
			w.answers(idA, 8, "part:2")
			w.answers(idA, 16, "two:3")
			w.answers(idB, 8, "part:2")
		}},
	{name: "companion by its name in a later run", act: ingestAll,
		setup: func(w *world) {
			w.put("x/a.so", "FAKE\nid "+idA+"\nneed name part.dwp\nf 0 8 main 1\n")
			w.run()
			w.put("x/part.dwp", "FAKE\nid "+idB+"\nf 8 16 part 2\n")
		}, check: func(w *world) { w.answers(idA, 8, "part:2") }},
	{name: "image in a later run", act: ingestAll,
		setup: func(w *world) {
			w.put("x/a.debug", "FAKE\nid "+idA+"\nf 0 8 main 1\nulost\n")
			w.run()
			w.put("z/a.so", "FAKE\nid "+idA+"\nrank 3\nf 0 8 main 0\nu 0 4 8\nu 4 8 16\n")
		}, check: func(w *world) {
			w.answers(idA, 0, "main:1")
			w.hasUnwind(idA, 4, "16")
		}},
	{name: "companion that is a build", act: ingestAll,
		setup: func(w *world) {
			w.put("x/a.so", "FAKE\nid "+idA+"\nneed build-id:"+idB+" sub/b.so\nf 0 8 main 1\n")
			w.put("z/b.so", "FAKE\nid "+idB+"\nf 8 16 part 2\n")
		}, check: func(w *world) { w.answers(idA, 8, "part:2") }},
	{name: "two joined workers", lake: true, act: ingestBoth, again: ingestAll,
		setup: func(w *world) {
			w.put("x/a.so", "FAKE\nid "+idA+"\nneed dwo:77 sub/part.dwo\nf 0 8 main 1\n")
			w.put("x/b.so", "FAKE\nid "+idB+"\nneed build-id:"+idC+" sub/c.so\nf 0 8 b 1\n")
			w.put("y/c.so", "FAKE\nid "+idC+"\nf 8 16 c 1\n")
			w.put("z/elsewhere", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
		}, check: func(w *world) {
			w.answers(idA, 8, "part:2")
			w.answers(idB, 8, "c:1")
		}},
	{name: "objects replaced, rejected and outranked", lake: true, act: ingestAll,
		setup: func(w *world) {
			w.put("1.so", "FAKE\nid "+idA+"\nf 0 8 old 1\n")
			w.put("2.so", "FAKE\nid "+idB+"\nrank 3\nf 0 8 worse 1\n")
			w.run()
			w.put("1.so", "FAKE\nid "+idA+"\nf 0 8 new 1\npart\nf 8 16 new2 2\n")
			w.put("3.so", "FAKE\nid "+idB+"\nf 0 8 better 1\n")
			w.put("4.so", "FAKE\nid "+idA+"\nrank 3\nf 0 8 worse 1\n")
			w.put("5.so", "FAKE\nbroken\n")
		}, check: func(w *world) {
			w.answers(idA, 0, "new:1")
			w.answers(idB, 0, "better:1")
			w.is("2.so", catalog.ObjectKept)
			w.is("4.so", catalog.ObjectKept)
			w.is("5.so", catalog.ObjectRejected)
		}},
	{name: "conflict between owners", lake: true, act: ingestAll,
		setup: func(w *world) {
			twoOwners(w)
			w.put("a/1.so", mine)
			w.put("b/1.zip", zipped(w.t, "1.so", forged, "2.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n"))
		}, check: func(w *world) {
			w.answers(idA, 0, "mine:1")
			w.answers(idB, 0, "b:1")
		}},
	{name: "conflict that ends", act: ingestAll,
		setup: func(w *world) {
			conflicting(w)
			w.put("b/1.so", strings.Replace(forged, idA, idB, 1))
		}, check: func(w *world) {
			w.answers(idA, 0, "mine:1")
			w.is("b/1.so", catalog.ObjectLoaded)
		}},
	{name: "artifact taken over", lake: true, act: ingestAll,
		setup: func(w *world) {
			twoOwners(w)
			stripped, debug := pair("T", "C", "T")
			w.put("b/1.so", forged)
			w.put("b/2.debug", strings.Replace(debug, idA, idB, 1))
			ingestOwners(w)
			w.put("a/1.so", mine)
			w.put("a/2.so", strings.Replace(stripped, idA, idB, 1))
		}, check: func(w *world) {
			w.answers(idA, 0, "mine:1")
			w.answers(idB, 0, "whole:7")
			if c := w.record(idB).Published.Claimed(); c != teamA {
				w.t.Errorf("it belongs to %+v", c)
			}
		}},
	{name: "accept", lake: true, setup: conflicting,
		act: func(ctx context.Context, w *world) error {
			c := catalog.New(w.o.Store.Catalog, w.o.Keyring)
			if err := conflicts.Accept(ctx, c, w.src.Bucket.URL("b/1.so"), w.now, func(*catalog.Conflict) error { return nil }); err != nil && !settledAlready(ctx, c, w.src.Bucket.URL("b/1.so")) {
				return err
			}
			return ingestAll(ctx, w)
		}, check: func(w *world) {
			w.answers(idA, 0, "forged:1")
			w.is("a/1.so", catalog.ObjectKept)
		}},
	{name: "dismiss", setup: conflicting,
		act: func(ctx context.Context, w *world) error {
			err := conflicts.Dismiss(ctx, catalog.New(w.o.Store.Catalog, w.o.Keyring), w.src.Bucket.URL("b/1.so"), func(*catalog.Conflict) error { return nil })
			if errors.Is(err, conflicts.ErrNone) {
				return nil
			}
			return err
		}, check: func(w *world) {
			w.answers(idA, 0, "mine:1")
			w.is("b/1.so", catalog.ObjectKept)
		}},
	{name: "load of two owners from another store", setup: func(w *world) {
		w.from = newWorld(w.t)
		conflicting(w.from)
		w.dir, w.src, w.owners = w.from.dir, w.from.src, w.from.owners
	},
		act: func(ctx context.Context, w *world) error {
			_, err := transfer.Copy(ctx, transfer.Options{From: transfer.Store{Store: w.from.store, Keyring: w.from.ring}, To: transfer.Store{Store: w.o.Store, Keyring: w.o.Keyring}, Owner: "copy", Now: func() time.Time { return w.now }})
			return err
		}, check: func(w *world) {
			w.answers(idA, 0, "mine:1")
			w.is("b/1.so", catalog.ObjectConflict)
		}},
	{name: "compact", lake: true, setup: severalRuns,
		act: func(ctx context.Context, w *world) error {
			_, err := projection.Compact(ctx, projection.CompactOptions{Stores: w.lakeProjection(), Grace: 1, Now: func() time.Time { return w.now }})
			return err
		}},
	{name: "forget", lake: true, setup: severalRuns,
		act: func(ctx context.Context, w *world) error {
			_, err := forget.Run(ctx, forget.Options{Stores: w.lakeProjection(), Artifacts: []symbol.ID{elfID(idA)}, Now: func() time.Time { return w.now }})
			return err
		}, check: func(w *world) { w.answers(idA, 0, "no artifact") }},
	{name: "shred", lake: true, setup: severalRuns,
		act: func(ctx context.Context, w *world) error {
			_, err := keys.Shred(ctx, keys.ShredOptions{Store: w.o.Store, Keyring: w.o.Keyring, Lake: w.o.Lake, Artifacts: []symbol.ID{elfID(idA)}, Alone: true, Now: func() time.Time { return w.now }})
			return err
		}},
	{name: "rotate", lake: true, setup: severalRuns,
		act: func(ctx context.Context, w *world) error {
			_, err := keys.Rotate(ctx, keys.RotateOptions{Store: w.o.Store, Keyring: w.o.Keyring, Now: func() time.Time { return w.now }})
			return err
		}},
	{name: "reseal", lake: true, setup: severalRuns,
		act: func(ctx context.Context, w *world) error {
			_, err := keys.Reseal(ctx, keys.ResealOptions{Store: w.o.Store, Keyring: w.o.Keyring, Lake: w.o.Lake, Artifacts: []symbol.ID{elfID(idA)}, MemoryBytes: 1 << 20,
				Scratch: w.o.Scratch, Owner: "reseal", Now: func() time.Time { return w.now }})
			return err
		}, check: func(w *world) { w.answers(idA, 0, "new:1") }},
	{name: "rollback", lake: true, setup: severalRuns, either: true, again: ingestAll,
		act: func(ctx context.Context, w *world) error {
			_, err := upkeep.Rollback(ctx, w.lakeProjection(), elfID(idA))
			return err
		}},
	{name: "rollback to another object", lake: true, either: true, again: ingestAll,
		setup: func(w *world) {
			w.put("1.so", "FAKE\nid "+idA+"\nrank 3\nf 0 8 worse 1\n")
			w.run()
			w.put("2.so", "FAKE\nid "+idA+"\nf 0 8 better 1\n")
			w.run()
		},
		act: func(ctx context.Context, w *world) error {
			_, err := upkeep.Rollback(ctx, w.lakeProjection(), elfID(idA))
			return err
		}},
	{name: "gc", lake: true, setup: severalRuns,
		act: func(ctx context.Context, w *world) error {
			_, err := gc.Run(ctx, gc.Options{Store: w.o.Store, Keyring: w.o.Keyring, Grace: 1, Alone: true, Now: func() time.Time { return w.now.Add(2 * record.LeaseTime) }})
			return err
		}},
	{name: "load from another store", setup: func(w *world) {
		w.from = filled(w.t, mem.New())
		w.from.put("x/a.so", "FAKE\nid "+idC+"\nneed dwo:77 sub/part.dwo\nf 0 8 main 1\n")
		w.from.run()
		w.from.put("z/elsewhere", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
		w.from.o.Deadline = w.from.now // it is listed, and not taken
		w.from.run()
		w.dir, w.src = w.from.dir, w.from.src
	},
		act: func(ctx context.Context, w *world) error {
			_, err := transfer.Copy(ctx, transfer.Options{From: transfer.Store{Store: w.from.store, Keyring: w.from.ring}, To: transfer.Store{Store: w.o.Store, Keyring: w.o.Keyring}, Owner: "copy", Now: func() time.Time { return w.now }})
			return err
		}, check: func(w *world) {
			w.answers(idA, 16, "one:5")
			w.answers(idC, 8, "part:2")
		}},
}

// twoOwners gives the folders a and b to two teams, and trusts the first more.
func twoOwners(w *world) {
	w.put("a/readme", "hello")
	w.put("b/readme", "hello")
	w.owners = []discover.Source{
		{Bucket: folder(w.t, filepath.Join(w.dir, "a")), Owner: teamA.Owner, Rank: teamA.Rank},
		{Bucket: folder(w.t, filepath.Join(w.dir, "b")), Owner: teamB.Owner, Rank: teamB.Rank},
	}
}

func ingestOwners(w *world) {
	w.t.Helper()
	if err := ingestAll(w.t.Context(), w); err != nil {
		w.t.Fatal(err)
	}
}

// conflicting leaves an object of team-b in conflict.
func conflicting(w *world) {
	twoOwners(w)
	w.put("a/1.so", mine)
	w.put("b/1.so", forged)
	ingestOwners(w)
	w.is("b/1.so", catalog.ObjectConflict)
}

// settledAlready: a conflict of the object was accepted before, and the next ingest ends that.
func settledAlready(ctx context.Context, c *catalog.Catalog, url string) bool {
	is := true
	err := c.Conflicts.Each(ctx, url, func(x *catalog.Conflict) error {
		is = is && !x.Accepted.IsZero()
		return nil
	})
	return err == nil && is
}

// severalRuns leaves artifacts with a previous and an older load, and a lake of several files.
func severalRuns(w *world) {
	w.src.Names = "{app}/{build}/**"
	for _, line := range []string{"older", "old", "new"} {
		w.put("shop/1/a.so", "FAKE\nid "+idA+"\nf 0 8 "+line+" 1\n")
		w.put("shop/1/b.so", "FAKE\nid "+idB+"\nf 0 8 "+line+" 1\n")
		w.now = w.now.Add(time.Second)
		w.run()
	}
}

// lakeOf opens the lake of l's folder for a process; m nil: the process lives.
func (w *world) lakeOf(l sinks.Lake, m *sinktest.Mortal) sinks.Lake {
	if l == nil {
		return nil
	}
	var b bucket.Bucket = folder(w.t, w.lakeDir)
	heads := catalog.New(w.store.Catalog, w.ring).Lakes
	if m != nil {
		b, heads = m.Bucket(b), catalog.New(m.Store(w.store).Catalog, w.ring).Lakes
	}
	return lake.Open(lake.Options{Bucket: b, Heads: heads, Profile: sinks.LakePlain, Scratch: w.o.Scratch, Go: func(f func()) { go f() }, Now: func() time.Time { return w.now },
		Keys: sinks.LakeKeys{Names: []byte("names"), Newest: 1, Master: func(context.Context, uint32) ([]byte, error) { return bytes.Repeat([]byte{1}, 32), nil }}})
}

func (w *world) lakeProjection() projection.Stores {
	return projection.Stores{Store: w.o.Store, Keyring: w.o.Keyring, Lake: w.o.Lake}
}

// begin makes the world of a scenario, with all that is there before.
func (s *scenario) begin(t *testing.T, open func() *sinks.Store) *world {
	w := worldOf(t, open())
	w.o.Workers, w.o.Process, w.now = 1, "mortal", time.Now().UTC() // files of the lake are as old as the system says
	if s.lake {
		w.lakeDir = t.TempDir()
		w.o.Lake = w.lakeOf(plainLake(t, w.lakeDir), nil)
	}
	s.setup(w)
	w.now = w.now.Add(time.Minute)
	return w
}

// die runs the scenario's work on a store that dies, and brings w back as the next process finds it.
func (s *scenario) die(w *world, m *sinktest.Mortal) error {
	living := w.o
	w.dying = m
	w.o.Store, w.o.Lake = m.Store(w.store), w.lakeOf(w.o.Lake, m)
	w.o.Keyring = w.reopened(w.o.Store)
	err := s.act(w.t.Context(), w)
	w.o = living
	w.o.Lake = w.lakeOf(w.o.Lake, nil)
	w.ring = w.reopened(w.store)
	w.o.Keyring, w.cat = w.ring, catalog.New(w.store.Catalog, w.ring)
	w.now = w.now.Add(time.Minute)
	return err
}

// settle runs what an operator runs afterwards: the same again, an ingest, gc and compact.
func (s *scenario) settle(w *world) {
	w.t.Helper()
	again := s.act
	if s.again != nil {
		again = s.again
	}
	if err := again(w.t.Context(), w); err != nil {
		w.t.Fatal(err)
	}
	if err := ingestAll(w.t.Context(), w); err != nil {
		w.t.Fatal(err)
	}
	w.verifyWithLake()
	w.now = w.now.Add(100 * time.Hour)
	w.gc(gc.Options{})
	if w.o.Lake != nil {
		if _, err := projection.Compact(w.t.Context(), projection.CompactOptions{Stores: w.lakeProjection(), Grace: 1, Now: func() time.Time { return w.now }}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) verifyWithLake() string {
	w.t.Helper()
	r, err := verify.Run(w.t.Context(), verify.Options{Store: w.store, Keyring: w.ring, Lake: w.o.Lake, Alive: w.o.Alive, Now: func() time.Time { return w.now }})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range r.Problems {
		w.t.Errorf("%s: %s", p.Where, p.Error)
	}
	if r.Waiting > 0 {
		w.t.Errorf("%d are waited for", r.Waiting)
	}
	return r.Digest
}

// inventory is what a store's catalog holds, without what differs from run to run: the ledger, names, and how many
// records there are of each kind.
func (w *world) inventory() string {
	w.t.Helper()
	counts := map[string]int{}
	err := w.store.Catalog.List(w.t.Context(), sinks.Span{}, func(r sinks.Row) error {
		if r.Key[0] != 'k' && r.Key[0] != 't' { // one more a rotation; an event may be noted twice
			counts["records "+string(r.Key[:1])]++
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	var list []string
	for what, n := range counts {
		list = append(list, fmt.Sprintf("%s: %d", what, n))
	}
	err = w.cat.Ledger.Each(w.t.Context(), "", func(o *catalog.Object) error {
		line := fmt.Sprintf("%s %s %s %d %d", strings.TrimPrefix(o.URL, w.src.Bucket.URL("")), o.State, o.Reason, o.Attempts, o.Interrupted)
		for _, a := range o.Artifacts {
			line += " " + a.ID.String()[:4] + ":" + a.Member + ":" + a.Outcome
		}
		list = append(list, strings.ReplaceAll(line, w.src.Bucket.URL(""), ""))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	err = w.cat.Artifacts.Each(w.t.Context(), func(r *catalog.Record) error {
		line := fmt.Sprintf("%s %s published %t", r.ID, r.State, r.Published != nil)
		for _, n := range r.Names {
			line += " " + n.Text
		}
		list = append(list, line)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// noOrphans fails for loads that no record names, entries of loads that are no more, and files that the lake does not name.
func (w *world) noOrphans() {
	w.t.Helper()
	named := 0
	err := w.cat.Artifacts.Each(w.t.Context(), func(r *catalog.Record) error {
		for _, l := range []*row.Loaded{r.Published, r.Previous} {
			if l != nil && len(l.WrappedKey) > 0 {
				named++
			}
		}
		if len(r.Progress) > 0 {
			w.t.Errorf("artifact %s: %+v is left after gc", r.ID, r.Progress)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if stored := w.loads(); stored != named {
		w.t.Errorf("the store has the rows of %d loads, its records name %d", stored, named)
	}
	if w.o.Lake == nil {
		return
	}
	state, err := w.lakeOf(w.o.Lake, nil).(*lake.Lake).State(w.t.Context(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	if state.Number == 0 {
		w.t.Fatal("no entry in the log")
	}
	tables, err := w.lakeOf(w.o.Lake, nil).Publish(w.t.Context(), sinks.LakePublish{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, t := range tables {
		if t.Err != nil {
			w.t.Errorf("an Iceberg table is behind: %v", t.Err)
		}
	}
	err = folder(w.t, w.lakeDir).List(w.t.Context(), "", "", func(e bucket.Entry) error {
		top, _, _ := strings.Cut(e.Key, "/")
		if _, kept := state.Files[e.Key]; !kept && !strings.HasPrefix(top, "_") && top != "iceberg" { // its compaction sees to these
			w.t.Errorf("the lake's file %s is left over", e.Key)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// aftermath is what a scenario leaves.
type aftermath struct{ digest, inventory string }

// allDeaths, when set, tries every death and every image of a disk. Without it, some of each scenario are tried.
const allDeaths = "SYMLAKE_CRASH_ALL"

// A process that dies at any of its writes, before or after the write takes effect, loses nothing: what an operator runs
// next leaves the store and the lake as an undisturbed run does.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	var points atomic.Int64
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			stride := 1
			switch {
			case os.Getenv(allDeaths) != "":
			case testing.Short():
				stride = 12
			case s.lake: // its tables are many small files
				stride = 5
			}
			points.Add(int64(s.dieEverywhere(t, mem.New, stride)))
		})
	}
	t.Cleanup(func() { t.Logf("%d deaths", points.Load()) })
}

// dieEverywhere tries the deaths at every stride-th write, on stores that open makes, and counts them.
func (s *scenario) dieEverywhere(t *testing.T, open func() *sinks.Store, stride int) (points int) {
	clean := s.begin(t, open)
	if err := s.die(clean, &sinktest.Mortal{}); err != nil {
		t.Fatal(err)
	}
	s.settle(clean)
	right := []aftermath{{clean.verifyWithLake(), clean.inventory()}}
	if s.either {
		undone := s.begin(t, open)
		s.settle(undone)
		right = append(right, aftermath{undone.verifyWithLake(), undone.inventory()})
	}
	for _, after := range []bool{false, true} {
		for at := 1; ; at += stride {
			w := s.begin(t, open)
			m := &sinktest.Mortal{At: at, After: after}
			s.die(w, m)
			s.settle(w)
			if got := (aftermath{w.verifyWithLake(), w.inventory()}); !slices.Contains(right, got) {
				t.Errorf("digest %s, want %s; the catalog (-want +got)\n%s", got.digest, right[0].digest, cmp.Diff(right[0].inventory, got.inventory))
			}
			w.noOrphans()
			if s.check != nil {
				s.check(w)
			}
			if t.Failed() {
				t.Fatalf("death at write %d, after %t", at, after)
			}
			if !m.Dead() {
				break
			}
			points++
		}
	}
	return points
}
