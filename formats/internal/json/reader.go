package json

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	// windowBytes are held of an input that is not in memory.
	windowBytes = 256 << 10
	// maxDepth bounds the nesting of JSON values, also of skipped ones.
	maxDepth = 128
)

// Reader reads JSON from an input front to back, through a window of bounded size. SeekTo goes anywhere.
// Its errors are *formats.Error with the offset in the input. One goroutine.
type Reader struct {
	In      *formats.Input
	Section string // for errors

	format string
	buf    []byte
	off    int64 // of buf[0] in the input
	at     int   // in buf
	end    int64 // of the part of the input that is read
	room   []byte
	text   []byte // room of Text
	err    error
}

// NewReader returns a reader of in for a format. It begins at the byte at from.
func NewReader(format string, in *formats.Input, from int64) *Reader {
	t := &Reader{In: in, Section: "map", format: format, end: in.Size}
	t.SeekTo(from)
	return t
}

// Inside returns a reader of the inside of a string that was decoded, and of a quote behind it. The
// string stood at from.
func (t *Reader) Inside(s string, from int64) *Reader {
	return &Reader{In: t.In, Section: t.Section, format: t.format, buf: append([]byte(s), '"'), off: from + 1, end: from + 2 + int64(len(s))}
}

// SeekTo makes off the next byte.
func (t *Reader) SeekTo(off int64) {
	if t.In.Mapped != nil {
		t.buf, t.off, t.at = t.In.Mapped, 0, int(min(off, t.In.Size))
		return
	}
	if off >= t.off && off <= t.off+int64(len(t.buf)) {
		t.at = int(off - t.off)
		return
	}
	t.buf, t.off, t.at = nil, off, 0
}

// Offset returns the offset of the next byte in the input.
func (t *Reader) Offset() int64 { return t.off + int64(t.at) }

// Rest returns the bytes of the window from the next byte on. They are valid until the Reader reads
// more of the input.
func (t *Reader) Rest() []byte { return t.buf[t.at:] }

// Back returns the n bytes before the next byte. The whole of the input must be in memory.
func (t *Reader) Back(n int) []byte { return t.buf[t.at-n : t.at] }

// Advance passes n bytes of Rest.
func (t *Reader) Advance(n int) { t.at += n }

// InMemory reports whether all of the input is in the window.
func (t *Reader) InMemory() bool { return t.In.Mapped != nil }

// IsLast reports whether the input ends where the window does.
func (t *Reader) IsLast() bool { return t.InMemory() || t.off+int64(len(t.buf)) >= t.end }

// ReadOn makes Rest longer; false: the input has no more bytes, or reading it failed (see Failure).
func (t *Reader) ReadOn() bool { return t.more(t.at) }

// Failure returns the error of reading the input; nil: there was none.
func (t *Reader) Failure() error { return t.err }

// more drops the window up to keep and brings the bytes behind it into it; false: there are none.
func (t *Reader) more(keep int) bool {
	if t.In.Mapped != nil || t.err != nil {
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
	got, err := t.In.Bytes.ReadAt(room[len(kept):], next)
	t.buf = room[:len(kept)+got]
	if got < int(n) {
		if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = t.Fail("as many bytes as the file has")
		}
		t.err = err
		return false
	}
	return true
}

// Fail returns the error of an input that does not have want at the next byte.
func (t *Reader) Fail(want string) error { return t.FailAt(t.Offset(), want) }

// FailAt returns the error of an input that does not have want at off.
func (t *Reader) FailAt(off int64, want string) error {
	if t.err != nil {
		return t.err
	}
	return &formats.Error{Format: t.format, Section: t.Section, Offset: off, Want: want, Err: formats.ErrCorrupt}
}

func (t *Reader) tooMuch(off int64, want string) error {
	return &formats.Error{Format: t.format, Section: t.Section, Offset: off, Want: want, Err: formats.ErrLimit}
}

