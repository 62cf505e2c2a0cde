package json

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
)

// Walker walks JSON without building anything: a report needs a small part of it, and its place. After a fault
// Failed is set, and every method returns nothing.
type Walker struct {
	Bytes  []byte
	Pos    int
	Failed bool
}

// Peek is the first byte of the value at hand, 0 at the end.
func (j *Walker) Peek() byte {
	for j.Pos < len(j.Bytes) {
		switch c := j.Bytes[j.Pos]; c {
		case ' ', '\t', '\r', '\n':
			j.Pos++
		default:
			return c
		}
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
		key := j.Text()
		if j.Take(':') {
			j.visit(func() { visit(key) })
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

// Composite calls each for the members or elements between open and end. Any other value is skipped.
func (j *Walker) Composite(open, end byte, each func()) {
	if j.Peek() != open {
		j.Skip()
		return
	}
	j.Pos++
	for first := true; !j.Failed; first = false {
		if j.Peek() == end {
			j.Pos++
			return
		}
		if !first && !j.Take(',') {
			return
		}
		each()
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
		switch c := j.Peek(); c {
		case 0:
			j.Failed = true
		case '"':
			j.Raw()
		case '{', '[':
			depth++
			j.Pos++
		case '}', ']':
			if depth--; depth < 0 {
				j.Failed = true
				return
			}
			j.Pos++
		case ',', ':':
			if depth == 0 {
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

// Raw passes a string and gives it with its quotes.
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

// Text is the string at hand; "" for any other value.
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
		j.Failed = true
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
