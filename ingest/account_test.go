package ingest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/outbox"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/sinktest"
)

// toldWorld is a world with two good objects, one in demand, a broken one and one
// that no format knows.
func toldWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.o.Host, w.o.Process = "host", "process"
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\nf 8 16 c 2\n")
	w.put("broken.so", "FAKE\nbroken\n")
	w.put("notes.txt", "nothing")
	var d wanted.Demand
	d.Missing(idA, "a.so", "tombstone", w.now)
	if err := d.Note(t.Context(), w.cat, w.now); err != nil {
		t.Fatal(err)
	}
	return w
}

// tally is the sum of all reports.
type tally struct {
	loaded, rejected, skipped, artifacts, wanted int
	ranges                                       uint64
	ids                                          []string
	urls                                         []string
}

func (a *tally) add(r *report.Report) {
	if r == nil {
		return
	}
	a.loaded += r.Objects.Loaded
	a.rejected += r.Objects.Rejected
	a.skipped += r.Objects.Skipped[ledger.ReasonUnknown]
	a.artifacts += r.Artifacts
	a.ranges += r.Ranges
	a.wanted += len(r.Wanted)
	a.ids = append(a.ids, r.IDs...)
	for _, x := range r.Rejected {
		a.urls = append(a.urls, x.URL)
	}
	a.add(r.Earlier)
}

// whole fails unless everything in a toldWorld was told exactly once.
func (a *tally) whole(t *testing.T, w *world, when string, args ...any) {
	t.Helper()
	slices.Sort(a.ids)
	ids := []string{symbol.NewID(symbol.ELF, idA).String(), symbol.NewID(symbol.ELF, idB).String()}
	slices.Sort(ids)
	if a.loaded != 2 || a.rejected != 1 || a.skipped != 1 || a.artifacts != 2 || a.ranges != 3 || a.wanted != 1 || !slices.Equal(a.ids, ids) ||
		!slices.Equal(a.urls, []string{w.src.Bucket.URL("broken.so")}) {
		t.Errorf(when+": told %+v", append(args, *a)...)
	}
}

