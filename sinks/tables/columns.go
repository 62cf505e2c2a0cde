package tables

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/group"
	"github.com/symlake/symlake/sinks/internal/pile"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// columns is a Parquet file.
type columns struct {
	j     *job
	in    *input
	r     bucket.Reader
	rows_ *pqfile.Rows
	by    map[Role]int // into leaves
	leaf  []pqfile.Leaf
	form  shape
	added *pqfile.Table
}

func openParquet(ctx context.Context, j *job, in *input) (table, error) {
	r, err := j.o.Input.Open(ctx, in.entry)
	if err != nil {
		return nil, err
	}
	c := &columns{j: j, in: in, r: r, by: map[Role]int{}}
	if c.rows_, err = pqfile.OpenRows(ctx, r, in.entry.Size, j.o.Keys); err == nil {
		err = c.find()
	}
	if err != nil {
		return nil, errors.Join(blame(err), r.Close())
	}
	return c, nil
}

// blame makes an error of the file errInput.
func blame(err error) error {
	if errors.Is(err, pqfile.ErrRows) || errors.Is(err, pqfile.ErrColumn) {
		return fmt.Errorf("%w: %w", errInput, err)
	}
	return err
}

// find finds the columns that have a role.
func (c *columns) find() error {
	for _, role := range roles {
		for _, name := range c.j.o.Columns.names(role) {
			if c.role(role, name) {
				break
			}
		}
		if _, ok := c.by[role]; !ok && c.j.o.Columns[role] != "" {
			return fmt.Errorf("%w: there is no column %q", errInput, c.j.o.Columns[role])
		}
	}
	if err := c.shapes(); err != nil {
		return err
	}
	c.added = AnswerColumns(c.j.o.Prefix, c.form == stacks)
	return c.rows_.Accepts(c.added)
}

// shapes decides what a row is. Pairs rule where there is text too, unless the column of text was named.
func (c *columns) shapes() error {
	_, hasText := c.by[RoleStack]
	address, hasPairs := c.by[RoleAddress]
	artifact, hasNames := c.by[RoleArtifact]
	_, hasApp := c.by[RoleApp]
	drop := []Role{RoleStack}
	switch {
	case hasText && (!hasPairs || c.j.o.Columns[RoleStack] != ""):
		c.form = stacks
		drop = []Role{RoleArtifact, RoleAddress, RoleFrame}
	case !hasPairs:
		return fmt.Errorf("%w: it has neither a column %q nor one %q of text; --column gives their names", errInput, RoleAddress, RoleStack)
	case !hasNames && !hasApp && c.j.o.App == "" && len(c.j.o.Stack.Artifacts) == 0:
		return fmt.Errorf("%w: there is no column %q, and nothing else names the artifact", errInput, RoleArtifact)
	case hasNames && c.leaf[artifact].List && !c.leaf[address].List:
		return fmt.Errorf("%w: %q is a list, and %q is not", errInput, c.leaf[artifact].Path, c.leaf[address].Path)
	case c.leaf[address].List:
		c.form = stacks
	}
	for _, r := range drop {
		delete(c.by, r)
	}
	return nil
}

// role gives a column a role, if there is one of that name and it will do.
func (c *columns) role(r Role, name string) bool {
	for _, l := range c.rows_.Leaves() {
		pair := r == RoleArtifact || r == RoleAddress
		switch {
		case l.Path != name:
			continue
		case l.Kind == pqfile.LeafText && r != RoleFrame && (!l.List || pair):
		case l.Kind == pqfile.LeafInt && (r == RoleAddress || r == RoleFrame || r == RoleBuild) && (!l.List || r == RoleAddress):
		default:
			continue
		}
		c.by[r] = len(c.leaf)
		c.leaf = append(c.leaf, l)
		return true
	}
	return false
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

// cells gives the values of a role in some rows; nil: there is no such column.
func (c *columns) cells(r Role, cells []pqfile.Cells) *pqfile.Cells {
	if at, ok := c.by[r]; ok {
		return &cells[at]
	}
	return nil
}

// text is value i of a column; "" of none.
func text(c *pqfile.Cells, i int) string {
	if c == nil || i < len(c.Null) && c.Null[i] {
		return ""
	}
	if len(c.Texts) == 0 {
		return fmt.Sprint(c.Ints[i])
	}
	return c.Texts[i]
}

func null(c *pqfile.Cells, i int) bool { return i < len(c.Null) && c.Null[i] }

// namesAt is what a row says besides addresses.
type rowNames struct{ artifact, app, build, platform, frame0 *pqfile.Cells }

func (c *columns) rowNames(cells []pqfile.Cells) rowNames {
	return rowNames{c.cells(RoleArtifact, cells), c.cells(RoleApp, cells), c.cells(RoleBuild, cells), c.cells(RolePlatform, cells), c.cells(RoleFrame0, cells)}
}

func (r *rowNames) at(i int) names {
	return names{app: text(r.app, i), build: text(r.build, i), platform: text(r.platform, i), frame0: text(r.frame0, i)}
}

func (c *columns) read(ctx context.Context, l *lane, in *input, part int) error {
	segment := in.numbers[part]
	row := 0
	err := c.rows_.Scan(ctx, part, c.leaf, func(n int, cells []pqfile.Cells) error {
		r := c.rowNames(cells)
		address, frame := c.cells(RoleAddress, cells), c.cells(RoleFrame, cells)
		for i := range n {
			x := r.at(i)
			x.artifact = text(r.artifact, i)
			place, value, err := l.frame(x, address, frame, i)
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

// frame gives place and value of a frame.
func (l *lane) frame(x names, address, frame *pqfile.Cells, i int) (uint32, uint64, error) {
	t, err := l.placer.target(x)
	if err != nil {
		return 0, 0, err
	}
	if null(address, i) {
		n, err := l.placer.noAddress()
		return n, 0, err
	}
	number := uint64(0)
	if frame != nil && !null(frame, i) {
		number = frame.Ints[i]
	}
	if len(address.Texts) > 0 {
		return l.placer.text(t, address.Texts[i], number)
	}
	place, value := l.placer.number(t, address.Ints[i], number)
	return place, value, nil
}

// rowsAhead are answers of a segment, ready to be written.
type rowsAhead struct {
	rows   *AnswerRows
	counts []tally
	err    error
}

// write builds the answers of one row group while the one before is written.
func (c *columns) write(ctx context.Context, u *unit, in *input, w *output) error {
	ext, err := c.extend(ctx, w)
	if err != nil {
		return err
	}
	free := make(chan *AnswerRows, 2)
	for range cap(free) {
		free <- NewAnswerRows(c.added, false)
	}
	ready := make(chan rowsAhead)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(ready)
		var b built
		for _, segment := range in.numbers {
			var rows *AnswerRows
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
func addGroup(ctx context.Context, ext pqfile.Extended, rows *AnswerRows) error {
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
