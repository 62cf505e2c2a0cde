package sourcemap

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	// windowBytes is what is held of an input that is not in memory.
	windowBytes = 256 << 10
	// maxDepth bounds the nesting of JSON values, also of those that are skipped.
	maxDepth = 128
)

// text reads JSON from an input front to back, through a window of bounded size. seek goes anywhere.
// Its errors are *formats.Error with the offset in the input. One goroutine.
type text struct {
	in      *formats.Input
	section string // for errors

	format string
	buf    []byte
	off    int64 // of buf[0] in the input
	at     int   // in buf
	end    int64 // of the part of the input that is read
	room   []byte
	err    error
}

// newText returns a reader of in for a format, whose next byte is the one at from.
func newText(format string, in *formats.Input, from int64) *text {
	t := &text{in: in, section: "map", format: format, end: in.Size}
	t.seek(from)
	return t
}

// inside returns a reader of the inside of a string that was decoded, and of a quote behind it. The
// string stood at from.
func (t *text) inside(s string, from int64) *text {
	return &text{in: t.in, section: t.section, format: t.format, buf: append([]byte(s), '"'), off: from + 1, end: from + 2 + int64(len(s))}
}

// seek makes off the next byte.
func (t *text) seek(off int64) {
	if t.in.Mapped != nil {
		t.buf, t.off, t.at = t.in.Mapped, 0, int(min(off, t.in.Size))
		return
	}
	if off >= t.off && off <= t.off+int64(len(t.buf)) {
		t.at = int(off - t.off)
		return
	}
	t.buf, t.off, t.at = nil, off, 0
}

// offset returns the offset of the next byte in the input.
func (t *text) offset() int64 { return t.off + int64(t.at) }

// rest returns the bytes of the window from the next one on. They are valid until more of the input
// is read.
func (t *text) rest() []byte { return t.buf[t.at:] }

// back returns the last n bytes before the next one, which are in the window if they were read since
// the last call of more.
func (t *text) back(n int) []byte { return t.buf[t.at-n : t.at] }

// advance passes n bytes of rest.
func (t *text) advance(n int) { t.at += n }

// inMemory reports whether all of the input is in the window.
func (t *text) inMemory() bool { return t.in.Mapped != nil }

// isLast reports whether the input ends where the window does.
func (t *text) isLast() bool { return t.inMemory() || t.off+int64(len(t.buf)) >= t.end }

// readOn makes rest longer; false: the input has no more bytes, or cannot be read (see failure).
func (t *text) readOn() bool { return t.more(t.at) }

// failure returns the error of reading the input; nil: there was none.
func (t *text) failure() error { return t.err }

// more drops the window up to keep and brings the bytes behind it into it; false: there are none.
func (t *text) more(keep int) bool {
	if t.in.Mapped != nil || t.err != nil {
		return false
	}
	next := t.off + int64(len(t.buf))
	n := min(int64(windowBytes), t.end-next)
	if n <= 0 {
		return false
	}
	kept := t.buf[keep:]
	if t.room == nil || len(kept)+int(n) > cap(t.room) {
		t.room = make([]byte, 0, max(windowBytes, len(kept)+int(n)))
	}
	room := t.room[:len(kept)+int(n)]
	copy(room, kept)
	t.off += int64(keep)
	t.at -= keep
	got, err := t.in.Bytes.ReadAt(room[len(kept):], next)
	t.buf = room[:len(kept)+got]
	if got < int(n) {
		if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = t.fail("as many bytes as the file has")
		}
		t.err = err
		return false
	}
	return true
}

func (t *text) fail(want string) error { return t.failAt(t.offset(), want) }

func (t *text) failAt(off int64, want string) error {
	if t.err != nil {
		return t.err
	}
	return &formats.Error{Format: t.format, Section: t.section, Offset: off, Want: want, Err: formats.ErrCorrupt}
}