// outbox lists the accounts in a world's store.
func (w *world) outbox() (all []*catalog.Account) {
	w.t.Helper()
	if err := w.cat.Accounts.Each(w.t.Context(), func(a *catalog.Account) error { all = append(all, a); return nil }); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// tell tells a run's report as a job does.
func (w *world) tell(r *report.Report, err error) *report.Report {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	telling, err := Outbox(w.o).Tell(w.t.Context(), r)
	if err == nil {
		err = telling.Done(w.t.Context())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// A process that dies at any write of the catalog has told nothing. The next run tells all that
// both did, once.
func TestToldAfterDeath(t *testing.T) {
	for _, arrives := range []bool{false, true} {
		for _, inLake := range []bool{false, true} {
			for k := 0; ; k++ {
				w := toldWorld(t)
				if inLake {
					w.o.Lake = plainLake(t, t.TempDir())
				}
				m := &sinktest.Mortal{At: k + 1, After: arrives}
				o := w.o
				o.Store = m.Store(w.store)
				r, err := Run(t.Context(), []discover.Source{w.src}, o) // a dead process returns nothing
				if !m.Dead() {
					if k < 20 {
						t.Fatalf("the run wrote %d times", k)
					}
					var told tally
					told.add(w.tell(r, err))
					told.whole(t, w, "no death")
					break
				}
				var told tally
				w.o.Run = "next"
				told.add(w.tell(Run(t.Context(), []discover.Source{w.src}, w.o)))
				told.whole(t, w, "death at write %d (arrives: %v, lake: %v)", k, arrives, inLake)
				if left := w.outbox(); len(left) > 0 {
					t.Errorf("death at write %d: %d accounts are left", k, len(left))
				}
				if list, err := wanted.All(t.Context(), w.cat); err != nil || len(list) > 0 {
					t.Errorf("death at write %d: %v wanted, %v", k, list, err)
				}
			}
		}
	}
}

// What runs leave for later is told once: by symlake report, or by a run that tells.
func TestToldLater(t *testing.T) {
	w := toldWorld(t)
	w.o.TellLater, w.o.Limit = true, 2
	w.run()
	w.o.Run, w.o.Limit, w.now = "second", 0, w.now.Add(time.Hour)
	w.run()
	pending, err := Outbox(w.o).Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var told tally
	told.add(pending.Report)
	told.whole(t, w, "pending")
	if r := pending.Report; len(r.Accounts) != 2 || !slices.Equal(r.Runs, []string{"run", "second"}) || r.Bytes.Read == 0 || r.Bytes.Stored == 0 {
		t.Errorf("%+v", r)
	}

	// Another process leaves them to this one while it tells them, and takes them when it has died.
	claiming := w.o
	claiming.TellLater = false
	if pending, err = Outbox(claiming).Pending(t.Context()); err != nil || len(pending.Report.Accounts) != 2 {
		t.Fatalf("%+v, %v", pending.Report, err)
	}
	other := w.o
	other.TellLater, other.Process, other.Run = false, "other", "third"
	other.Alive = func(string, string) (alive, known bool) { return true, true }
	if p, err := Outbox(other).Pending(t.Context()); err != nil || p.Report != nil {
		t.Errorf("%+v, %v", p.Report, err)
	}
	other.Alive = func(string, string) (alive, known bool) { return false, true }
	r, err := Run(t.Context(), []discover.Source{w.src}, other)
	if err != nil {
		t.Fatal(err)
	}
	telling, err := Outbox(other).Tell(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	told = tally{}
	told.add(r)
	told.whole(t, w, "the next run")
	// It could not write its report: what it claimed is given back.
	if err := telling.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.Alive, other.Process = func(string, string) (alive, known bool) { return true, true }, "fourth"
	if pending, err = Outbox(other).Pending(t.Context()); err != nil || pending.Report == nil {
		t.Fatalf("%+v, %v", pending, err)
	}
	if err := outbox.Acknowledge(t.Context(), w.cat, append(pending.Report.Accounts, pending.Report.Accounts[0])); err != nil {
		t.Fatal(err)
	}
	if left := w.outbox(); len(left) > 0 {
		t.Errorf("%d accounts are left", len(left))
	}
	if pending, err = Outbox(w.o).Pending(t.Context()); err != nil || pending.Report != nil {
		t.Errorf("%+v, %v", pending.Report, err)
	}
	if err := outbox.Acknowledge(t.Context(), w.cat, []string{"monday"}); err == nil {
		t.Error("monday is an account")
	}
}

// A report sums all that the attempts of its run did, also when each of them was told.
func TestAttempts(t *testing.T) {
	w := toldWorld(t)
	w.o.Attempts, w.o.Limit = true, 1
	w.put("z.so", "FAKE\nid "+idC+"\nfail\n")
	var read int64
	var r *report.Report
	for range 5 {
		var err error
		r, err = Run(t.Context(), []discover.Source{w.src}, w.o)
		read += r.Bytes.Read
		w.tell(r, err)
	}
	var told tally
	told.add(r)
	told.whole(t, w, "the fifth attempt")
	if r.Attempts != 5 || r.Bytes.Read != read || r.Objects.New != 5 || r.Objects.Failed != 1 || r.Objects.Pending != 0 || r.Earlier != nil {
		t.Errorf("%+v", r)
	}
	// An object that failed and was loaded later did not fail.
	w.put("z.so", "FAKE\nid "+idC+"\nf 0 8 z 1\n")
	r = w.tell(Run(t.Context(), []discover.Source{w.src}, w.o))
	if r.Objects.Failed != 0 || len(r.Failed) != 0 || r.Objects.Loaded != 3 || r.Artifacts != 3 || r.Ranges != 4 {
		t.Errorf("%+v", r)
	}
	// The next run does not tell it again. A day later its accounts are gone.
	w.o.Run, w.now = "next", w.now.Add(25*time.Hour)
	if r := w.tell(Run(t.Context(), []discover.Source{w.src}, w.o)); r.Earlier != nil || r.Objects.Loaded != 0 || r.Attempts != 0 {
		t.Errorf("%+v", r)
	}
	if left := w.outbox(); len(left) > 0 {
		t.Errorf("%d accounts are left", len(left))
	}
}

// A run that finds nothing new writes no account.
func TestNothingToTell(t *testing.T) {
	w := toldWorld(t)
	w.tell(Run(t.Context(), []discover.Source{w.src}, w.o))
	if r := w.tell(Run(t.Context(), []discover.Source{w.src}, w.o)); r.Account != "" || r.Earlier != nil {
		t.Errorf("%+v", r)
	}
}

// An object that is derived again when its companion comes is told once, wherever a process dies.
func TestCompanionTold(t *testing.T) {
	for k := 0; ; k++ {
		w := newWorld(t)
		w.put("x/a.so", "FAKE\nid "+idA+"\nneed dwo:77 sub/part.dwo\nf 0 8 main 1\n")
		w.put("z/elsewhere", "FAKE\ncompanion dwo:77\nf 8 16 part 2\n")
		m := &sinktest.Mortal{At: k + 1}
		o := w.o
		o.Store = m.Store(w.store)
		r, err := Run(t.Context(), []discover.Source{w.src}, o)
		var told tally
		died := m.Dead()
		if died {
			w.o.Run = "next"
			r, err = Run(t.Context(), []discover.Source{w.src}, w.o)
		}
		w.tell(r, err)
		told.add(r)
		part := r.Objects.Skipped[ledger.ReasonCompanion]
		if r.Earlier != nil {
			part += r.Earlier.Objects.Skipped[ledger.ReasonCompanion]
		}
		if told.loaded != 1 || part != 1 || told.artifacts < 1 || told.artifacts > 3 || told.rejected != 0 {
			t.Errorf("death at write %d: told %+v, and of %d companions", k, told, part)
		}
		w.answers(idA, 8, "part:2")
		if !died {
			return
		}
	}
}

// An account that cannot be read stops no run. It is an error of telling until it is given up.
func TestDamagedAccount(t *testing.T) {
	w := toldWorld(t)
	id := row.NewWorkerID()
	if err := w.store.Catalog.Swap(t.Context(), append([]byte{'r'}, id[:]...), nil, []byte("damage")); err != nil {
		t.Fatal(err)
	}
	r := w.run()
	if r.Objects.Loaded != 2 {
		t.Fatalf("%+v", r.Objects)
	}
	if _, err := Outbox(w.o).Tell(t.Context(), r); err == nil || !strings.Contains(err.Error(), id.String()) || !strings.Contains(err.Error(), "report --ack") {
		t.Errorf("telling gave %v", err)
	}
	v, err := verify.Run(t.Context(), verify.Options{Store: w.store, Keyring: w.ring})
	if err != nil || len(v.Problems) != 1 || v.Problems[0].Where != "outbox" {
		t.Errorf("%+v, %v", v.Problems, err)
	}
	if err := outbox.Acknowledge(t.Context(), w.cat, []string{id.String()}); err != nil {
		t.Fatal(err)
	}
	var told tally
	told.add(w.tell(r, nil))
	told.whole(t, w, "after giving the account up")
	w.verify()
}

// What an isolated process does is its parent's to tell, also when the parent dies before it reads the report.
func TestIsolatedTold(t *testing.T) {
	w := toldWorld(t)
	parent := row.NewWorkerID()
	if err := w.cat.Accounts.Swap(t.Context(), nil, &catalog.Account{ID: parent, Run: "parent", Started: w.now}); err != nil {
		t.Fatal(err)
	}
	o := w.o
	o.Isolated, o.Teller, o.Only = true, parent, []string{w.src.Bucket.URL("a.so"), w.src.Bucket.URL("broken.so")}
	if r, err := Run(t.Context(), []discover.Source{w.src}, o); err != nil || r.Account != "" || r.Objects.Loaded != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	var told tally
	r := w.tell(Run(t.Context(), []discover.Source{w.src}, w.o))
	told.add(r)
	told.whole(t, w, "a parent that died")
	if r.Earlier == nil || !slices.Equal(r.Earlier.Runs, []string{"parent"}) || r.Earlier.Recounted != 1 {
		t.Errorf("%+v", r.Earlier)
	}
}

// An object that a process loaded before it died is told also if another process derives it again while the dead one's
// account is counted.
func TestToldWhileDerivedAgain(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.tell(Run(t.Context(), []discover.Source{w.src}, w.o))
	dead, living := row.NewWorkerID(), &catalog.Worker{ID: row.NewWorkerID(), Host: "living", Lease: time.Hour}
	if err := w.cat.Workers.Swap(t.Context(), nil, living); err != nil {
		t.Fatal(err)
	}
	if err := w.cat.Accounts.Swap(t.Context(), nil, &catalog.Account{ID: dead, Run: "dead", Started: w.now}); err != nil {
		t.Fatal(err)
	}
	old := w.object("a.so")
	at := *old
	at.By, at.State, at.Owner, at.Again = dead, catalog.ObjectLoading, living.ID, true
	if err := w.cat.Ledger.Swap(t.Context(), old, &at); err != nil {
		t.Fatal(err)
	}
	w.o.Alive = func(host, _ string) (alive, known bool) { return host == living.Host, true }
	r := w.tell(Run(t.Context(), []discover.Source{w.src}, w.o))
	if r.Earlier == nil || r.Earlier.Objects.Loaded != 1 || r.Objects.Loaded != 0 {
		t.Fatalf("%+v, earlier %+v", r.Objects, r.Earlier)
	}
	// The process that derives it again dies, too: the object is finished, and not told twice.
	w.o.Alive = func(string, string) (alive, known bool) { return false, true }
	r = w.tell(Run(t.Context(), []discover.Source{w.src}, w.o))
	if r.Objects.Loaded != 0 || r.Earlier != nil {
		t.Fatalf("%+v, earlier %+v", r.Objects, r.Earlier)
	}
	w.is("a.so", catalog.ObjectLoaded)
}
