package gecko

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
)

// stream reads a value of JSON of any size from front to back, and copies it to out but for the parts that the reader drops or adds.
// Its memory is the window and the longest value that is read as one.
type stream struct {
	in   io.Reader
	out  io.Writer // nil: nothing is written
	buf  []byte
	pos  int   // of the next byte
	base int64 // offset of buf[0] in the input
	mark int   // of the first byte that is neither written nor dropped
	held int   // of the first byte that a value at hand needs; -1: none
	stop int64 // offset of the first byte that is not read, but copied; 0: all are read
	done bool  // the input has no more bytes
	quiet,
	depth int // how many drops, and values, are under way
}

const (
	windowBytes = 256 << 10
	// mostValue bounds a value that is read as one: a name, a number, a row.
	mostValue = 1 << 20
	mostDepth = 512
)

// errCut says that the input ends within a value.
var errCut = errors.New("the profile ends within a value, and is read up to there")

func newStream(in io.Reader, out io.Writer) *stream {
	return &stream{in: in, out: out, buf: make([]byte, 0, windowBytes), held: -1}
}

// fail returns the error of a profile that does not have want at the next byte.
func (s *stream) fail(want string, err error) error {
	return &formats.Error{Format: "gecko", Offset: s.base + int64(s.pos), Want: want, Err: err}
}

// corrupt is fail for bytes that are no JSON.
func (s *stream) corrupt(want string) error { return s.fail(want, formats.ErrCorrupt) }

// write writes bytes that the input does not have here.
func (s *stream) write(b []byte) error {
	if s.out == nil {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	_, err := s.out.Write(b)
	return err
}

// flush writes all bytes up to the next one.
func (s *stream) flush() error {
	from := s.mark
	s.mark = s.pos
	if s.out == nil || s.quiet > 0 || from == s.pos {
		return nil
	}
	_, err := s.out.Write(s.buf[from:s.pos])
	return err
}

// more makes the window longer; false: the input has no more bytes.
func (s *stream) more() (bool, error) {
	if s.done {
		return false, nil
	}
	if err := s.flush(); err != nil {
		return false, err
	}
	keep := s.pos
	if s.held >= 0 {
		keep = s.held
	}
	if keep > 0 {
		n := copy(s.buf, s.buf[keep:])
		s.buf, s.pos, s.base = s.buf[:n], s.pos-keep, s.base+int64(keep)
		s.mark = s.pos
		if s.held >= 0 {
			s.held = 0
		}
	}
	if len(s.buf) == cap(s.buf) {
		if len(s.buf) >= mostValue {
			return false, s.fail("a shorter value", formats.ErrLimit)
		}
		s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
	}
	n, err := io.ReadAtLeast(s.in, s.buf[len(s.buf):cap(s.buf)], 1)
	s.buf = s.buf[:len(s.buf)+n]
	if err != nil {
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, err
		}
		s.done = true
	}
	return n > 0, nil
}

// peek passes over spaces and returns the byte behind them. The error is errCut at the end.
func (s *stream) peek() (byte, error) {
	if s.stop > 0 && s.base+int64(s.pos) >= s.stop {
		return 0, errCut
	}
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\n', '\r':
			default:
				return c, nil
			}
		}
		if ok, err := s.more(); !ok {
			return 0, errors.Join(err, errCut)
		}
	}
}

// take passes a byte that must stand here.
func (s *stream) take(want byte) error {
	c, err := s.peek()
	if err == nil && c != want {
		err = s.corrupt(strconv.QuoteRune(rune(want)))
	}
	if err == nil {
		s.pos++
	}
	return err
}

// enter notes a value around the next ones.
func (s *stream) enter() error {
	if s.depth++; s.depth > mostDepth {
		return s.fail("a value of at most 512 levels", formats.ErrLimit)
	}
	return nil
}

// object reads an object; each reads or skips the value of its key. Another value is skipped.
func (s *stream) object(each func(key string) error) error {
	if c, err := s.peek(); err != nil || c != '{' {
		return errors.Join(err, s.skipAfter(err))
	}
	s.pos++
	if err := s.enter(); err != nil {
		return err
	}
	for first := true; ; first = false {
		c, err := s.peek()
		switch {
		case err != nil:
			return err
		case c == '}':
			s.pos++
			s.depth--
			return nil
		case !first:
			if err := s.take(','); err != nil {
				return err
			}
		}
		key, err := s.text()
		if err != nil {
			return err
		}
		if err := s.take(':'); err != nil {
			return err
		}
		if err := each(key); err != nil {
			return err
		}
	}
}

