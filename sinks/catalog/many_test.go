package catalog

import (
	"errors"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Records that are swapped together keep their own errors, and count as read afterwards.
func TestSwapAll(t *testing.T) {
	c, _ := newCatalog(t)
	a, b := &Record{ID: symbol.ID{1}, State: Live}, &Record{ID: symbol.ID{2}, State: Live}
	taken := &Record{ID: symbol.ID{2}, State: Pinned}
	if err := c.Artifacts.Swap(ctx, nil, taken); err != nil {
		t.Fatal(err)
	}
	errs := c.Artifacts.SwapAll(ctx, []Change[Record]{{New: a}, {New: b}, {Old: &Record{ID: symbol.ID{3}}, New: &Record{ID: symbol.ID{3}}}, {Old: taken, New: a}, {}})
	if errs[0] != nil || !errors.Is(errs[1], sinks.ErrConflict) || errs[2] == nil || errs[3] == nil || errs[4] != nil {
		t.Fatal(errs)
	}
	if !strings.Contains(errs[1].Error(), b.ID.String()) {
		t.Errorf("an error that names no artifact: %v", errs[1])
	}
	next := *a
	next.State = Pinned
	if errs := c.Artifacts.SwapAll(ctx, []Change[Record]{{Old: a, New: &next}, {Old: taken}}); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	for _, known := range []*Record{nil, a, &next, {ID: a.ID}} {
		got, err := c.Artifacts.GetAll(ctx, []symbol.ID{{2}, {1}, {3}}, map[symbol.ID]*Record{a.ID: known})
		if err != nil || got[0] != nil || got[2] != nil || got[1] == nil || got[1].State != Pinned {
			t.Errorf("%v, %v", got, err)
		}
		if (got[1] == known) != (known == &next) {
			t.Errorf("of %v it returned %v: want what is known if it is the store's, and else the store's", known, got[1])
		}
	}
	o := &Object{URL: "file:/a", State: ObjectLoaded}
	if errs := c.Ledger.SwapAll(ctx, []Change[Object]{{New: o}, {New: &Object{URL: "file:/a"}}}); errs[0] != nil || !errors.Is(errs[1], sinks.ErrConflict) {
		t.Error(errs)
	}
}

// Names that are added together lead to their artifacts, also where one is there already or comes twice.
func TestAddAll(t *testing.T) {
	c, _ := newCatalog(t)
	if err := c.Names.Add(ctx, "b", Ref{Artifact: symbol.ID{1}}); err != nil {
		t.Fatal(err)
	}
	errs := c.Names.AddAll(ctx, []Pair{{Name: "a", Ref: Ref{Artifact: symbol.ID{1}}}, {Name: "b", Ref: Ref{Artifact: symbol.ID{1}}},
		{Name: "A", Ref: Ref{Artifact: symbol.ID{1}}}, {Name: "a", Ref: Ref{Artifact: symbol.ID{2}}}})
	if err := errors.Join(errs...); err != nil || len(errs) != 4 {
		t.Fatal(errs)
	}
	if refs, err := c.Names.Find(ctx, "A", 0); err != nil || len(refs) != 2 {
		t.Errorf("%v, %v", refs, err)
	}
	if has, err := c.Names.Has(ctx, "b", symbol.ID{1}); err != nil || !has {
		t.Error(has, err)
	}
}
