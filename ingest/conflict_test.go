package ingest

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/transfer"
	"github.com/symlake/symlake/ingest/upkeep"
	"github.com/symlake/symlake/ingest/upkeep/forget"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

func (w *teams) noted(kinds *[]string) func(*catalog.Conflict) error {
	return func(c *catalog.Conflict) error {
		*kinds = append(*kinds, c.KeptOut.URL)
		return nil
	}
}

// TestAccept: a person decides for the artifact that was kept out; the next ingest publishes it, and its source has the
// artifact from then on.
func TestAccept(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/up.zip", zipped(t, "lib.so", forged, "libb.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n"))
	w.ingest(0)
	if r := w.ingest(1); r.Conflicted != 1 || r.Objects.Loaded != 1 {
		t.Fatalf("%+v", r)
	}
	w.is("b/up.zip", catalog.ObjectLoaded) // one of its artifacts is
	url := w.url("b/up.zip")
	var told []string
	if err := conflicts.Accept(t.Context(), w.cat, w.url("a/lib.so"), w.now, w.noted(&told)); !errors.Is(err, conflicts.ErrNone) {
		t.Errorf("%v", err)
	}
	if err := conflicts.Accept(t.Context(), w.cat, url, w.now, w.noted(&told)); err != nil {
		t.Fatal(err)
	}
	w.is("b/up.zip", catalog.ObjectPending)
	w.answers(idA, 0, "mine:1")
	if !slices.Equal(told, []string{url}) {
		t.Error(told)
	}
	w.verify()
	if r := w.ingest(0, 1); r.Conflicted != 0 || r.Artifacts != 1 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "forged:1")
	w.is("b/up.zip", catalog.ObjectLoaded)
	w.is("a/lib.so", catalog.ObjectKept)
	if c := w.record(idA).Published.Claimed(); c != teamB || len(w.conflicts()) != 0 {
		t.Errorf("it belongs to %+v, %d conflicts", c, len(w.conflicts()))
	}
	w.verify()
	if _, err := upkeep.Rollback(t.Context(), w.projection(), symbol.NewID(symbol.ELF, idA)); err != nil {
		t.Fatal(err)
	}
	w.answers(idA, 0, "mine:1")
	w.verify()
}

// TestAcceptedContent: other content in the place of the accepted one is kept out.
func TestAcceptedContent(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.ingest(0)
	w.ingest(1)
	var told []string
	if err := conflicts.Accept(t.Context(), w.cat, w.url("b/lib.so"), w.now, w.noted(&told)); err != nil {
		t.Fatal(err)
	}
	w.put("b/lib.so", forged+"f 16 24 worse 3\n")
	if r := w.ingest(1); r.Conflicted != 1 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "mine:1")
	list := w.conflicts()
	if len(list) != 1 || !list[0].Accepted.IsZero() {
		t.Errorf("%+v", list)
	}
	w.is("b/lib.so", catalog.ObjectConflict)
	w.verify()
}

// TestDismiss: the published load stays, and nothing is open any more.
func TestDismiss(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.ingest(0)
	w.ingest(1)
	var told []string
	if err := conflicts.Dismiss(t.Context(), w.cat, w.url("b/lib.so"), w.noted(&told)); err != nil || len(told) != 1 {
		t.Fatal(told, err)
	}
	if err := conflicts.Dismiss(t.Context(), w.cat, w.url("b/lib.so"), w.noted(&told)); !errors.Is(err, conflicts.ErrNone) {
		t.Error(err)
	}
	w.is("b/lib.so", catalog.ObjectKept)
	if r := w.ingest(0, 1); r.Conflicted != 0 || r.Objects.New != 0 || len(w.conflicts()) != 0 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "mine:1")
	w.verify()
}

// TestConflictEnds: an object that no longer claims another's artifact has no conflict any more.
func TestConflictEnds(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.ingest(0)
	w.ingest(1)
	w.put("b/lib.so", strings.Replace(forged, idA, idB, 1))
	if r := w.ingest(1); r.Conflicted != 0 || len(w.conflicts()) != 0 {
		t.Errorf("%+v", r)
	}
	w.is("b/lib.so", catalog.ObjectLoaded)
	w.verify()
}

// TestDigestOfConflict: the digest equals the one of the load that would have been published.
func TestDigestOfConflict(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.ingest(0)
	digest := w.record(idA).Published.Digest
	w.put("b/lib.so", forged)
	w.ingest(1)
	if c := w.conflicts()[0]; c.Kept.Digest != hex.EncodeToString(digest[:]) {
		t.Error(c.Kept.Digest)
	}
}

