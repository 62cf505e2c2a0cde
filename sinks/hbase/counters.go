package hbase

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/internal/counts"
	"github.com/symlake/symlake/sinks/hbase/internal/places"
)

// countedRecords implements sinks.Catalog, sinks.Counter and sinks.Settler. It does not count a change that is Same: HBase does
// not tell whether that changed anything.
type countedRecords struct {
	*places.Catalog
	counter *counts.Counter
}

// SwapAll implements sinks.Catalog.
func (c countedRecords) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	isCounted := func(ch sinks.Change) bool { return len(ch.Counts) > 0 && !ch.Same }
	if !slices.ContainsFunc(changes, isCounted) {
		return c.Catalog.SwapAll(ctx, changes)
	}
	if err := c.counter.Begin(ctx); err != nil {
		return slices.Repeat([]error{fmt.Errorf("note changes beside the counters: %w", err)}, len(changes))
	}
	errs := c.Catalog.SwapAll(ctx, changes)
	var happened []sinks.Count
	unclear := false
	for i, err := range errs {
		switch {
		case !isCounted(changes[i]):
		case err == nil:
			happened = append(happened, changes[i].Counts...)
		case !errors.Is(err, sinks.ErrConflict):
			unclear = true
		}
	}
	c.counter.End(ctx, happened, unclear)
	return errs
}

// Counts implements sinks.Counter.
func (c countedRecords) Counts(ctx context.Context) (map[string]int64, bool, error) {
	return c.counter.Counts(ctx)
}

// Settle implements sinks.Settler.
func (c countedRecords) Settle(ctx context.Context, count func(ctx context.Context, add func([]sinks.Count)) error) (bool, error) {
	return c.counter.Settle(ctx, count)
}

// countersColumn is where the rows of counters are, in the catalog's table. No reader of records asks for it.
var countersColumn = client.Column{Family: catalogColumn.Family, Qualifier: "t"}

const countersPrefix = "t"

// counters implements counts.Rows.
type counters struct{ values }

func newCounters(s *store) counters { return counters{values{s, countersColumn}} }

func countersRow(id string) []byte { return []byte(countersPrefix + id) }

func (r counters) Each(ctx context.Context, emit func(id string, value []byte) error) error {
	return r.Scan(ctx, sinks.Under([]byte(countersPrefix)), false, func(row, value []byte) error {
		return emit(string(row[len(countersPrefix):]), value)
	})
}

func (r counters) Get(ctx context.Context, id string) ([]byte, error) {
	list, err := r.Read(ctx, [][]byte{countersRow(id)})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (r counters) Swap(ctx context.Context, id string, old, new []byte) (bool, error) {
	err := r.Check(ctx, []sinks.Change{{Key: countersRow(id), Old: old, New: new}})[0]
	if errors.Is(err, sinks.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

func (r counters) Remove(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows := make([][]byte, len(ids))
	for i, id := range ids {
		rows[i] = countersRow(id)
	}
	return r.Delete(ctx, rows)
}

// Fresh looks for records of artifacts and of the ledger.
func (r counters) Fresh(ctx context.Context) (bool, error) {
	records := values{r.store, catalogColumn}
	for _, kind := range []byte{places.Artifacts, places.Ledger} {
		err := records.Scan(ctx, sinks.Under([]byte{kind}), true, func(_, _ []byte) error { return errRows })
		if errors.Is(err, errRows) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
