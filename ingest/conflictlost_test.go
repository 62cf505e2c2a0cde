package ingest

import (
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/upkeep/forget"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/keys"
)

// TestAcceptDied: a process that dies between accepting a conflict and putting its object back leaves the rest
// to the next ingest of the source.
func TestAcceptDied(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.ingest(0)
	w.ingest(1)
	old := w.conflicts()[0]
	accepted := *old
	accepted.Accepted = w.now
	if err := w.cat.Conflicts.Swap(t.Context(), old, &accepted); err != nil {
		t.Fatal(err)
	}
	w.ingest(0)
	w.answers(idA, 0, "mine:1")
	w.ingest(1)
	w.answers(idA, 0, "forged:1")
	if len(w.conflicts()) > 0 {
		t.Error("the conflict is there still")
	}
	w.verify()
	if r := w.ingest(0, 1); r.Objects.New > 0 {
		t.Errorf("%+v", r.Objects)
	}
}

// TestNamesakesInConflict: two members of one name have one conflict, and end with it.
func TestNamesakesInConflict(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/up.zip", zipped(t, "lib.so", forged, "lib.so", forged+"f 16 24 more 3\n"))
	w.ingest(0)
	w.ingest(1)
	w.verify()
	var told []string
	if err := conflicts.Dismiss(t.Context(), w.cat, w.url("b/up.zip"), w.noted(&told)); err != nil {
		t.Fatal(err)
	}
	w.verify()
	w.ingest(0, 1)
	w.verify()
}

// TestConflictOfTheForgotten: a forgotten artifact has no conflict any more, before gc and after it.
func TestConflictOfTheForgotten(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.ingest(0)
	w.ingest(1)
	if _, err := forget.Run(t.Context(), forget.Options{Stores: w.projection(), Artifacts: []symbol.ID{elfID(idA)}}); err != nil {
		t.Fatal(err)
	}
	w.verify()
	w.ingest(0, 1)
	w.verify()
	o := w.o
	w.o.Force = true
	r := w.ingest(1)
	t.Logf("%+v", r.Objects)
	w.verify()
	r = w.ingest(0)
	t.Logf("%+v %v", r.Objects, r.Conflicts)
	w.o = o
	w.verify()
	w.gc(gc.Options{})
	w.verify()
	w.ingest(0, 1)
	w.verify()
}

// TestShredInConflict: keys that were destroyed end a conflict.
func TestShredInConflict(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.ingest(0)
	w.ingest(1)
	if _, err := keys.Shred(t.Context(), keys.ShredOptions{Store: w.store, Keyring: w.ring, Artifacts: []symbol.ID{elfID(idA)}, Now: w.o.Now}); err != nil {
		t.Fatal(err)
	}
	w.verify()
	var told []string
	t.Log(conflicts.Accept(t.Context(), w.cat, w.url("b/lib.so"), w.now, w.noted(&told)))
	w.ingest(0, 1)
	w.verify()
	w.gc(gc.Options{})
	w.verify()
	w.ingest(0, 1)
	w.verify()
}
