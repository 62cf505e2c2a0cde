package lookup

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// dangling looks past the caches at an artifact that a name leads to and that has no record, as e says. A load enters
// its record before its names, and gc removes the names first: a name that is there before and after a reading of no
// record means that the record was lost, and the answer is corrupt. An artifact that does not have the other names that n
// gives cannot be meant.
func (c *Client) dangling(ctx context.Context, name string, id symbol.ID, e *entry, n Narrow) (*entry, error) {
	k, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	for _, other := range []string{n.App, n.File} {
		if other == "" {
			continue
		}
		if has, err := k.catalog.Names.Has(ctx, other, id); err != nil || !has {
			return e, err
		}
	}
	if has, err := k.catalog.Names.Has(ctx, name, id); err != nil || !has {
		return e, err
	}
	now, err := c.recordAfter(ctx, id, e)
	if err != nil || now.rec != nil || now.status != symbol.NoArtifact {
		return now, err
	}
	if has, err := k.catalog.Names.Has(ctx, name, id); err != nil || !has {
		return now, err
	}
	return &entry{status: symbol.Corrupt, lost: true, read: now.read, until: now.until,
		err: fmt.Errorf("artifact %s: its record is gone, and the name %q leads to it: %w: symlake verify says how to bring it back", id, name, sinks.ErrCorrupt)}, nil
}