// Peek passes over spaces and returns the byte behind them, which it does not pass; 0 at the end.
func (t *Reader) Peek() byte {
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
func (t *Reader) take(c byte) error {
	if t.Peek() != c {
		return t.Fail(strconv.QuoteRune(rune(c)))
	}
	t.at++
	return nil
}

// Object reads an object; each reads the value of its key.
func (t *Reader) Object(depth int, each func(key string) error) error {
	if err := t.take('{'); err != nil {
		return err
	}
	if depth > maxDepth {
		return t.tooMuch(t.Offset(), "values less nested")
	}
	for first := true; ; first = false {
		switch c := t.Peek(); {
		case c == '}':
			t.at++
			return nil
		case !first && c != ',':
			return t.Fail("',' or '}'")
		case !first:
			t.at++
		}
		key, err := t.String(1 << 10)
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

// Array reads an array; each reads its element i.
func (t *Reader) Array(depth int, each func(i int) error) error {
	if err := t.take('['); err != nil {
		return err
	}
	if depth > maxDepth {
		return t.tooMuch(t.Offset(), "values less nested")
	}
	for i := 0; ; i++ {
		switch c := t.Peek(); {
		case c == ']':
			t.at++
			return nil
		case i > 0 && c != ',':
			return t.Fail("',' or ']'")
		case i > 0:
			t.at++
		}
		if err := each(i); err != nil {
			return err
		}
	}
}

// Skip passes over a value of any kind.
func (t *Reader) Skip(depth int) error {
	switch c := t.Peek(); c {
	case '"':
		_, err := t.SkipString()
		return err
	case '{':
		return t.Object(depth+1, func(string) error { return t.Skip(depth + 1) })
	case '[':
		return t.Array(depth+1, func(int) error { return t.Skip(depth + 1) })
	default:
		_, err := t.Word()
		return err
	}
}

// SkipString passes over a string and says whether it has escapes.
func (t *Reader) SkipString() (escaped bool, err error) {
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
				return escaped, t.Fail("the end of a string")
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

// Word reads a number, true, false or null.
func (t *Reader) Word() ([]byte, error) {
	t.Peek()
	const most = 32
	for n := 0; ; n++ {
		if t.at+n == len(t.buf) && !t.more(t.at) {
			return t.words(n)
		}
		switch c := t.buf[t.at+n]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			if n == most {
				return nil, t.Fail("a shorter number")
			}
		default:
			return t.words(n)
		}
	}
}

func (t *Reader) words(n int) ([]byte, error) {
	w := t.buf[t.at : t.at+n]
	switch string(w) {
	case "null", "true", "false":
	default:
		if _, err := strconv.ParseFloat(string(w), 64); err != nil || w[0] == '+' {
			return nil, t.Fail("a JSON value")
		}
	}
	t.at += n
	return w, nil
}

// Null passes over a null, if that is next.
func (t *Reader) Null() bool {
	if t.Peek() != 'n' {
		return false
	}
	_, err := t.Word()
	return err == nil
}

// Number reads an integer of at least 0 and at most most.
func (t *Reader) Number(most int64) (int64, error) {
	at := t.Offset()
	w, err := t.Word()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseInt(string(w), 10, 64)
	if err != nil || v < 0 || v > most {
		return 0, t.FailAt(at, "an integer from 0 to "+strconv.FormatInt(most, 10))
	}
	return v, nil
}

// String reads a string of at most most bytes. Where the input is in memory and
// the string has no escapes, it is a part of the input.
func (t *Reader) String(most int64) (string, error) {
	q, err := t.bounded(most)
	if err != nil {
		return "", err
	}
	text, err := t.decoded(nil, q)
	return unsafe.String(unsafe.SliceData(text), len(text)), err
}

// Text does the same. The text is valid until the next one is read.
func (t *Reader) Text(most int64) ([]byte, error) {
	q, err := t.bounded(most)
	if err != nil {
		return nil, err
	}
	text, err := t.decoded(t.text, q)
	if q.escaped || !t.InMemory() {
		t.text = text[:0]
	}
	return text, err
}

// Name reads a name. A name that is too long is cut (symbol.CutName); above Limits.LineBytes, the bytes as they stand
// in the map are cut.
func (t *Reader) Name() (string, error) {
	q, err := t.quoted()
	if err != nil {
		return "", err
	}
	if q.size > t.In.Limits.LineBytes {
		var c symbol.Cutter
		n, err := io.Copy(&c, io.NewSectionReader(t.In.Bytes, q.start+1, q.size))
		if err == nil && n < q.size {
			err = t.FailAt(q.start+n, "as many bytes as before")
		}
		return c.Name(), err
	}
	text, err := t.decoded(nil, q)
	return symbol.ShortName(unsafe.String(unsafe.SliceData(text), len(text)), t.In.Limits.NameBytes), err
}

// quoted is a string that has just been passed.
type quoted struct {
	start   int64 // of its first quote, in the map
	at      int   // of its first quote, in the window as it was then
	size    int64 // bytes between its quotes
	escaped bool
}

// bounded passes a string of at most most bytes.
func (t *Reader) bounded(most int64) (quoted, error) {
	q, err := t.quoted()
	if err == nil && q.size > most {
		err = t.tooMuch(q.start, "a string of at most "+strconv.FormatInt(most, 10)+" bytes")
	}
	return q, err
}

// quoted passes a string.
func (t *Reader) quoted() (q quoted, err error) {
	if t.Peek() != '"' {
		return q, t.Fail("a string")
	}
	q.start, q.at = t.Offset(), t.at
	q.escaped, err = t.SkipString()
	q.size = t.Offset() - q.start - 2
	return q, err
}

// decoded returns the last quoted string, decoded. It stands in the input, which must be in memory then, or behind room.
func (t *Reader) decoded(room []byte, q quoted) (_ []byte, err error) {
	var raw []byte
	if t.In.Mapped != nil {
		if raw = t.buf[q.at+1 : t.at-1]; !q.escaped {
			return raw, nil
		}
	} else if at := int(q.start - t.off); at >= 0 {
		raw = t.buf[at+1 : t.at-1]
	} else if raw, err = t.In.View(q.start+1, q.size); err != nil {
		return nil, err
	}
	text, bad := unescape(slices.Grow(room, len(raw)), raw)
	if bad >= 0 {
		return nil, t.FailAt(q.start+1+int64(bad), "an escape of JSON")
	}
	return text, nil
}
