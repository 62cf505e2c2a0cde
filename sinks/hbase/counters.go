package hbase

import (
	"bytes"
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
	counted := false
	for i := range changes {
		counted = counted || len(changes[i].Counts) > 0 && !changes[i].Same
	}
	if !counted {
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
		case changes[i].Same:
		case err == nil:
			happened = append(happened, changes[i].Counts...)
		case !errors.Is(err, sinks.ErrConflict) && len(changes[i].Counts) > 0:
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
type counters struct{ *store }

func (r counters) Each(ctx context.Context, emit func(id string, value []byte) error) error {
	span := client.Span(sinks.Under([]byte(countersPrefix)))
	return contract(r.c.Scan(ctx, r.catalog(), countersColumn, span, client.ScanOptions{}, func(cell client.Cell) error {
		return emit(string(cell.Row[len(countersPrefix):]), cell.Value)
	}))
}

func (r counters) Swap(ctx context.Context, id string, old, new []byte) (bool, error) {
	if r.readOnly {
		return false, errReadOnly
	}
	row := []byte(countersPrefix + id)
	for {
		done, err := r.c.CheckAndPut(ctx, r.catalog(), countersColumn, row, old, new)
		if err == nil || !client.Unclear(err) || ctx.Err() != nil {
			return done, contract(err)
		}
		// No two values of a row are equal: it tells whether it was written. A value that a server shows may not be durable
		// yet, so it is written once more.
		if done, err = r.c.CheckAndPut(ctx, r.catalog(), countersColumn, row, new, new); err == nil && done {
			return true, nil
		}
		cell, err := r.c.Get(ctx, r.catalog(), countersColumn, row)
		if err != nil {
			return false, contract(err)
		}
		if !bytes.Equal(cell.Value, old) {
			return false, nil
		}
	}
}

func (r counters) Remove(ctx context.Context, ids []string) error {
	if r.readOnly {
		return errReadOnly
	}
	cells := make([]client.Cell, len(ids))
	for i, id := range ids {
		cells[i] = client.Delete([]byte(countersPrefix+id), countersColumn, client.Everlasting)
	}
	if len(cells) == 0 {
		return nil
	}
	return contract(r.c.Write(ctx, r.catalog(), cells, client.SyncWAL, false))
}

// Fresh looks for records of artifacts and of the ledger.
func (r counters) Fresh(ctx context.Context) (bool, error) {
	for _, kind := range []byte{places.Artifacts, places.Ledger} {
		found, o := false, client.ScanOptions{FirstRows: 1, KeysOnly: true}
		err := r.c.Scan(ctx, r.catalog(), catalogColumn, client.Span(sinks.Under([]byte{kind})), o, func(client.Cell) error {
			found = true
			return errFound
		})
		if err != nil && !found {
			return false, contract(err)
		}
		if found {
			return false, nil
		}
	}
	return true, nil
}

// errFound ends a scan at its first row.
var errFound = errors.New("found")
