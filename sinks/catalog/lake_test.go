package catalog

import (
	"errors"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// The end of a lake's log only ever moves on, and each lake has its own.
func TestLakeHeads(t *testing.T) {
	c, _ := newCatalog(t)
	for _, h := range []sinks.LakeHead{{Lake: "5a", Number: 2, MAC: "b"}, {Lake: "5a", Number: 1, MAC: "a"}, {Lake: "77", Number: 9, MAC: "x"}, {Lake: "5a", Number: 3, MAC: "c"}, {Lake: "5a", Number: 3, MAC: "d"}} {
		if err := c.Lakes.AdvanceLakeHead(ctx, h); err != nil {
			t.Fatal(err)
		}
	}
	for lake, want := range map[string]sinks.LakeHead{"5a": {Lake: "5a", Number: 3, MAC: "c"}, "77": {Lake: "77", Number: 9, MAC: "x"}, "00": {Lake: "00"}} {
		if h, err := c.Lakes.LakeHead(ctx, lake); err != nil || h != want {
			t.Errorf("%s: %+v, %v", lake, h, err)
		}
	}
	if err := c.Lakes.AdvanceLakeHead(ctx, sinks.LakeHead{Lake: "no hex", Number: 1}); err == nil {
		t.Error("a lake without an id")
	}
}

func lags(t *testing.T, c *Catalog) (all []*Lag) {
	t.Helper()
	err := c.Lakes.EachLag(ctx, func(l *Lag) error {
		all = append(all, l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A change of what the lake is to say is noted before it happens; no other change is.
func TestLag(t *testing.T) {
	c, s := newCatalog(t)
	entered := &Record{ID: full().ID, Progress: full().Progress}
	if err := c.Artifacts.Swap(ctx, nil, entered); err != nil {
		t.Fatal(err)
	}
	if all := lags(t, c); len(all) > 0 {
		t.Errorf("a load that entered: %+v", all)
	}
	published := full()
	if err := c.Artifacts.Swap(ctx, entered, published); err != nil {
		t.Fatal(err)
	}
	all := lags(t, c)
	if len(all) != 1 || all[0].Worker != (row.WorkerID{}) || all[0].At.IsZero() {
		t.Fatalf("a load that was published: %+v", all)
	}
	// Another process notes it anew, so the first note does not end it.
	other := New(s.Catalog, c.Keys.ring)
	named := *published
	named.Names = append(slices.Clone(named.Names), symbol.Name{Kind: symbol.NameApp, Text: "app@2"})
	if err := other.Artifacts.Swap(ctx, published, &named); err != nil {
		t.Fatal(err)
	}
	if err := c.Lakes.EndLag(ctx, all[0]); err != nil || len(lags(t, c)) != 1 {
		t.Errorf("the lag of another process has ended: %v", err)
	}
	if err := c.Lakes.EndLag(ctx, lags(t, c)[0]); err != nil || len(lags(t, c)) != 0 {
		t.Errorf("%+v, %v", lags(t, c), err)
	}
	third := New(s.Catalog, c.Keys.ring)
	sealed := named
	sealed.Published, sealed.Progress = new(row.Loaded), nil
	*sealed.Published = *named.Published
	sealed.Published.WrappedKey = []byte{9}
	if err := third.Artifacts.Swap(ctx, &named, &sealed); err != nil || len(lags(t, c)) != 0 {
		t.Errorf("a key that was wrapped anew: %+v, %v", lags(t, c), err)
	}
	many := New(s.Catalog, c.Keys.ring)
	gone := sealed
	gone.Published = nil
	if errs := many.Artifacts.SwapAll(ctx, []Change[Record]{{Old: &sealed, New: &gone}}); errors.Join(errs...) != nil || len(lags(t, c)) != 1 {
		t.Errorf("a change among many: %+v, %v", lags(t, c), errs)
	}
}

// A worker with a lease answers for its own changes until the lake follows them.
func TestLagOfWorker(t *testing.T) {
	c, _ := newCatalog(t)
	id := row.NewWorkerID()
	c.Lakes.Lease(id)
	r := full()
	before := c.Lakes.Changing(r.ID)
	if err := c.Artifacts.Swap(ctx, nil, r); err != nil {
		t.Fatal(err)
	}
	if all := lags(t, c); len(all) != 1 || all[0].Worker != id {
		t.Fatalf("%+v", all)
	}
	c.Lakes.Named(r.ID, before)
	if ids := c.Lakes.Unnamed(); !slices.Equal(ids, []symbol.ID{r.ID}) {
		t.Errorf("a change after the lake was written: %v", ids)
	}
	c.Lakes.Named(r.ID, c.Lakes.Changing(r.ID))
	if ids := c.Lakes.Unnamed(); len(ids) > 0 {
		t.Errorf("%v", ids)
	}
	if err := c.Lakes.Settle(ctx); err != nil || len(lags(t, c)) != 0 {
		t.Errorf("%+v, %v", lags(t, c), err)
	}
}
