package transfer

import (
	"context"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
)

// skipPresent sets an item of list to nil if the target has its rows. The other items that the
// target publishes are copied again: an operator may have dropped or lost the rows and kept the
// catalog.
func (c *copier) skipPresent(ctx context.Context, list []*item) error {
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
			it.rowsOnly = true // the record names these rows, so gc leaves them
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

// isAgain reports whether the rows of an artifact are copied again.
func (c *copier) isAgain(id symbol.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.again[id]
}
