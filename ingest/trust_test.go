package ingest

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/row"
)

// teams is a world with the folders a, b, … as sources, with the given owners and ranks.
type teams struct {
	*world
	sources []discover.Source
}

func newTeams(t *testing.T, standings ...row.Standing) *teams {
	t.Helper()
	w := &teams{world: newWorld(t)}
	for i, s := range standings {
		w.put(string(rune('a'+i))+"/readme", "hello")
		w.sources = append(w.sources, discover.Source{Bucket: folder(t, filepath.Join(w.dir, string(rune('a'+i)))), Owner: s.Owner, Rank: s.Rank})
	}
	return w
}

// ingest runs over the sources with these indexes.
func (w *teams) ingest(of ...int) *report.Report {
	w.t.Helper()
	var srcs []discover.Source
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

// conflicts returns the conflicts of the catalog.
func (w *teams) conflicts() (list []*catalog.Conflict) {
	w.t.Helper()
	err := w.cat.Conflicts.Each(w.t.Context(), "", func(c *catalog.Conflict) error {
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
	err := w.cat.Audit.Each(w.t.Context(), func(e audit.Event) error {
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
			w.is("b/lib.so", catalog.ObjectConflict)
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
			if record.HasName(w.record(idA).Names, symbol.Name{Kind: symbol.NameFile, Text: "other.so"}) {
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
	w.is("b/lib.so", catalog.ObjectKept) // it was first, and was replaced
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
		if stage == report.StageWrite { // it was read, and is not published
			once.Do(func() { other.ingest(0) })
		}
		return ctx, func(error) {}
	}
	r := w.ingest(0)
	w.answers(idA, 0, "mine:1")
	if r.Conflicted != 1 || r.Objects.Conflict != 1 {
		t.Errorf("%+v", r)
	}
	w.is("a/1.so", catalog.ObjectConflict)
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
	if r := w.ingest(0); r.Conflicted != 0 || len(r.Held) != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Error, `of owner "team-b" and rank 1, from `+w.url("b/lib.so")) {
		t.Errorf("%+v", r)
	}
	w.answers(idA, 0, "mine:1")
	w.is("b/lib.so", catalog.ObjectKept)
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
// first owner, or the more trusted one, still has it.
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

// TestOwnObject: a new version of an object replaces the load of the old one, also after changes of its
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

// TestSourceOf: of sources of one bucket the one with globs that take a key is its source, of nested ones the innermost.
func TestSourceOf(t *testing.T) {
	w := newTeams(t, teamA)
	w.put("a/sub/readme", "hello")
	srcs := []discover.Source{
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
		if s, _ := j.sources.Of(w.url(key)); s == nil || s.Owner != want {
			t.Errorf("%s: %+v", key, s)
		}
	}
	if s, _ := j.sources.Of("s3://elsewhere/x"); s != nil {
		t.Errorf("%+v", s)
	}
}
