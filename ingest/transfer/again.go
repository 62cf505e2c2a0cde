package transfer

import (
	"context"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
)

// present looks whether the target has the rows of the items that it publishes already, and removes those
// that it has from the list. The rest is copied again: an operator may have dropped the rows, or have
// lost them, while the catalog stayed.
func (c *copier) present(ctx context.Context, list []*item) error {
	var there []*item
	var loads []stored.Load
	for _, it := range list {
		if it != nil && it.there != (sinks.Load{}) {
			there, loads = append(there, it), append(loads, stored.Load{Artifact: it.id, ID: it.there})
		}
	}
	have := make([]bool, len(there))
	if !c.Force {
		var err error
		if have, err = stored.HaveRows(ctx, c.To.Store.Blocks, loads); err != nil {
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
