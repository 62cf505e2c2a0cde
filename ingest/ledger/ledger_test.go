package ledger

import (
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

func newCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	s := mem.New()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, kek.Ephemeral())
	if err != nil {
		t.Fatal(err)
	}
	return catalog.New(s.Catalog, ring)
}

func TestObjectNames(t *testing.T) {
	for url, want := range map[string][]string{
		"s3://b/readme.txt":                                  {"readme.txt"},
		"s3://b/.build-id/ab/cdef0123456789.debug":           {"cdef0123456789.debug", "abcdef0123456789"},
		"s3://b/4CCF1B58-AC27-86C4-41FA-53C3D4A25D6C/x.dSYM": {"x.dSYM", "4ccf1b58-ac27-86c4-41fa-53c3d4a25d6c"},
	} {
		if got := objectNames(url); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

func TestStates(t *testing.T) {
	artifacts := func(outcomes ...string) (list []catalog.ObjectArtifact) {
		for _, o := range outcomes {
			list = append(list, catalog.ObjectArtifact{Outcome: o})
		}
		return list
	}
	for _, c := range []struct {
		outcomes     []string
		state, ended catalog.ObjectState
	}{
		{[]string{OutcomeKept, OutcomeLoaded}, catalog.ObjectLoaded, catalog.ObjectLoaded},
		{[]string{OutcomeKept, OutcomeConflict}, catalog.ObjectConflict, catalog.ObjectKept},
		{[]string{OutcomeRejected, OutcomeHeld}, catalog.ObjectKept, catalog.ObjectKept},
		{[]string{OutcomeRejected}, catalog.ObjectKept, catalog.ObjectRejected},
		{nil, catalog.ObjectKept, catalog.ObjectSkipped},
	} {
		list := artifacts(c.outcomes...)
		if got := StateOf(list); got != c.state {
			t.Errorf("%q: state %s, want %s", c.outcomes, got, c.state)
		}
		if got := EndedAs(&catalog.Object{Artifacts: list}); got != c.ended {
			t.Errorf("%q: ended %s, want %s", c.outcomes, got, c.ended)
		}
	}
}

// A demotion changes the artifact that the object loaded, and the object's state with the last one.
func TestDemote(t *testing.T) {
	c, a, b := newCatalog(t), symbol.ID{1}, symbol.ID{2}
	o := &catalog.Object{URL: "s3://b/o", State: catalog.ObjectLoaded, Artifacts: []catalog.ObjectArtifact{
		{ID: a, Member: "m", Outcome: OutcomeLoaded}, {ID: b, Outcome: OutcomeLoaded}}}
	if err := c.Ledger.Swap(t.Context(), nil, o); err != nil {
		t.Fatal(err)
	}
	for i, d := range []struct {
		id     symbol.ID
		member string
		want   []string
		state  catalog.ObjectState
	}{
		{a, "other", []string{OutcomeLoaded, OutcomeLoaded}, catalog.ObjectLoaded},
		{a, "m", []string{OutcomeKept, OutcomeLoaded}, catalog.ObjectLoaded},
		{b, "", []string{OutcomeKept, OutcomeKept}, catalog.ObjectKept},
	} {
		if err := Demote(t.Context(), c, o.URL, d.id, d.member); err != nil {
			t.Fatal(err)
		}
		now, err := At(t.Context(), c, Place(o.URL, "m!inner"))
		if err != nil || now == nil {
			t.Fatalf("the object of a member is not found: %v", err)
		}
		var got []string
		for _, a := range now.Artifacts {
			got = append(got, a.Outcome)
		}
		if !slices.Equal(got, d.want) || now.State != d.state {
			t.Errorf("demotion %d: %q, state %s", i, got, now.State)
		}
	}
}

// Names lead to an object while there is no artifact to find.
func TestUpdateNames(t *testing.T) {
	c := newCatalog(t)
	o := &catalog.Object{URL: "s3://b/lib.so", State: catalog.ObjectPending}
	for _, s := range []struct {
		state catalog.ObjectState
		refs  int
	}{{catalog.ObjectPending, 1}, {catalog.ObjectRejected, 1}, {catalog.ObjectLoaded, 0}} {
		before := s.state != catalog.ObjectPending && IsNamed(o)
		o.State = s.state
		if err := UpdateNames(t.Context(), c, before, o); err != nil {
			t.Fatal(err)
		}
		if refs, err := c.Names.Find(t.Context(), "lib.so", 0); err != nil || len(refs) != s.refs {
			t.Errorf("%s: %d references, %v", s.state, len(refs), err)
		}
	}
}