// array reads an array; each reads or skips its element i. At its end, behind the last element, end may write more; it gets
// the number of elements. Another value is skipped.
func (s *stream) array(each func(i int) error, end func(n int) error) error {
	if c, err := s.peek(); err != nil || c != '[' {
		return errors.Join(err, s.skipAfter(err))
	}
	s.pos++
	if err := s.enter(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		c, err := s.peek()
		switch {
		case err != nil:
			return err
		case c == ']':
			if end != nil {
				if err := end(i); err != nil {
					return err
				}
			}
			s.pos++
			s.depth--
			return nil
		case i > 0:
			if err := s.take(','); err != nil {
				return err
			}
		}
		if err := each(i); err != nil {
			return err
		}
	}
}

// skipAfter skips a value unless err is set.
func (s *stream) skipAfter(err error) error {
	if err != nil {
		return nil
	}
	return s.skip()
}

// skip passes over a value of any kind. It checks brackets and quotes only.
func (s *stream) skip() error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	switch c {
	case '"':
		s.pos++
		return s.skipString()
	case '{', '[':
	case '}', ']', ',', ':':
		return s.corrupt("a value")
	default:
		return s.skipWord()
	}
	for deep := 0; ; {
		for s.pos < len(s.buf) {
			switch s.buf[s.pos] {
			case '{', '[':
				deep++
			case '}', ']':
				if deep--; deep == 0 {
					s.pos++
					return nil
				}
			case '"':
				s.pos++
				if err := s.skipString(); err != nil {
					return err
				}
				continue
			}
			s.pos++
		}
		if ok, err := s.more(); !ok {
			return errors.Join(err, errCut)
		}
	}
}

// skipString passes over a string from behind its first quote.
func (s *stream) skipString() error {
	for {
		rest := s.buf[s.pos:]
		quote := bytes.IndexByte(rest, '"')
		part := rest
		if quote >= 0 {
			part = rest[:quote]
		}
		switch escape := bytes.IndexByte(part, '\\'); {
		case escape >= 0 && escape+1 < len(rest):
			s.pos += escape + 2
			continue
		case escape >= 0:
			s.pos += escape // the escaped byte is not read yet
		case quote >= 0:
			s.pos += quote + 1
			return nil
		default:
			s.pos = len(s.buf)
		}
		if ok, err := s.more(); !ok {
			return errors.Join(err, errCut)
		}
	}
}

// skipWord passes over a number, true, false or null.
func (s *stream) skipWord() error {
	from := s.base + int64(s.pos)
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch s.buf[s.pos] {
			case ',', ']', '}', ' ', '\t', '\n', '\r', ':', '"', '[', '{':
				if s.base+int64(s.pos) == from {
					return s.corrupt("a value")
				}
				return nil
			}
		}
		if ok, err := s.more(); !ok {
			return errors.Join(err, errCut)
		}
	}
}

// raw reads a value as it is spelled. It is valid until the next read.
func (s *stream) raw() ([]byte, error) {
	if _, err := s.peek(); err != nil {
		return nil, err
	}
	s.held = s.pos
	err := s.skip()
	b := s.buf[s.held:s.pos]
	s.held = -1
	return b, err
}

// text reads a string; of another value "".
func (s *stream) text() (string, error) {
	b, err := s.raw()
	if err != nil || len(b) < 2 || b[0] != '"' {
		return "", err
	}
	return json.String(b), nil
}

// number reads an integer; ok is false for any other value.
func (s *stream) number() (v int64, ok bool, err error) {
	b, err := s.raw()
	if err != nil {
		return 0, false, err
	}
	v, ok = integer(b)
	return v, ok, nil
}

// integer reads a number without fraction, which JSON may spell with an exponent.
func integer(b []byte) (v int64, ok bool) {
	digits := b
	if len(b) > 0 && b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return real(b)
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return real(b)
		}
		v = 10*v + int64(c-'0')
	}
	if len(digits) < len(b) {
		v = -v
	}
	return v, true
}

// real reads a number of another spelling.
func real(b []byte) (v int64, ok bool) {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f != float64(int64(f)) || f > 1<<62 || f < -1<<62 {
		return 0, false
	}
	return int64(f), true
}

// drop reads with read what the output does not get.
func (s *stream) drop(read func() error) error {
	if _, err := s.peek(); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.quiet++
	err := read()
	s.quiet--
	s.mark = s.pos
	return err
}

// replace writes b in the place of the value at hand.
func (s *stream) replace(b []byte) error {
	if err := s.drop(s.skip); err != nil {
		return err
	}
	return s.write(b)
}

// look shows a value as it is spelled to instead, and writes in its place what that returns; nil: the value itself.
func (s *stream) look(instead func(b []byte) []byte) error {
	var is, was []byte
	err := s.drop(func() error {
		b, err := s.raw()
		if is = instead(b); is == nil {
			was = append(was, b...)
		}
		return err
	})
	if is == nil {
		is = was
	}
	return errors.Join(err, s.write(is))
}

// rest copies all that is left.
func (s *stream) rest() error {
	for {
		s.pos = len(s.buf)
		if ok, err := s.more(); !ok {
			return errors.Join(err, s.flush())
		}
	}
}
