package places

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks"
)

// moveRows is how many old rows Move takes at once.
const moveRows = 500

// Move gives the records in old rows their salted rows, and returns how many rows it removed. A process that dies in
// Move leaves a catalog that answers as before, and the next Move goes on.
func (c *Catalog) Move(ctx context.Context) (moved int, err error) {
	has, err := c.hasOld(ctx)
	if err != nil || !has {
		return 0, err
	}
	for {
		var old []pair
		err := c.rows.Scan(ctx, sinks.Span{From: oldFrom, Stop: ledgerStop}, false, func(row, value []byte) error {
			if len(old) == moveRows {
				return errFound
			}
			old = append(old, pair{row, value})
			return nil
		})
		if err != nil && err != errFound {
			return moved, fmt.Errorf("move ledger rows of an older program: %w", err)
		}
		if err := c.moveSome(ctx, old); err != nil {
			return moved, fmt.Errorf("move ledger rows of an older program: %w", err)
		}
		moved += len(old)
		if err == nil {
			c.setUnknown()
			return moved, nil
		}
	}
}

// moveSome copies values without a salted row, then removes the old rows.
func (c *Catalog) moveSome(ctx context.Context, old []pair) error {
	var changes []sinks.Change
	rows := make([][]byte, len(old))
	for i, p := range old {
		rows[i] = p.key
		r, err := Record(p.key, p.value)
		if err != nil {
			return err
		}
		if r != nil {
			changes = append(changes, sinks.Change{Key: Row(p.key), New: p.value})
		}
	}
	for _, err := range c.rows.Check(ctx, changes) {
		if err != nil && !errors.Is(err, sinks.ErrConflict) { // a conflict: it has moved
			return err
		}
	}
	return c.rows.Delete(ctx, rows)
}
