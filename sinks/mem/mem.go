// Package mem is a store that lives and dies with its process: for tests, and
// for answering from symbol files without a store (--symbols). Rows are kept
// as they come, sealed, so memory is what the rows hold and nothing bounds it.
//
// Invariants: rows become visible at Commit, a load's all at once; what a
// reader holds is never changed; no lock is held while a callback runs.
package mem

import (
	"context"
	"errors"
	"time"

	"github.com/symlake/symlake/sinks"
)

// New makes an empty store. Its Close does nothing: rows go when it is garbage.
func New() *sinks.Store {
	return &sinks.Store{
		Blocks:  &blocks{loads: make(map[sinks.Prefix]*load)},
		Catalog: new(catalog),
		Close:   func() error { return nil },
	}
}

// Tidy: a batch that was never committed left nothing but garbage.
func (b *blocks) Tidy(ctx context.Context, _ time.Time) (int64, error) { return 0, ctx.Err() }

// batch collects loads apart from the store until Commit.
type batch struct {
	to    *blocks
	loads map[sinks.Prefix]*load
	last  *load // the one being written
	order sinks.Order
	err   error // the first one; or that the batch is over
}

var errOver = errors.New("batch is already committed or aborted")

func (b *blocks) Begin(ctx context.Context) (sinks.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &batch{to: b, loads: make(map[sinks.Prefix]*load)}, nil
}

func (b *batch) Write(r sinks.Row) error {
	if b.err == nil {
		b.err = b.write(r)
	}
	return b.err
}

func (b *batch) write(r sinks.Row) error {
	begins, err := b.order.Add(r.Key)
	if err != nil {
		return err
	}
	if begins {
		b.last = new(load)
		b.loads[sinks.Prefix(r.Key)] = b.last
	}
	b.last.rows = append(b.last.rows, r)
	return nil
}

func (b *batch) Commit(ctx context.Context) error {
	if b.err == nil {
		b.err = ctx.Err()
	}
	if b.err != nil {
		return b.err
	}
	b.to.add(b.loads)
	b.err, b.loads = errOver, nil
	return nil
}

func (b *batch) Abort() { b.err, b.loads = errOver, nil }
