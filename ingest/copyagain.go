package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// present looks whether the target has the rows of the items that it publishes already, and removes those
// that it has from the list. The rest is copied again: an operator may have dropped the rows, or have
// lost them, while the catalog stayed.
func (c *copier) present(ctx context.Context, list []*item) error {
	var there []*item
	var loads []loadID
	for _, it := range list {
		if it != nil && it.there != (sinks.Load{}) {
			there, loads = append(there, it), append(loads, loadID{it.id, it.there})
		}
	}
	have := make([]bool, len(there))
	if !c.Force {
		var err error
		if have, err = haveRows(ctx, c.To.Store.Blocks, loads); err != nil {
			return err
		}
	}
	for i, it := range there {
		switch {
		case have[i]:
			c.count(&c.report.Artifacts.There)
			list[slices.Index(list, it)] = nil
		case it.load == it.there:
			// The record names these rows already, so no gc takes them for abandoned.
			it.again = true
		default:
			c.mu.Lock()
			c.again[it.id] = true
			c.mu.Unlock()
			if err := c.enter(ctx, it.id, it.load); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *copier) isAgain(id symbol.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.again[id]
}

// loadID names a load of an artifact.
type loadID struct {
	id   symbol.ID
	load sinks.Load
}

// haveRowsAtOnce is how many loads are asked for at a time.
const haveRowsAtOnce = 256

// haveRows reports for each load whether the store has any row of it that can be read. The error is that of a
// store that does not answer.
func haveRows(ctx context.Context, b sinks.Blocks, loads []loadID) ([]bool, error) {
	have := make([]bool, 0, len(loads))
	for some := range slices.Chunk(loads, haveRowsAtOnce) {
		spans := make([]sinks.Span, len(some))
		for i, l := range some {
			prefix := row.LoadPrefix(l.id, l.load)
			spans[i] = sinks.Span{From: prefix, Stop: after(prefix)}
		}
		at, failed := len(have), error(nil)
		have = append(have, make([]bool, len(some))...)
		err := b.First(ctx, spans, func(i int, r sinks.Row, err error) {
			have[at+i] = err == nil && r.Key != nil
			if err != nil && !errors.Is(err, sinks.ErrCorrupt) {
				failed = errors.Join(failed, err)
			}
		})
		if err := errors.Join(err, failed); err != nil {
			return nil, err
		}
	}
	return have, nil
}
