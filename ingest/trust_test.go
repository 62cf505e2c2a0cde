package ingest

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// teams is a world with the folders a, b, … as sources, whose owners and ranks are as given.
type teams struct {
	*world
	sources []Source
}

func newTeams(t *testing.T, standings ...row.Standing) *teams {
	t.Helper()
	w := &teams{world: newWorld(t)}
	for i, s := range standings {
		w.put(string(rune('a'+i))+"/readme", "hello")
		w.sources = append(w.sources, Source{Bucket: folder(t, filepath.Join(w.dir, string(rune('a'+i)))), Owner: s.Owner, Rank: s.Rank})
	}
	return w
}

// ingest runs over the sources with these indexes.
func (w *teams) ingest(of ...int) *Report {
	w.t.Helper()
	var srcs []Source
	for _, i := range of {
		srcs = append(srcs, w.sources[i])
	}
	w.now = w.now.Add(time.Minute)
	r, err := Run(w.t.Context(), srcs, w.o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *teams) url(key string) string { return w.src.Bucket.URL(key) }

// conflicts are those of the catalog.
func (w *teams) conflicts() (list []*row.Conflict) {
	w.t.Helper()
	err := w.cat.Conflicts(w.t.Context(), "", func(c *row.Conflict) error {
		list = append(list, c)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// audited counts the events of a kind.
func (w *teams) audited(what string) (n int) {
	w.t.Helper()
	err := w.cat.Events(w.t.Context(), func(e row.Event) error {
		if e.What == what {
			n++
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

const (
	mine   = "FAKE\nid " + idA + "\ntable T\nf 0 8 mine 1\n"
	forged = "FAKE\nid " + idA + "\ntable T\nf 0 8 forged 1\nf 8 16 more 2\n"
)

var (
	teamA = row.Standing{Owner: "team-a", Rank: 2}
	teamB = row.Standing{Owner: "team-b", Rank: 1}
	peerB = row.Standing{Owner: "team-b", Rank: 2}
)

// TestForeignClaim: another team's upload with my build-id and more lines does not replace my functions, forced
// or not. It is a conflict, told once.
func TestForeignClaim(t *testing.T) {
	for _, other := range []row.Standing{teamB, peerB, {}} {
		t.Run(other.Owner, func(t *testing.T) {
			w := newTeams(t, teamA, other)
			w.put("a/lib.so", mine)
			w.put("b/lib.so", forged)
			w.ingest(0)
			r := w.ingest(1)
			w.answers(idA, 0, "mine:1")
			w.is("b/lib.so", row.ObjectConflict)
			if r.Conflicted != 1 || len(r.Conflicts) != 1 || r.Objects.Conflict != 1 || r.Objects.Loaded != 0 {
				t.Fatalf("%+v", r)
			}
			c := r.Conflicts[0]
			if c.Kept.URL != w.url("a/lib.so") || c.Kept.Standing != teamA || c.KeptOut.URL != w.url("b/lib.so") || c.KeptOut.Standing != other ||
				c.Kept.Ranges != 1 || c.KeptOut.Ranges != 2 || c.Kept.WithLine != 8 || c.KeptOut.WithLine != 16 || c.Kept.Digest == c.KeptOut.Digest || c.KeptOut.ETag == "" {
				t.Errorf("%+v", c)
			}
			if r := w.ingest(0, 1); r.Objects.New != 0 || r.Conflicted != 0 {
				t.Errorf("again: %+v", r)
			}
			w.o.Force = true
			if r := w.ingest(1); r.Conflicted != 1 || r.Objects.Conflict != 1 {
				t.Errorf("forced: %+v", r)
			}
			w.answers(idA, 0, "mine:1")
			if n := len(w.conflicts()); n != 1 || w.audited("conflict") != 1 {
				t.Errorf("%d conflicts, %d in the audit", n, w.audited("conflict"))
			}
			if has(w.record(idA).Names, symbol.Name{Kind: symbol.NameFile, Text: "other.so"}) {
				t.Error("a name of what was kept out")
			}
			w.verify()
		})
	}
}

// TestForeignClaimTogether: the same within one run, where neither is published when the other is read.
func TestForeignClaimTogether(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.o.Workers = 4
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.sources[0].Key, w.sources[1].Key = "lib.so", "lib.so"
	r := w.ingest(1, 0)
	w.answers(idA, 0, "mine:1")
	w.is("b/lib.so", row.ObjectKept) // it was first, and was replaced
	if r.Conflicted != 0 {
		t.Errorf("%+v", r.Conflicts)
	}
	w.verify()
}

// TestPublishedMeanwhile: an artifact that another owner publishes between the reading of an object and its
// publishing is not replaced.
func TestPublishedMeanwhile(t *testing.T) {
	w := newTeams(t, peerB)
	w.put("a/1.so", forged)
	other := newTeams(t, teamA)
	other.put("a/lib.so", mine)
	other.world.store, other.o.Store, other.o.Keyring, other.cat, other.ring = w.store, w.store, w.ring, w.cat, w.ring
	var once sync.Once
	w.o.Span = func(ctx context.Context, stage, _ string) (context.Context, func(error)) {
		if stage == stageWrite { // it was read, and is not published
			once.Do(func() { other.ingest(0) })
		}
		return ctx, func(error) {}
	}
	r := w.ingest(0)
	w.answers(idA, 0, "mine:1")
	if r.Conflicted != 1 || r.Objects.Conflict != 1 {
		t.Errorf("%+v", r)
	}
	w.is("a/1.so", row.ObjectConflict)
	w.verify()
}

// TestHigherRank: a source of a higher rank takes an artifact over, however much less it knows, and keeps it.
func TestHigherRank(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.o.MinQuality = 0.9
	w.put("b/lib.so", forged)
	w.ingest(1)
	w.answers(idA, 0, "forged:1")
	w.put("a/lib.so", mine)
	if r := w.ingest(0); r.Conflicted != 0 || len(r.Held) != 0 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "mine:1")
	w.is("b/lib.so", row.ObjectKept)
	w.put("b/lib.so", forged+"f 16 24 third 3\n")
	if r := w.ingest(1); r.Conflicted != 1 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "mine:1")
	w.verify()
}

// TestSameOwner: between sources of one owner quality decides, as it does where nothing is configured.
func TestSameOwner(t *testing.T) {
	for _, s := range []row.Standing{{}, teamA} {
		lower := s
		lower.Rank--
		w := newTeams(t, s, lower)
		w.put("a/lib.so", mine)
		w.put("b/lib.so", forged)
		w.ingest(0)
		if r := w.ingest(1); r.Conflicted != 0 {
			t.Errorf("%+v", r)
		}
		w.answers(idA, 0, "forged:1")
		w.verify()
	}
}

// TestEqualContent of two owners is no conflict.
func TestEqualContent(t *testing.T) {
	w := newTeams(t, teamA, peerB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", mine)
	w.ingest(0)
	if r := w.ingest(1); r.Conflicted != 0 || r.Objects.Kept != 1 {
		t.Errorf("%+v", r)
	}
	if c := w.record(idA).Published.Claimed(); c != teamA {
		t.Errorf("it belongs to %+v", c)
	}
	w.verify()
}

// pair is a stripped file and its debug file.
func pair(table, code, other string) (stripped, debug string) {
	return "FAKE\nid " + idA + "\nrank 3\ntable " + table + "\ncode " + code + "\nf 0 8 exported\n",
		"FAKE\nid " + idA + "\ntable " + other + "\nf 0 8 whole 7\n"
}

// TestPairOfTwoOwners: a stripped file and its debug file of two owners make one artifact, in any order, and the
// owner who came first, or is trusted more, still has it.
func TestPairOfTwoOwners(t *testing.T) {
	stripped, debug := pair("T", "C", "T")
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", stripped)
	w.put("b/lib.debug", debug)
	w.ingest(0)
	if r := w.ingest(1); r.Conflicted != 0 || r.Objects.Loaded != 1 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "whole:7")
	if c := w.record(idA).Published.Claimed(); c != teamA {
		t.Errorf("it belongs to %+v", c)
	}
	w.put("b/lib.debug", strings.Replace(debug, "table T", "table U", 1)+"f 8 16 forged 8\n")
	if r := w.ingest(1); r.Conflicted != 1 {
		t.Errorf("a changed debug file that does not agree: %+v", r)
	}
	w.answers(idA, 0, "whole:7")
	w.put("b/lib.debug", debug+"f 8 16 better 8\n")
	if r := w.ingest(1); r.Conflicted != 0 || len(w.conflicts()) != 0 {
		t.Errorf("a changed debug file that agrees: %+v", r)
	}
	w.answers(idA, 8, "better:8")
	w.put("a/lib.debug", debug)
	if r := w.ingest(0); r.Conflicted != 0 {
		t.Errorf("the owner's own debug file: %+v", r)
	}
	w.answers(idA, 8, "")
	w.verify()

	w = newTeams(t, teamA, teamB)
	w.put("b/lib.debug", debug)
	w.put("a/lib.so", stripped)
	w.ingest(1)
	if r := w.ingest(0); r.Conflicted != 0 || r.Objects.Kept != 1 {
		t.Errorf("the debug file first: %+v", r)
	}
	w.answers(idA, 0, "whole:7")
	if c := w.record(idA).Published.Claimed(); c != teamA {
		t.Errorf("it belongs to %+v", c)
	}
	w.verify()
}

// TestPairThatDisagrees is a conflict, in both orders; a higher rank wins over better symbols.
func TestPairThatDisagrees(t *testing.T) {
	stripped, debug := pair("T", "C", "U")
	for _, c := range []struct {
		order [2]int
		want  string
	}{{[2]int{0, 1}, "exported:0"}, {[2]int{1, 0}, "whole:7"}} {
		w := newTeams(t, teamA, peerB)
		w.put("a/lib.so", stripped)
		w.put("b/lib.debug", debug)
		w.ingest(c.order[0])
		if r := w.ingest(c.order[1]); r.Conflicted != 1 {
			t.Errorf("%v: %+v", c.order, r)
		}
		w.answers(idA, 0, c.want)
		w.verify()
	}
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", stripped)
	w.put("b/lib.debug", debug)
	w.ingest(1)
	w.ingest(0)
	w.answers(idA, 0, "exported:0")
}

// TestCodeThatDisagrees: the tables are equal, the bytes of the code are not.
func TestCodeThatDisagrees(t *testing.T) {
	stripped, debug := pair("T", "C", "T")
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", stripped)
	w.put("b/lib.so", debug+"code D\n")
	w.ingest(0)
	if r := w.ingest(1); r.Conflicted != 1 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "exported:0")
}

// TestUnknownLayout of either side is no agreement.
func TestUnknownLayout(t *testing.T) {
	stripped, debug := pair("T", "C", "T")
	for _, texts := range [][2]string{
		{strings.Replace(stripped, "table T\n", "", 1), debug},
		{stripped, strings.Replace(debug, "table T\n", "", 1)},
	} {
		w := newTeams(t, teamA, teamB)
		w.put("a/lib.so", texts[0])
		w.put("b/lib.debug", texts[1])
		w.ingest(0)
		if r := w.ingest(1); r.Conflicted != 1 {
			t.Errorf("%+v", r)
		}
	}
	// A store from before sources had owners: a stripped file of a higher rank takes the place of no debug file.
	w := newTeams(t, row.Standing{}, teamA)
	w.put("a/lib.debug", strings.Replace(debug, "table T\n", "", 1))
	w.put("b/lib.so", stripped)
	w.ingest(0)
	w.ingest(1)
	w.answers(idA, 0, "whole:7")
	if c := w.record(idA).Published.Claimed(); c != teamA {
		t.Errorf("it belongs to %+v", c)
	}
}

// TestOwnObject: what was published from an object is replaced by a new version of it, whatever became of its
// source's owner.
func TestOwnObject(t *testing.T) {
	w := newTeams(t, teamA)
	w.put("a/lib.so", mine)
	w.ingest(0)
	w.sources[0].Owner, w.sources[0].Rank = "team-c", 0
	w.put("a/lib.so", forged)
	if r := w.ingest(0); r.Conflicted != 0 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "forged:1")
}

func (w *teams) noted(kinds *[]string) func(*row.Conflict) error {
	return func(c *row.Conflict) error {
		*kinds = append(*kinds, c.KeptOut.URL)
		return nil
	}
}

// TestAccept: a person decides for what was kept out; the next ingest publishes it, and its source has the
// artifact from then on.
func TestAccept(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/up.zip", zipped(t, "lib.so", forged, "libb.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n"))
	w.ingest(0)
	if r := w.ingest(1); r.Conflicted != 1 || r.Objects.Loaded != 1 {
		t.Fatalf("%+v", r)
	}
	w.is("b/up.zip", row.ObjectLoaded) // one of its artifacts is
	url := w.url("b/up.zip")
	var told []string
	if err := Accept(t.Context(), w.cat, w.url("a/lib.so"), w.now, w.noted(&told)); !errors.Is(err, ErrNoConflict) {
		t.Errorf("%v", err)
	}
	if err := Accept(t.Context(), w.cat, url, w.now, w.noted(&told)); err != nil {
		t.Fatal(err)
	}
	w.is("b/up.zip", row.ObjectPending)
	w.answers(idA, 0, "mine:1")
	if !slices.Equal(told, []string{url}) {
		t.Error(told)
	}
	w.verify()
	if r := w.ingest(0, 1); r.Conflicted != 0 || r.Artifacts != 1 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "forged:1")
	w.is("b/up.zip", row.ObjectLoaded)
	w.is("a/lib.so", row.ObjectKept)
	if c := w.record(idA).Published.Claimed(); c != teamB || len(w.conflicts()) != 0 {
		t.Errorf("it belongs to %+v, %d conflicts", c, len(w.conflicts()))
	}
	w.verify()
	if _, err := Rollback(t.Context(), w.projection(), symbol.NewID(symbol.ELF, idA)); err != nil {
		t.Fatal(err)
	}
	w.answers(idA, 0, "mine:1")
	w.verify()
}

// TestAcceptedContent: what is put in the place of the content that was accepted is kept out.
func TestAcceptedContent(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.ingest(0)
	w.ingest(1)
	var told []string
	if err := Accept(t.Context(), w.cat, w.url("b/lib.so"), w.now, w.noted(&told)); err != nil {
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
	w.is("b/lib.so", row.ObjectConflict)
	w.verify()
}

// TestDismiss: what is published stays, and nothing is open any more.
func TestDismiss(t *testing.T) {
	w := newTeams(t, teamA, teamB)
	w.put("a/lib.so", mine)
	w.put("b/lib.so", forged)
	w.ingest(0)
	w.ingest(1)
	var told []string
	if err := Dismiss(t.Context(), w.cat, w.url("b/lib.so"), w.noted(&told)); err != nil || len(told) != 1 {
		t.Fatal(told, err)
	}
	if err := Dismiss(t.Context(), w.cat, w.url("b/lib.so"), w.noted(&told)); !errors.Is(err, ErrNoConflict) {
		t.Error(err)
	}
	w.is("b/lib.so", row.ObjectKept)
	if r := w.ingest(0, 1); r.Conflicted != 0 || r.Objects.New != 0 || len(w.conflicts()) != 0 {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "mine:1")
	w.verify()
}

// TestConflictEnds: an object that no longer claims what is another's has no conflict any more.
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
	w.is("b/lib.so", row.ObjectLoaded)
	w.verify()
}

// TestForeignCompanion: a companion that another owner ingested under the id that mine asks for does not change my
// functions, unless its source is trusted more.
func TestForeignCompanion(t *testing.T) {
	for _, c := range []struct {
		other row.Standing
		want  string
	}{{peerB, ""}, {row.Standing{Owner: "tools", Rank: 3}, "split:9"}, {row.Standing{Owner: "team-a"}, "split:9"}} {
		w := newTeams(t, teamA, c.other)
		w.put("b/elsewhere.dwo", "FAKE\ncompanion dwo:1\nf 8 16 split 9\n")
		w.put("a/lib.so", "FAKE\nid "+idA+"\nneed dwo:1 lib.dwo\nf 0 8 mine 1\n")
		r := w.ingest(1, 0)
		w.answers(idA, 8, c.want)
		warnings := 0
		if c.want == "" {
			warnings = 1
		}
		if len(r.Warnings) != warnings {
			t.Errorf("%v: %+v", c.other, r.Warnings)
		}
		w.verify()
	}
}

// TestDigestOfConflict is that of the load that would have been published.
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
	if r := w.copyTo(to.world, nil); r.Artifacts != (CopyCounts{Seen: 1, Copied: 1}) {
		t.Fatalf("%+v", r.Artifacts)
	}
	if p := to.record(idA).Published; p.Claimed() != teamA || p.Layout.Table != w.record(idA).Published.Layout.Table {
		t.Errorf("%+v", p)
	}
	to.is("b/lib.so", row.ObjectConflict)
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
		if err := Dismiss(t.Context(), to.cat, w.url("b/lib.so"), func(*row.Conflict) error { return nil }); err != nil {
			t.Fatal(err)
		}
		r := theirs.copyTo(to.world, func(o *CopyOptions) { o.Force = force })
		to.answers(idA, 0, "mine:1")
		if r.Artifacts != (CopyCounts{Seen: 1, Conflicts: 1}) || len(to.conflicts()) != 1 || to.audited("conflict") != 2 {
			t.Errorf("force %v: %+v, %d conflicts, %d in the audit", force, r.Artifacts, len(to.conflicts()), to.audited("conflict"))
		}
		to.is("b/lib.so", row.ObjectConflict)
		to.verify()
		if r := theirs.copyTo(to.world, nil); r.Artifacts != (CopyCounts{Seen: 1, Kept: 1}) {
			t.Errorf("again: %+v", r.Artifacts)
		}
	}

	// The other way round, the owner of the higher rank takes over.
	if r := w.copyTo(theirs.world, nil); r.Artifacts != (CopyCounts{Seen: 1, Copied: 1}) {
		t.Errorf("%+v", r.Artifacts)
	}
	theirs.answers(idA, 0, "mine:1")
	theirs.verify()
}

// problems are what verify says of the store.
func (w *teams) problems() (list []string) {
	w.t.Helper()
	r, err := Verify(w.t.Context(), VerifyOptions{Store: w.store, Keyring: w.ring})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range r.Problems {
		list = append(list, p.Where+": "+p.Error)
	}
	return list
}

// swap changes a record behind everybody's back.
func (w *teams) swap(id string, edit func(*row.Record)) {
	w.t.Helper()
	old := w.record(id)
	next := copyOf(old, old.ID)
	p := *old.Published
	next.Published = &p
	edit(next)
	if err := w.cat.SwapArtifact(w.t.Context(), old, next); err != nil {
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
			w.swap(idA, func(r *row.Record) { r.Published.Source.Standing = teamB })
		}},
		{"rank", `has owner "team-a" and rank 0`, func(w *teams) {
			w.swap(idA, func(r *row.Record) { r.Published.Source.Rank = 0 })
		}},
		{"published", "what it keeps out is published", func(w *teams) {
			theirs := newTeams(t, teamB)
			theirs.put("a/lib.so", forged)
			theirs.ingest(0)
			w.swap(idA, func(r *row.Record) {
				r.Published.Source, r.Published.Digest = w.conflicts()[0].KeptOut.Source, theirs.record(idA).Published.Digest
			})
		}},
		{"no record", "no record says with what", func(w *teams) {
			if err := w.cat.SwapConflict(t.Context(), w.conflicts()[0], nil); err != nil {
				t.Fatal(err)
			}
		}},
		{"no entry", "the ledger does not name it", func(w *teams) {
			if err := turn(t.Context(), w.cat, row.Source{URL: w.url("b/lib.so")}, symbol.NewID(symbol.ELF, idA), outcomeConflict, outcomeKept); err != nil {
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

// TestCollectConflicts: gc removes the conflicts that nobody has to settle any more, and no others.
func TestCollectConflicts(t *testing.T) {
	for _, c := range []struct {
		name string
		left int
		edit func(w *teams)
	}{
		{"open", 1, func(w *teams) {}},
		{"artifact forgotten", 0, func(w *teams) {
			if _, err := Forget(t.Context(), ForgetOptions{Projection: w.projection(), Artifacts: []symbol.ID{symbol.NewID(symbol.ELF, idA)}}); err != nil {
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
			if err := turn(t.Context(), w.cat, row.Source{URL: w.url("b/lib.so")}, symbol.NewID(symbol.ELF, idA), outcomeConflict, outcomeKept); err != nil {
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
				r, err := GC(t.Context(), GCOptions{Store: w.store, Keyring: w.ring, DryRun: dry})
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

// TestSourceOf: of sources of one bucket the one whose globs take a key is its source, of nested ones the innermost.
func TestSourceOf(t *testing.T) {
	w := newTeams(t, teamA)
	w.put("a/sub/readme", "hello")
	srcs := []Source{
		{Bucket: folder(t, w.dir), Owner: "all", Include: []string{"b/**"}},
		{Bucket: folder(t, w.dir), Owner: "zips", Include: []string{"*.zip"}},
		{Bucket: folder(t, filepath.Join(w.dir, "a")), Owner: "outer"},
		{Bucket: folder(t, filepath.Join(w.dir, "a", "sub")), Owner: "inner"},
	}
	j := newJob(w.o)
	if err := j.open(srcs); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"b/x": "all", "x.zip!lib.so": "zips", "other": "all", "a/x": "outer", "a/sub/x": "inner"} {
		if s := j.sourceOf(w.url(key)); s == nil || s.Owner != want {
			t.Errorf("%s: %+v", key, s)
		}
	}
	if s := j.sourceOf("s3://elsewhere/x"); s != nil {
		t.Errorf("%+v", s)
	}
}