func (t *text) tooMuch(off int64, want string) error {
	return &formats.Error{Format: t.format, Section: t.section, Offset: off, Want: want, Err: formats.ErrLimit}
}

// peek is the next byte that is no space; 0 at the end.
func (t *text) peek() byte {
	for {
		for t.at < len(t.buf) {
			switch c := t.buf[t.at]; c {
			case ' ', '\t', '\n', '\r':
				t.at++
			default:
				return c
			}
		}
		if !t.more(t.at) {
			return 0
		}
	}
}

// take consumes c, which must be next.
func (t *text) take(c byte) error {
	if t.peek() != c {
		return t.fail(strconv.QuoteRune(rune(c)))
	}
	t.at++
	return nil
}

// object reads an object; each reads the value of its key.
func (t *text) object(depth int, each func(key string) error) error {
	if err := t.take('{'); err != nil {
		return err
	}
	if depth > maxDepth {
		return t.tooMuch(t.offset(), "values less nested")
	}
	for first := true; ; first = false {
		switch c := t.peek(); {
		case c == '}':
			t.at++
			return nil
		case !first && c != ',':
			return t.fail("',' or '}'")
		case !first:
			t.at++
		}
		key, err := t.string(1 << 10)
		if err != nil {
			return err
		}
		if err := t.take(':'); err != nil {
			return err
		}
		if err := each(key); err != nil {
			return err
		}
	}
}

// array reads an array; each reads its element i.
func (t *text) array(depth int, each func(i int) error) error {
	if err := t.take('['); err != nil {
		return err
	}
	if depth > maxDepth {
		return t.tooMuch(t.offset(), "values less nested")
	}
	for i := 0; ; i++ {
		switch c := t.peek(); {
		case c == ']':
			t.at++
			return nil
		case i > 0 && c != ',':
			return t.fail("',' or ']'")
		case i > 0:
			t.at++
		}
		if err := each(i); err != nil {
			return err
		}
	}
}

// skip passes over a value of any kind.
func (t *text) skip(depth int) error {
	switch c := t.peek(); c {
	case '"':
		_, err := t.skipString()
		return err
	case '{':
		return t.object(depth+1, func(string) error { return t.skip(depth + 1) })
	case '[':
		return t.array(depth+1, func(int) error { return t.skip(depth + 1) })
	default:
		_, err := t.word()
		return err
	}
}

// skipString passes over a string and says whether it has escapes.
func (t *text) skipString() (escaped bool, err error) {
	if err := t.take('"'); err != nil {
		return false, err
	}
	for {
		rest := t.buf[t.at:]
		i := bytes.IndexByte(rest, '"')
		if i < 0 {
			// A backslash may be the window's last byte: what it escapes is then in the next.
			keep := len(t.buf)
			for keep > t.at && t.buf[keep-1] == '\\' {
				keep--
			}
			escaped = escaped || bytes.IndexByte(rest, '\\') >= 0
			t.at = keep
			if !t.more(keep) {
				return escaped, t.fail("the end of a string")
			}
			continue
		}
		back := i
		for back > 0 && rest[back-1] == '\\' {
			back--
		}
		escaped = escaped || back < i || bytes.IndexByte(rest[:i], '\\') >= 0
		t.at += i + 1
		if (i-back)%2 == 0 {
			return escaped, nil
		}
	}
}

// word reads a number, true, false or null.
func (t *text) word() ([]byte, error) {
	t.peek()
	const most = 32
	for n := 0; ; n++ {
		if t.at+n == len(t.buf) && !t.more(t.at) {
			return t.words(n)
		}
		switch c := t.buf[t.at+n]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			if n == most {
				return nil, t.fail("a shorter number")
			}
		default:
			return t.words(n)
		}
	}
}

func (t *text) words(n int) ([]byte, error) {
	w := t.buf[t.at : t.at+n]
	switch string(w) {
	case "null", "true", "false":
	default:
		if _, err := strconv.ParseFloat(string(w), 64); err != nil || w[0] == '+' {
			return nil, t.fail("a JSON value")
		}
	}
	t.at += n
	return w, nil
}

