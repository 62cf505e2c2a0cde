package breakpad

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// scanner reads records, one a line.
type scanner struct {
	ctx context.Context
	of  *formats.Input
	in  *bufio.Reader
	at  int64 // where the next line begins
	// A line that begins before part and reaches to stop leaves the part nothing.
	part, stop int64
	n          int
	line       []byte // without its end; valid until the next one
	from       int64  // where line begins
	end        int64  // where it ends
	room       []byte // of a line that does not fit into the reader
}

// scanBytes is the most that a scanner reads at once.
const scanBytes = 256 << 10

// newScanner reads in from off on. Its buffer holds a small file whole, and no more: files of 600 bytes come by the
// thousand.
func newScanner(ctx context.Context, in *formats.Input, off int64) *scanner {
	r := io.NewSectionReader(in.Bytes, off, in.Size-off)
	room := min(scanBytes, max(in.Size-off, 0)+1)
	return &scanner{ctx: ctx, of: in, in: bufio.NewReaderSize(r, int(room)), at: off}
}

// next reads a record; false at the end. Of one above Limits.LineBytes it keeps the beginning.
func (s *scanner) next() (bool, error) {
	if s.n++; s.n&0x3fff == 0 {
		if err := s.ctx.Err(); err != nil {
			return false, err
		}
	}
	s.from = s.at
	b, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return s.long(b)
	}
	if err != nil && err != io.EOF {
		return false, err
	}
	s.at += int64(len(b))
	s.line = bytes.TrimRight(b, "\r\n")
	s.end = s.from + int64(len(s.line))
	return len(b) > 0, nil
}

// long reads on in a record that is longer than the reader.
func (s *scanner) long(b []byte) (bool, error) {
	s.room = s.room[:0]
	for err := bufio.ErrBufferFull; ; {
		room := max(0, int(s.of.Limits.LineBytes)-len(s.room))
		s.room = append(s.room, b[:min(room, len(b))]...)
		s.at += int64(len(b))
		if text := bytes.TrimRight(b, "\r\n"); len(text) > 0 { // the end of a line may stand in two pieces
			s.end = s.at - int64(len(b)-len(text))
		}
		if err != bufio.ErrBufferFull {
			s.line = bytes.TrimRight(s.room, "\r\n")
			return true, nil
		}
		if err := s.ctx.Err(); err != nil {
			return false, err
		}
		if s.from < s.part && s.at >= s.stop {
			return false, nil
		}
		if b, err = s.in.ReadSlice('\n'); err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return false, err
		}
	}
}

// isCut reports whether line is only the beginning of its record.
func (s *scanner) isCut() bool { return s.end-s.from > int64(len(s.line)) }

// name returns the name that the record ends in and that begins with b, cut if it is too long.
func (s *scanner) name(b []byte) (string, error) {
	if !s.isCut() {
		return symbol.ShortName(string(b), s.of.Limits.NameBytes), nil
	}
	var c symbol.Cutter
	c.Write(b)
	rest := io.NewSectionReader(s.of.Bytes, s.from+int64(len(s.line)), s.end-s.from-int64(len(s.line)))
	if _, err := io.Copy(&c, patient{s.ctx, rest}); err != nil {
		return "", err
	}
	return c.Name(), nil
}

// wholePairs returns an INLINE record without the numbers that its cut end may have lost a part of.
func (s *scanner) wholePairs() []byte {
	if !s.isCut() {
		return s.line
	}
	line := s.line[:bytes.LastIndexByte(s.line, ' ')+1]
	const before = 5 // fields: INLINE, level, line, file, origin
	if n := len(bytes.Fields(line)); n > before && (n-before)%2 != 0 {
		line = bytes.TrimRight(line, " ")
		line = line[:bytes.LastIndexByte(line, ' ')+1]
	}
	return line
}

// patient reads until its context ends.
type patient struct {
	ctx context.Context
	r   io.Reader
}

func (p patient) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// skipTo reads up to the first record that begins at off or behind it; false if none begins before end.
func (s *scanner) skipTo(off, end int64) (bool, error) {
	s.part, s.stop = off, end
	for {
		more, err := s.next()
		if !more || err != nil || s.from >= off {
			return more, err
		}
	}
}

// maxWarnings of a part are kept.
const maxWarnings = 4

// bad counts a record that does not parse.
func bad(q *symbol.Quality, at int64, want string) {
	q.BadLines++
	if len(q.Warnings) < maxWarnings {
		q.Warnings = append(q.Warnings, fmt.Sprintf("offset %d: want %s", at, want))
	}
}

// fields reads the fields of a record from the left.
type fields struct {
	b  []byte
	ok bool
}

// word is the next field.
func (f *fields) word() []byte {
	f.b = bytes.TrimLeft(f.b, " ")
	end := bytes.IndexByte(f.b, ' ')
	if end < 0 {
		end = len(f.b)
	}
	w := f.b[:end]
	f.ok = f.ok && end > 0
	f.b = f.b[end:]
	return w
}

// number is the next field in base 10 or 16.
func (f *fields) number(base uint64) uint64 {
	w := f.word()
	var v uint64
	for _, c := range w {
		d := uint64(c)
		switch {
		case '0' <= c && c <= '9':
			d -= '0'
		case 'a' <= c && c <= 'f' && base == 16:
			d -= 'a' - 10
		case 'A' <= c && c <= 'F' && base == 16:
			d -= 'A' - 10
		default:
			f.ok = false
			return 0
		}
		if v > (1<<64-1-d)/base {
			f.ok = false
			return 0
		}
		v = v*base + d
	}
	return v
}

// small is the next field, a decimal number of 32 bits. dump_syms writes -1 as
// a line where it has none.
func (f *fields) small() uint32 {
	f.b = bytes.TrimLeft(f.b, " ")
	if len(f.b) > 0 && f.b[0] == '-' {
		f.b = f.b[1:]
		f.number(10)
		return 0
	}
	v := f.number(10)
	if v > 1<<32-1 {
		return 0
	}
	return uint32(v)
}

// rest returns the unread rest, without the space before it.
func (f *fields) rest() []byte { return bytes.TrimLeft(f.b, " ") }

// fileOfOrigin passes the number of a file, or -1, which stands before the name in INLINE_ORIGIN records of 2021. No name
// begins with a number and a space.
func (f *fields) fileOfOrigin() {
	b := bytes.TrimPrefix(f.rest(), []byte{'-'})
	rest := bytes.TrimLeft(b, "0123456789")
	if len(rest) < len(b) && len(rest) > 1 && rest[0] == ' ' {
		f.b = rest
	}
}

// countFields returns the number of fields of a record, its first word among them.
func countFields(record []byte) (n int) {
	in := false
	for _, c := range record {
		if c != ' ' && !in {
			n++
		}
		in = c != ' '
	}
	return n
}

// marked passes the mark "m" of FUNC and PUBLIC records: code at several addresses was made one.
func (f *fields) marked() {
	if b := bytes.TrimLeft(f.b, " "); len(b) > 1 && b[0] == 'm' && b[1] == ' ' {
		f.b = b[2:]
	}
}
