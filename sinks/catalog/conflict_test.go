package catalog

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

func conflictOf(id, url, member string) *Conflict {
	p, l := full().Published, full().Previous
	l.Source = row.Source{URL: url, Member: member, ETag: "f", Size: 1, Standing: row.Standing{Owner: "b"}}
	return NewConflict(symbol.NewID(symbol.ELF, id), p, l, time.Unix(20, 0).UTC())
}

func TestConflictRecords(t *testing.T) {
	c, _ := newCatalog(t)
	one, two, other := conflictOf("x", "s3://b/u", "m1"), conflictOf("x", "s3://b/u", "m2"), conflictOf("x", "s3://b/v", "")
	for _, x := range []*Conflict{one, two, other} {
		if err := c.Conflicts.Swap(ctx, nil, x); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.Conflicts.Get(ctx, one.Artifact, "s3://b/u", "m1")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(one, got, cmpopts.IgnoreUnexported(Conflict{})); d != "" {
		t.Error(d)
	}
	if got.Kept.Standing != (row.Standing{Owner: "other", Rank: 4}) || got.Kept.Digest == got.KeptOut.Digest {
		t.Errorf("kept %+v", got.Kept)
	}
	count := func(url string) (n int) {
		if err := c.Conflicts.Each(ctx, url, func(*Conflict) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if a, b, all := count("s3://b/u"), count("s3://b/v"), count(""); a != 2 || b != 1 || all != 3 {
		t.Errorf("%d and %d conflicts of the objects, %d in all", a, b, all)
	}
	next := *got
	next.Accepted = time.Unix(21, 0).UTC()
	if err := c.Conflicts.Swap(ctx, got, &next); err != nil {
		t.Fatal(err)
	}
	if err := c.Conflicts.Swap(ctx, got, nil); !errors.Is(err, sinks.ErrConflict) {
		t.Errorf("removed what is no longer there: %v", err)
	}
	if err := c.Conflicts.Swap(ctx, &next, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Conflicts.Get(ctx, one.Artifact, "s3://b/u", "m1"); got != nil || err != nil {
		t.Errorf("after its removal: %v, %v", got, err)
	}
	if s := one.String(); !strings.Contains(s, `owner "b"`) || !strings.Contains(s, "s3://b/u!m1") {
		t.Error(s)
	}
}

// TestOldRecord: a load that was written before sources had owners belongs to the owner of all
// sources that have none.
func TestOldRecord(t *testing.T) {
	id := symbol.NewID(symbol.ELF, "x")
	text := `{"id":"` + id.String() + `","state":"live","published":{"load":"0102030000000000","artifact":{"id":"` + id.String() + `","kind":"elf","canonical":"x","base":0,"end":77},` +
		`"key_version":1,"format":"elf","parser":3,"rank":3,"rows":6,"ranges":7,"bytes":8,"quality":{"units":11,"text":12},"digest":"` + strings.Repeat("0e", 32) + `",` +
		`"source":{"url":"s3://b/k","etag":"e","size":15},"at":"1970-01-01T00:00:16Z"}}`
	r := &Record{ID: id}
	if err := parse([]byte(text), r); err != nil {
		t.Fatal(err)
	}
	if r.Published.Ranges != 7 || r.Published.Artifact.End != 77 {
		t.Errorf("%+v", r.Published)
	}
	if r.Published.Claimed() != (row.Standing{}) {
		t.Errorf("%+v", r.Published.Claimed())
	}
	team := row.Standing{Owner: "team", Rank: 1}
	if !team.MayReplace(r.Published.Claimed()) || (row.Standing{}).MayReplace(team) || (row.Standing{Owner: "b", Rank: 1}).MayReplace(team) || !(row.Standing{Owner: "team"}).MayReplace(team) {
		t.Error("who may replace whom")
	}
}