// null passes over a null, if that is next.
func (t *text) null() bool {
	if t.peek() != 'n' {
		return false
	}
	_, err := t.word()
	return err == nil
}

// number reads an integer of at least 0 and at most most.
func (t *text) number(most int64) (int64, error) {
	at := t.offset()
	w, err := t.word()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseInt(string(w), 10, 64)
	if err != nil || v < 0 || v > most {
		return 0, t.failAt(at, "an integer from 0 to "+strconv.FormatInt(most, 10))
	}
	return v, nil
}

// string reads a string of at most most bytes. Where the input is in memory and
// the string has no escapes, it is a part of the input.
func (t *text) string(most int64) (string, error) {
	q, err := t.quoted()
	if err != nil {
		return "", err
	}
	if q.size > most {
		return "", t.tooMuch(q.start, "a string of at most "+strconv.FormatInt(most, 10)+" bytes")
	}
	return t.decoded(q)
}

// name reads a name. One that is too long is cut (symbol.CutName); of one above Limits.LineBytes, the bytes as they stand
// in the map are cut.
func (t *text) name() (string, error) {
	q, err := t.quoted()
	if err != nil {
		return "", err
	}
	if q.size > t.in.Limits.LineBytes {
		var c symbol.Cutter
		n, err := io.Copy(&c, io.NewSectionReader(t.in.Bytes, q.start+1, q.size))
		if err == nil && n < q.size {
			err = t.failAt(q.start+n, "as many bytes as before")
		}
		return c.Name(), err
	}
	s, err := t.decoded(q)
	return symbol.ShortName(s, t.in.Limits.NameBytes), err
}

// quoted is a string that has just been passed.
type quoted struct {
	start   int64 // of its first quote, in the map
	at      int   // of its first quote, in the window as it was then
	size    int64 // bytes between its quotes
	escaped bool
}

// quoted passes a string.
func (t *text) quoted() (q quoted, err error) {
	if t.peek() != '"' {
		return q, t.fail("a string")
	}
	q.start, q.at = t.offset(), t.at
	q.escaped, err = t.skipString()
	q.size = t.offset() - q.start - 2
	return q, err
}

// decoded returns the string of a quoted one that was passed last.
func (t *text) decoded(q quoted) (_ string, err error) {
	start, at, size, escaped := q.start, q.at, q.size, q.escaped
	var raw []byte
	if t.in.Mapped != nil {
		raw = t.buf[at+1 : t.at-1]
		if !escaped {
			return unsafe.String(unsafe.SliceData(raw), len(raw)), nil
		}
	} else if at = int(start - t.off); at >= 0 {
		raw = t.buf[at+1 : t.at-1]
	} else if raw, err = t.in.View(start+1, size); err != nil {
		return "", err
	}
	if !escaped {
		return string(raw), nil
	}
	s, bad := unescape(raw)
	if bad >= 0 {
		return "", t.failAt(start+1+int64(bad), "an escape of JSON")
	}
	return s, nil
}

// unescape decodes the inside of a string; bad is the offset of what is no
// escape, or -1. Lone surrogates become U+FFFD.
func unescape(raw []byte) (s string, bad int) {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		if i++; i == len(raw) {
			return "", i - 1
		}
		switch c := raw[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := hex4(raw, i+1)
			if !ok {
				return "", i
			}
			i += 4
			if utf16.IsSurrogate(r) {
				second, ok := rune(0), false
				if i+2 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
					second, ok = hex4(raw, i+3)
				}
				if pair := utf16.DecodeRune(r, second); ok && pair != utf8.RuneError {
					r = pair
					i += 6
				} else {
					r = utf8.RuneError
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			return "", i
		}
	}
	return string(out), -1
}

func hex4(b []byte, at int) (rune, bool) {
	if at+4 > len(b) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[at:at+4]), 16, 32)
	return rune(v), err == nil
}
