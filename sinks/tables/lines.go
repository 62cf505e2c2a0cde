package tables

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pile"
)

// maxLineBytes is the longest line of NDJSON.
const maxLineBytes = 64 << 20

// lines reads the lines of a file, compressed as its name says.
type lines struct {
	r     *bufio.Reader
	long  []byte
	close func()
	n     int    // of the last line, from 1
	mark  string // before the first line: a byte order mark or nothing
}

func openLines(r bucket.Reader, size int64, key string) (*lines, error) {
	var in io.Reader = io.NewSectionReader(r, 0, size)
	l := &lines{close: func() {}}
	switch key = strings.ToLower(key); {
	case strings.HasSuffix(key, ".gz"):
		z, err := gzip.NewReader(bufio.NewReaderSize(in, 1<<20))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errInput, err)
		}
		in = z
	case strings.HasSuffix(key, ".zst"):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxLineBytes))
		if err != nil {
			return nil, err
		}
		in, l.close = z, z.Close
	}
	l.r = bufio.NewReaderSize(in, 1<<20)
	if head, err := l.r.Peek(len(byteOrderMark)); err == nil && string(head) == byteOrderMark {
		if _, err := l.r.Discard(len(byteOrderMark)); err != nil {
			return nil, err
		}
		l.mark = byteOrderMark
	}
	return l, nil
}

// byteOrderMark begins files of some editors and of PowerShell.
const byteOrderMark = "\ufeff"

// next gives a line with its line end, if it has one; io.EOF after the last. It is valid until the next call.
func (l *lines) next() ([]byte, error) {
	b, err := l.r.ReadSlice('\n')
	l.n++
	if err == nil {
		return b, nil
	}
	l.long = l.long[:0]
	for {
		l.long = append(l.long, b...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(l.long) > 0:
			return l.long, nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, l.failed(err)
		case len(l.long) > maxLineBytes:
			return nil, fmt.Errorf("%w: line %d has more than %d bytes", errInput, l.n, maxLineBytes)
		}
		b, err = l.r.ReadSlice('\n')
	}
}

// blank reports whether a line holds nothing: it is no row, and stays as it is.
func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// row is next for a line that is a row; blank ones before it are written.
func (l *lines) row(w io.Writer) ([]byte, error) {
	for {
		line, err := l.next()
		if err != nil || !blank(line) {
			return line, err
		}
		if _, err := w.Write(line); err != nil {
			return nil, err
		}
	}
}

// failed blames the file for what no disk or network does.
func (l *lines) failed(err error) error {
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || strings.HasPrefix(err.Error(), "flate: ") ||
		errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, zstd.ErrCRCMismatch) || errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return fmt.Errorf("%w: line %d: %w", errInput, l.n, err)
	}
	return err
}

// compressed writes as the name says; close ends it.
func compressed(w io.Writer, key string) (to io.Writer, close func() error, err error) {
	switch key = strings.ToLower(key); {
	case strings.HasSuffix(key, ".gz"):
		z := gzip.NewWriter(w)
		return z, z.Close, nil
	case strings.HasSuffix(key, ".zst"):
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return w, func() error { return nil }, nil
}

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
	defer l.close()
	// The first row that says what rows are decides for all.
	var row jsonRow
	for {
		line, err := l.next()
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

func (x *records) lines() (*lines, error) { return openLines(x.r, x.in.entry.Size, x.in.entry.Key) }

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
	defer f.close()
	var row jsonRow
	segment, n := uint32(0), segmentRows
	for {
		line, err := f.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if blank(line) {
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
				return fmt.Errorf("%w: more than %d rows with those before", errInput, pile.MaxSegments*segmentRows)
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
	defer f.close()
	to, end, err := compressed(w, in.to)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 1<<20)
	if _, err := out.WriteString(f.mark); err != nil {
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
			line, err := f.row(out)
			if err != nil {
				return fmt.Errorf("read again: %w", err)
			}
			if err := row.extend(out, line, said[b.local.index(n)], x.j.o.Columns, x.j.o.Prefix); err != nil {
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
	if _, err := f.row(out); err == nil {
		return fmt.Errorf("read again: %w", bucket.ErrChanged)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return errors.Join(out.Flush(), end())
}
