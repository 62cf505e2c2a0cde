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
	ctx  context.Context
	in   *bufio.Reader
	at   int64 // where the next line begins
	max  int
	n    int
	line []byte // without its end; valid until the next one
	from int64  // where line begins
}

const (
	scanBytes = 256 << 10
	// recordBytes is what stands beside a name in a record, at most. INLINE records are
	// longer than that, and shorter than most names may be.
	recordBytes = 64 << 10
)

// newScanner reads in from off on.
func newScanner(ctx context.Context, in *formats.Input, off int64) *scanner {
	r := io.NewSectionReader(in.Bytes, off, in.Size-off)
	return &scanner{ctx: ctx, in: bufio.NewReaderSize(r, scanBytes), at: off, max: int(in.Limits.NameBytes) + recordBytes}
}

// next reads a record; false at the end.
func (s *scanner) next() (bool, error) {
	if s.n++; s.n&0x3fff == 0 {
		if err := s.ctx.Err(); err != nil {
			return false, err
		}
	}
	s.from = s.at
	b, err := s.in.ReadSlice('\n')
	s.at += int64(len(b))
	if errors.Is(err, bufio.ErrBufferFull) || len(b) > s.max {
		return false, &formats.Error{Format: name, Offset: s.from, Want: fmt.Sprintf("a record of at most %d bytes", s.max), Err: formats.ErrLimit}
	}
	if err != nil && err != io.EOF {
		return false, err
	}
	s.line = bytes.TrimRight(b, "\r\n")
	return len(b) > 0, nil
}

// named checks the length of a name in the record at hand.
func (s *scanner) named(name []byte) error {
	if most := s.max - recordBytes; len(name) > most {
		return &formats.Error{Format: "breakpad", Offset: s.from, Want: fmt.Sprintf("a name of at most %d bytes", most), Err: formats.ErrLimit}
	}
	return nil
}

// skipTo reads up to the first record that begins at off or behind it.
func (s *scanner) skipTo(off int64) (bool, error) {
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

// rest is what is left, without the space before it.
func (f *fields) rest() []byte { return bytes.TrimLeft(f.b, " ") }

// marked passes the mark "m" of FUNC and PUBLIC records: code at several addresses was made one.
func (f *fields) marked() {
	if b := bytes.TrimLeft(f.b, " "); len(b) > 1 && b[0] == 'm' && b[1] == ' ' {
		f.b = b[2:]
	}
}
