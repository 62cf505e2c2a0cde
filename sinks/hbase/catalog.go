package hbase

import (
	"bytes"
	"context"
	"fmt"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// catalog implements sinks.Catalog.
type catalog struct{ *store }

// present begins every record, so that an empty one is not an absent one. Durable.
const present = 1

// stored is a record as its cell holds it; empty for none.
func stored(record []byte) []byte {
	if record == nil {
		return nil
	}
	return append([]byte{present}, record...)
}

// record undoes stored; nil: there is none.
func record(key, value []byte) ([]byte, error) {
	if len(value) == 0 {
		return nil, nil
	}
	if value[0] != present {
		return nil, fmt.Errorf("%w: catalog record %x begins with %#x", sinks.ErrCorrupt, key, value[0])
	}
	return value[1:], nil
}

func (c catalog) Get(ctx context.Context, key []byte) ([]byte, error) {
	cell, err := c.c.Get(ctx, c.store.catalog(), catalogColumn, key)
	if err != nil {
		return nil, contract(err)
	}
	return record(key, cell.Value)
}

// Swap repeats what has no clear answer: what it reads back tells whether it was done. Records
// are sealed with a fresh nonce, so another writer's is never the same.
func (c catalog) Swap(ctx context.Context, key, old, new []byte) error {
	if c.readOnly {
		return errReadOnly
	}
	from, to := stored(old), stored(new)
	for unclear := false; ; {
		done, err := c.c.CheckAndPut(ctx, c.store.catalog(), catalogColumn, key, from, to)
		switch {
		case err == nil && done:
			return nil
		case err == nil && !unclear:
			return fmt.Errorf("%w: %x", sinks.ErrConflict, key)
		case err != nil && (!client.Unclear(err) || ctx.Err() != nil):
			return contract(err)
		}
		cell, gerr := c.c.Get(ctx, c.store.catalog(), catalogColumn, key)
		switch {
		case gerr != nil:
			return contract(gerr)
		case bytes.Equal(cell.Value, to):
			return nil
		case !bytes.Equal(cell.Value, from):
			return fmt.Errorf("%w: %x", sinks.ErrConflict, key)
		}
		unclear = true
	}
}

func (c catalog) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return contract(c.c.Scan(ctx, c.store.catalog(), catalogColumn, client.Span(s), client.ScanOptions{}, func(cell client.Cell) error {
		r, err := record(cell.Row, cell.Value)
		if err != nil || r == nil {
			return err
		}
		return emit(sinks.Row{Key: cell.Row, Value: r})
	}))
}
