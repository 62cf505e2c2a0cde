package tables

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/jsonline"
	"github.com/symlake/symlake/sinks/internal/pile"
)

// records is a file of NDJSON.
type records struct {
	j    *job
	in   *input
	r    bucket.Reader
	form shape
	out  fields
}

func openJSON(ctx context.Context, j *job, in *input) (t table, err error) {
	r, err := j.o.Input.Open(ctx, in.entry)
	if err != nil {
		return nil, err
	}
	x := &records{j: j, in: in, r: r}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	l, err := x.lines()
	if err != nil {
		return nil, err
	}
	defer l.Close()
	// The first row that says what rows are decides for all.
	var row jsonRow
	for {
		line, err := l.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if row.parse(line, j.o.Columns, j.o.Prefix) == nil && row.shaped() {
			x.form = row.form
			break
		}
	}
	x.out = newFields(j.o.Prefix, x.form)
	return x, nil
}

func (x *records) lines() (*jsonline.Lines, error) {
	return jsonline.Open(x.r, x.in.entry.Size, x.in.entry.Key)
}

func (x *records) shape() shape { return x.form }

// rows guesses. Longer lines make units smaller and have no other effect.
func (x *records) rows() int64 { return x.in.entry.Size/64 + 1 }

func (x *records) close() error { return x.r.Close() }

func (x *records) parts(*unit, *input) (int, error) { return 1, nil }

// segmentRows are the rows of a segment of NDJSON.
const segmentRows = 1 << 18

func (x *records) read(ctx context.Context, l *lane, in *input, _ int) error {
	f, err := x.lines()
	if err != nil {
		return err
	}
	defer f.Close()
	var row jsonRow
	segment, n := uint32(0), segmentRows
	for {
		line, err := f.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if jsonline.Blank(line) {
			continue
		}
		if n == segmentRows {
			if len(in.numbers) > 0 {
				l.u.sized(segment, n)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			var ok bool
			if segment, ok = l.u.newSegment(0); !ok {
				return fmt.Errorf("%w: more than %d rows with those before", ErrInput, pile.MaxSegments*segmentRows)
			}
			in.numbers, n = append(in.numbers, segment), 0
			x.j.progress("read", in.entry.Key, l.u.read.Add(segmentRows), 0)
		}
		place, value, err := x.frame(l, &row, line)
		if err != nil {
			return err
		}
		if err := l.add(place, segment, n, value); err != nil {
			return err
		}
		n++
	}
	if len(in.numbers) > 0 {
		l.u.sized(segment, n)
	}
	return nil
}

// frame gives place and value of the frame in a line.
func (x *records) frame(l *lane, row *jsonRow, line []byte) (uint32, uint64, error) {
	if err := row.parse(line, x.j.o.Columns, x.j.o.Prefix); err != nil {
		if errors.Is(err, errTaken) {
			return 0, 0, err
		}
		return l.placer.invalid(err)
	}
	if row.form != frames || !row.shaped() {
		return l.placer.invalid(errors.New("the row has no address"))
	}
	t, err := l.placer.target(row.names(row.text(RoleArtifact)))
	if err != nil {
		return 0, 0, err
	}
	return l.placer.jsonAddress(t, row.raw(RoleAddress), row.number(RoleFrame))
}

func (x *records) write(ctx context.Context, u *unit, in *input, w *output) error {
	f, err := x.lines()
	if err != nil {
		return err
	}
	defer f.Close()
	to, end, err := jsonline.Compressed(w, in.to)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 1<<20)
	if _, err := out.WriteString(f.Mark); err != nil {
		return err
	}
	var row jsonRow
	var b built
	for _, segment := range in.numbers {
		if err := b.segment(u, segment); err != nil {
			return err
		}
		said := make([][]byte, len(b.ends))
		for i := range said {
			said[i] = x.out.append(nil, b.at(uint32(i)), b.texts)
		}
		for _, n := range b.numbers {
			line, err := f.Row(out)
			if err != nil {
				return fmt.Errorf("read again: %w", err)
			}
			if err := row.extend(out, line, said[b.local.Index(n)], x.j.o.Columns, x.j.o.Prefix); err != nil {
				return err
			}
		}
		for _, t := range b.tallies() {
			w.count(t.status, t.rows, !isFinal(t.status))
			w.frames += t.rows
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		x.j.progress("write", in.entry.Key, w.rows, 0)
	}
	if _, err := f.Row(out); err == nil {
		return fmt.Errorf("read again: %w", bucket.ErrChanged)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return errors.Join(out.Flush(), end())
}