// TestCopyOwners: a copy keeps owners and ranks, and brings open conflicts over; what the target's owner holds
// stays, forced or not, and is a conflict there.
func TestCopyOwners(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.ingest(0)
	w.ingest(1)
	to := &teams{world: w.target(fileStore(t)), sources: w.sources}
	to.now = w.now
	if r := w.copyTo(to.world, nil); r.Artifacts != (transfer.Counts{Seen: 1, Copied: 1}) {
		t.Fatalf("%+v", r.Artifacts)
	}
	if p := to.record(idA).Published; p.Claimed() != teamA || p.Layout.Table != w.record(idA).Published.Layout.Table {
		t.Errorf("%+v", p)
	}
	to.is("b/lib.so", catalog.ObjectConflict)
	if n := len(to.conflicts()); n != 1 {
		t.Errorf("%d conflicts", n)
	}
	to.verify()
	if r := to.ingest(0, 1); r.Objects.New != 0 {
		t.Errorf("%+v", r)
	}

	theirs := &teams{world: w.target(fileStore(t)), sources: w.sources}
	theirs.now = w.now
	theirs.ingest(1)
	for _, force := range []bool{false, true} {
		to := &teams{world: w.target(fileStore(t)), sources: w.sources}
		w.copyTo(to.world, nil)
		if err := conflicts.Dismiss(t.Context(), to.cat, w.url("b/lib.so"), func(*catalog.Conflict) error { return nil }); err != nil {
			t.Fatal(err)
		}
		r := theirs.copyTo(to.world, func(o *transfer.Options) { o.Force = force })
		to.answers(idA, 0, "mine:1")
		if r.Artifacts != (transfer.Counts{Seen: 1, Conflicts: 1}) || len(to.conflicts()) != 1 || to.audited("conflict") != 2 {
			t.Errorf("force %v: %+v, %d conflicts, %d in the audit", force, r.Artifacts, len(to.conflicts()), to.audited("conflict"))
		}
		to.is("b/lib.so", catalog.ObjectConflict)
		to.verify()
		if r := theirs.copyTo(to.world, nil); r.Artifacts != (transfer.Counts{Seen: 1, Kept: 1}) {
			t.Errorf("again: %+v", r.Artifacts)
		}
	}

	// The other way round, the owner of the higher rank takes over.
	if r := w.copyTo(theirs.world, nil); r.Artifacts != (transfer.Counts{Seen: 1, Copied: 1}) {
		t.Errorf("%+v", r.Artifacts)
	}
	theirs.answers(idA, 0, "mine:1")
	theirs.verify()
}

// problems are what verify says of the store.
func (w *teams) problems() (list []string) {
	w.t.Helper()
	r, err := verify.Run(w.t.Context(), verify.Options{Store: w.store, Keyring: w.ring})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range r.Problems {
		list = append(list, p.Where+": "+p.Error)
	}
	return list
}

// swap changes a record behind everybody's back.
func (w *teams) swap(id string, edit func(*catalog.Record)) {
	w.t.Helper()
	old := w.record(id)
	next := record.Copy(old, old.ID)
	p := *old.Published
	next.Published = &p
	edit(next)
	if err := w.cat.Artifacts.Swap(w.t.Context(), old, next); err != nil {
		w.t.Fatal(err)
	}
}

// TestVerifyConflicts: verify finds records, ledger and conflicts that do not say the same.
func TestVerifyConflicts(t *testing.T) {
	for _, c := range []struct {
		name, want string
		edit       func(w *teams)
	}{
		{"owner", `has owner "team-b" and rank 1, the conflict says "team-a" and 2`, func(w *teams) {
			w.swap(idA, func(r *catalog.Record) { r.Published.Source.Standing = teamB })
		}},
		{"rank", `has owner "team-a" and rank 0`, func(w *teams) {
			w.swap(idA, func(r *catalog.Record) { r.Published.Source.Rank = 0 })
		}},
		{"published", "it keeps out is published", func(w *teams) {
			theirs := newTeams(t, teamB)
			theirs.put("a/lib.so", forged)
			theirs.ingest(0)
			w.swap(idA, func(r *catalog.Record) {
				r.Published.Source, r.Published.Digest = w.conflicts()[0].KeptOut.Source, theirs.record(idA).Published.Digest
			})
		}},
		{"no record", "no record says with what", func(w *teams) {
			if err := w.cat.Conflicts.Swap(t.Context(), w.conflicts()[0], nil); err != nil {
				t.Fatal(err)
			}
		}},
		{"no entry", "the ledger does not name it", func(w *teams) {
			if err := ledger.ChangeOutcome(t.Context(), w.cat, row.Source{URL: w.url("b/lib.so")}, symbol.NewID(symbol.ELF, idA), ledger.OutcomeConflict, ledger.OutcomeKept); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTeams(t, teamA, teamB)
			w.put("a/lib.so", mine)
			w.put("b/lib.so", forged)
			w.ingest(0)
			w.ingest(1)
			w.verify()
			c.edit(w)
			if list := w.problems(); !slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("%q", list)
			}
		})
	}
}

// TestCollectConflicts: gc removes the conflicts that need no decision any more, and no others.
func TestCollectConflicts(t *testing.T) {
	for _, c := range []struct {
		name string
		left int
		edit func(w *teams)
	}{
		{"open", 1, func(w *teams) {}},
		{"artifact forgotten", 0, func(w *teams) {
			if _, err := forget.Run(t.Context(), forget.Options{Stores: w.projection(), Artifacts: []symbol.ID{symbol.NewID(symbol.ELF, idA)}}); err != nil {
				t.Fatal(err)
			}
		}},
		{"object gone", 0, func(w *teams) {
			if err := os.Remove(filepath.Join(w.dir, "b", "lib.so")); err != nil {
				t.Fatal(err)
			}
			w.ingest(1)
		}},
		{"left behind", 0, func(w *teams) {
			if err := ledger.ChangeOutcome(t.Context(), w.cat, row.Source{URL: w.url("b/lib.so")}, symbol.NewID(symbol.ELF, idA), ledger.OutcomeConflict, ledger.OutcomeKept); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTeams(t, teamA, teamB)
			w.put("a/lib.so", mine)
			w.put("b/lib.so", forged)
			w.ingest(0)
			w.ingest(1)
			c.edit(w)
			for _, dry := range []bool{true, false} {
				r, err := gc.Run(t.Context(), gc.Options{Store: w.store, Keyring: w.ring, DryRun: dry})
				if err != nil || r.Conflicts != 1-c.left {
					t.Errorf("%+v, %v", r, err)
				}
			}
			if n := len(w.conflicts()); n != c.left {
				t.Errorf("%d conflicts are left", n)
			}
			w.verify()
		})
	}
}
