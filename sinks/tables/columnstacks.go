package tables

import (
	"context"
	"errors"

	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// stacks writes a Parquet file of stacks.
func (c *columns) stacks(ctx context.Context, a *stackAnswerer, w *output) error {
	ext, err := c.extend(ctx, w)
	if err != nil {
		return err
	}
	rows := NewAnswerRows(c.added, true)
	a.emit = func(x *Answer) error {
		rows.Texts(a.table.list)
		rows.Once(x)
		w.note(x, a.table.list)
		return nil
	}
	for g := range c.rows_.Groups() {
		a.table.reset()
		rows.Reset(a.table.list)
		err := c.rows_.Scan(ctx, g, c.leaf, func(n int, cells []pqfile.Cells) error {
			r := c.rowNames(cells)
			for i := range n {
				if err := c.stackRow(a, &r, cells, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			err = a.flush()
		}
		if err == nil {
			err = addGroup(ctx, ext, rows)
		}
		if err != nil {
			return blame(err)
		}
	}
	return blame(ext.Close())
}

// stackRow takes row i of some.
func (c *columns) stackRow(a *stackAnswerer, r *rowNames, cells []pqfile.Cells, i int) error {
	n := r.at(i)
	if s := c.cells(RoleStack, cells); s != nil {
		if null(s, i) {
			return a.row(stackRow{invalid: errNoStack})
		}
		return a.text(n, text(s, i))
	}
	address := c.cells(RoleAddress, cells)
	from := 0
	if i > 0 {
		from = address.Ends[i-1]
	}
	names := r.artifact
	listed := names != nil && len(names.Ends) > 0
	if listed && names.Ends[i] != address.Ends[i] {
		return a.row(stackRow{invalid: errors.New("the row has not as many artifacts as addresses")})
	}
	var pairs []pair
	for k := from; k < address.Ends[i]; k++ {
		switch {
		case listed:
			n.artifact = text(names, k)
		case names != nil:
			n.artifact = text(names, i)
		}
		err := a.pair(n, func(t *target, frame uint64) (uint32, uint64, error) {
			switch {
			case null(address, k):
				at, err := a.placer.noAddress()
				return at, 0, err
			case len(address.Texts) > 0:
				return a.placer.text(t, address.Texts[k], frame)
			}
			at, value := a.placer.number(t, address.Ints[k], frame)
			return at, value, nil
		}, &pairs)
		if err != nil {
			return err
		}
	}
	return a.pairsEnd(pairs)
}
