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
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
)

// New makes an empty store. Its Close does nothing: rows go when it is garbage.
func New() *sinks.Store {
	return &sinks.Store{
		Blocks:  &blocks{loads: make(map[prefix]*load)},
		Catalog: new(catalog),
		Close:   func() error { return nil },
	}
}

// Tidy: a batch that was never committed left nothing but garbage.
func (b *blocks) Tidy(ctx context.Context, _ time.Time) (int64, error) { return 0, ctx.Err() }

// batch collects loads apart from the store until Commit.
type batch struct {
	to    *blocks
	loads map[prefix]*load
	last  *load // the one being written
	at    prefix
	err   error // the first one; or that the batch is over
}

var errOver = errors.New("batch is already committed or aborted")

func (b *blocks) Begin(ctx context.Context) (sinks.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &batch{to: b, loads: make(map[prefix]*load)}, nil
}

func (b *batch) Write(r sinks.Row) error {
	if b.err == nil {
		b.err = b.write(r)
	}
	return b.err
}

func (b *batch) write(r sinks.Row) error {
	if len(r.Key) < sinks.PrefixBytes {
		return fmt.Errorf("key %x is shorter than a prefix (%d bytes)", r.Key, sinks.PrefixBytes)
	}
	p := prefix(r.Key)
	if b.last == nil || p != b.at {
		if b.loads[p] != nil {
			return fmt.Errorf("key %x: the rows of its load do not come together", r.Key)
		}
		b.last, b.at = new(load), p
		b.loads[p] = b.last
	}
	if n := len(b.last.rows); n > 0 && string(b.last.rows[n-1].Key) >= string(r.Key) {
		return fmt.Errorf("key %x after %x: keys of a load must ascend", r.Key, b.last.rows[n-1].Key)
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
