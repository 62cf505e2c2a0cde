package json

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/internal/scan"
)

// Walker walks JSON without building anything: a report needs a small part of it, and its place. It takes more than JSON:
// comments, spaces of pages, commas too many or too few, a bracket that closes another, words such as NaN, and strings
// with odd letters and escapes. After a fault, or at the end of a text that was cut, Failed is set, and every method
// returns nothing.
type Walker struct {
	Bytes  []byte
	Pos    int
	Failed bool
}

// Peek is the first byte of the value at hand, 0 at the end.
func (j *Walker) Peek() byte {
	for j.Pos < len(j.Bytes) {
		switch c := j.Bytes[j.Pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			j.Pos++
		case c != '/' && c != recordMark && c < utf8.RuneSelf:
			return c
		default:
			n := blankBytes(j.Bytes[j.Pos:])
			if n == 0 {
				return c
			}
			j.Pos += n
		}
	}
	return 0
}

// recordMark stands before each value of a sequence (RFC 7464).
const recordMark = 0x1e

// blankBytes returns the length of the comment, or of the odd space, that b begins with; 0: it begins with none.
func blankBytes(b []byte) int {
	switch {
	case b[0] == recordMark:
		return 1
	case bytes.HasPrefix(b, []byte("//")):
		if end := bytes.IndexByte(b, '\n'); end >= 0 {
			return end
		}
		return len(b)
	case bytes.HasPrefix(b, []byte("/*")):
		if end := bytes.Index(b[2:], []byte("*/")); end >= 0 {
			return end + len("/**/")
		}
		return len(b)
	}
	switch r, n := utf8.DecodeRune(b); {
	case n > 1 && unicode.IsSpace(r), r == '\ufeff', r == '\u200b':
		return n
	}
	return 0
}

// Take passes c, and fails if another byte stands at hand.
func (j *Walker) Take(c byte) bool {
	if j.Failed || j.Peek() != c {
		j.Failed = true
		return false
	}
	j.Pos++
	return true
}

// Object visits the members of the object at hand; what visit does not consume
// is skipped. Any other value is skipped.
func (j *Walker) Object(visit func(key string)) {
	j.Composite('{', '}', func() {
		if key := j.Text(); !j.Failed && j.Peek() == ':' {
			j.Pos++
			if c := j.Peek(); c != ',' && c != '}' && c != ']' {
				j.visit(func() { visit(key) })
			}
		}
	})
}

// Array visits the elements of the array at hand.
func (j *Walker) Array(visit func(i int)) {
	i := -1
	j.Composite('[', ']', func() {
		i++
		j.visit(func() { visit(i) })
	})
}

// Composite calls each for the members or elements between open and end. A bracket of the other kind ends them too. Any
// other value is skipped.
func (j *Walker) Composite(open, end byte, each func()) {
	if j.Peek() != open {
		j.Skip()
		return
	}
	j.Pos++
	for !j.Failed {
		switch c := j.Peek(); {
		case c == end || c == '}' || c == ']':
			j.Pos++
			return
		case c == ',' || c == ':':
			j.Pos++
		case j.Pos >= len(j.Bytes):
			j.Failed = true
		default:
			at := j.Pos
			if each(); j.Pos == at {
				j.Skip()
			}
		}
	}
}

// visit calls f for the value at hand, and skips it if f did not consume it.
func (j *Walker) visit(f func()) {
	j.Peek()
	if at := j.Pos; !j.Failed {
		if f(); j.Pos == at {
			j.Skip()
		}
	}
}

// Skip passes the value at hand.
func (j *Walker) Skip() {
	depth := 0
	for !j.Failed {
		switch c := j.Peek(); {
		case j.Pos >= len(j.Bytes):
			j.Failed = true
		case c == '"':
			j.Raw()
		case c == '{' || c == '[':
			depth++
			j.Pos++
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				j.Failed = true
				return
			}
			j.Pos++
		case c == ',' || c == ':':
			if depth == 0 && c == ',' {
				j.Failed = true
				return
			}
			j.Pos++
			continue
		default:
			j.word()
		}
		if depth == 0 {
			return
		}
	}
}

// Broken reports whether the text is no JSON. A text that was cut is read as far as it goes.
func (j *Walker) Broken() bool { return j.Failed && j.Pos < len(j.Bytes) }

// word passes a number, true, false or null.
func (j *Walker) word() []byte {
	from := j.Pos
	for j.Pos < len(j.Bytes) && bytes.IndexByte([]byte(" \t\r\n,:]}[{\""), j.Bytes[j.Pos]) < 0 {
		j.Pos++
	}
	if j.Pos == from {
		j.Failed = true
	}
	return j.Bytes[from:j.Pos]
}

// Raw passes a string and gives it with its quotes; nil, if it was cut.
func (j *Walker) Raw() []byte {
	from := j.Pos
	for j.Pos++; j.Pos < len(j.Bytes); j.Pos++ {
		switch j.Bytes[j.Pos] {
		case '\\':
			j.Pos++
		case '"':
			j.Pos++
			return j.Bytes[from:j.Pos]
		}
	}
	j.Pos = len(j.Bytes)
	j.Failed = true
	return nil
}

// Inside passes a string, also a cut one, and returns where its text begins and ends, without quotes.
func (j *Walker) Inside() (from, to int) {
	from = j.Pos + 1
	if raw := j.Raw(); raw != nil {
		return from, j.Pos - 1
	}
	return min(from, len(j.Bytes)), len(j.Bytes)
}

// Text is the string at hand; "" for any other value. Escapes that mean nothing stay as they stand.
func (j *Walker) Text() string {
	if j.Peek() != '"' {
		j.Skip()
		return ""
	}
	raw := j.Raw()
	if j.Failed {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(bytes.ToValidUTF8(AppendUnescaped(nil, raw[1:len(raw)-1]), []byte("\ufffd")))
	}
	return s
}

// Number is the number at hand, or the number that a string spells, 0x… too.
func (j *Walker) Number() uint64 {
	var s string
	switch j.Peek() {
	case '"':
		s = j.Text()
	case '{', '[':
		j.Skip()
		return 0
	default:
		s = string(j.word())
	}
	if v, err := strconv.ParseUint(s, 0, 64); err == nil {
		return v
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return uint64(v)
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 && v < 1<<63 {
		return uint64(v)
	}
	return 0
}

// IsTrue reports whether the value at hand is true.
func (j *Walker) IsTrue() bool {
	if c := j.Peek(); c != 't' {
		j.Skip()
		return false
	}
	return string(j.word()) == "true"
}

// MaxDepth bounds the nesting of values that are looked at.
const MaxDepth = 256

// Members are the members of an object as they are spelled, without those
// that are about to be replaced.
func Members(object []byte, gone ...string) (members [][]byte) {
	j := &Walker{Bytes: object}
	j.Composite('{', '}', func() {
		j.Peek()
		from := j.Pos
		key := j.Text()
		if j.Take(':') {
			j.Skip()
		}
		if !j.Failed && !slices.Contains(gone, key) {
			members = append(members, object[from:j.Pos])
		}
	})
	return members
}

// WriteMember writes a member with a string: "key": "value".
func WriteMember(out *bufio.Writer, key, value string) {
	out.WriteString(`"` + key + `": "` + Quote(value) + `"`)
}

// Quote is the inside of the JSON string that spells text.
func Quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)           // names of C++ are full of angle brackets
	_ = e.Encode(scan.OneLine(text)) // no string fails
	return b.String()[1 : b.Len()-2]
}
