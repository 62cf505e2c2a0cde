package tables

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/group"
	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/pile"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// columns is a Parquet file.
type columns struct {
	j     *job
	in    *input
	r     bucket.Reader
	rows_ *pqfile.Rows
	added *pqfile.Table
	roleColumns
}

func openParquet(ctx context.Context, j *job, in *input) (table, error) {
	r, err := j.o.Input.Open(ctx, in.entry)
	if err != nil {
		return nil, err
	}
	c := &columns{j: j, in: in, r: r}
	if c.rows_, err = in.file.Rows(ctx, r, in.entry.Size, in.label, j.o.Keys); err == nil {
		err = c.find()
	}
	if err != nil {
		return nil, errors.Join(blame(err), r.Close())
	}
	return c, nil
}

// blame makes an error of the file ErrInput.
func blame(err error) error {
	if errors.Is(err, pqfile.ErrRows) || errors.Is(err, pqfile.ErrColumn) {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return err
}

// find finds the columns that have a role, and makes those that are added.
func (c *columns) find() (err error) {
	if c.roleColumns, err = findRoles(&c.j.o, c.in.names.Leaves(c.rows_.Leaves()), c.in.values); err != nil {
		return err
	}
	c.added = answers.Columns(c.j.o.Prefix, c.form == stacks)
	if c.j.sink != nil {
		if c.j.ofStacks != (c.form == stacks) {
			return fmt.Errorf("%w: its rows are not what the rows of the table's first file are, frames or stacks", ErrInput)
		}
		c.added = c.j.sink.Added(c.rows_.HasIDs())
	}
	return c.rows_.Accepts(c.added)
}

func (c *columns) shape() shape { return c.form }

func (c *columns) rows() (n int64) {
	for _, g := range c.rows_.Groups() {
		n += g
	}
	return n
}

func (c *columns) close() error { return errors.Join(c.rows_.Close(), c.r.Close()) }

func (c *columns) parts(u *unit, in *input) (int, error) {
	for _, n := range c.rows_.Groups() {
		s, ok := u.newSegment(int(n))
		if !ok {
			return 0, fmt.Errorf("one unit has more than %d row groups", pile.MaxSegments)
		}
		in.numbers = append(in.numbers, s)
	}
	return len(in.numbers), nil
}

func (c *columns) read(ctx context.Context, l *lane, in *input, part int) error {
	segment := in.numbers[part]
	row := 0
	err := c.rows_.Scan(ctx, part, c.leaf, func(n int, cells []pqfile.Cells) error {
		r := c.rowNames(cells)
		address, frame := c.cells(RoleAddress, cells), c.cells(RoleFrame, cells)
		for i := range n {
			place, value, err := l.placer.frame(r.one(i), address, frame, i)
			if err != nil {
				return err
			}
			if err := l.add(place, segment, row, value); err != nil {
				return err
			}
			row++
		}
		c.j.progress("read", in.entry.Key, l.u.read.Add(uint64(n)), l.u.total.Load())
		return nil
	})
	return blame(err)
}

// rowsAhead are answers of a segment, ready to be written.
type rowsAhead struct {
	rows   *answers.Rows
	counts []tally
	err    error
}

// write builds the answers of one row group while the one before is written.
func (c *columns) write(ctx context.Context, u *unit, in *input, w *output) error {
	ext, err := c.extend(ctx, w)
	if err != nil {
		return err
	}
	free := make(chan *answers.Rows, 2)
	for range cap(free) {
		free <- answers.NewRows(c.added, false)
	}
	ready := make(chan rowsAhead)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(ready)
		var b built
		for _, segment := range in.numbers {
			var rows *answers.Rows
			select {
			case rows = <-free:
			case <-ctx.Done():
				return
			}
			a := rowsAhead{rows: rows}
			if a.err = b.segment(u, segment); a.err == nil {
				b.rows(rows)
				a.counts = b.tallies()
			}
			select {
			case ready <- a:
			case <-ctx.Done():
				return
			}
		}
	}()
	done, all := uint64(0), uint64(0)
	for _, n := range in.numbers {
		all += uint64(u.segments[n].rows)
	}
	for a := range ready {
		if a.err == nil {
			a.err = addGroup(ctx, ext, a.rows)
		}
		if a.err != nil {
			return a.err
		}
		for _, t := range a.counts {
			w.count(t.status, t.rows, !isFinal(t.status))
			w.frames += t.rows
			done += t.rows
		}
		c.j.progress("write", in.entry.Key, done, all)
		free <- a.rows
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return blame(ext.Close())
}

// addGroup writes the next row group with its answers.
func addGroup(ctx context.Context, ext pqfile.Extended, rows *answers.Rows) error {
	g, err := rows.Group()
	if err == nil {
		err = ext.Group(ctx, g)
	}
	return blame(err)
}

// extend begins the output.
func (c *columns) extend(ctx context.Context, w *output) (pqfile.Extended, error) {
	profile := c.j.o.Profile
	if profile == "" {
		profile = c.rows_.Profile()
	}
	ext, err := c.rows_.Extend(ctx, w, pqfile.Extension{Table: c.added, Profile: profile, Source: c.j.o.Input.URL(c.in.entry.Key), Groups: group.Version})
	return ext, blame(err)
}

// stacks writes a Parquet file of stacks.
func (c *columns) stacks(ctx context.Context, a *stackAnswerer, w *output) error {
	ext, err := c.extend(ctx, w)
	if err != nil {
		return err
	}
	rows := answers.NewRows(c.added, true)
	a.emit = func(x *answers.Answer) error {
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
func (c *roleColumns) stackRow(a *stackAnswerer, r *rowNames, cells []pqfile.Cells, i int) error {
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
