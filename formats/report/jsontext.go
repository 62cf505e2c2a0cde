package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
)

// jsonText walks JSON without building anything: what is of interest in a
// report is a small part of it, and where that stands matters. After a fault
// bad is set and everything yields nothing.
type jsonText struct {
	b   []byte
	p   int
	bad bool
}

// peek is the first byte of the value at hand, 0 at the end.
func (j *jsonText) peek() byte {
	for j.p < len(j.b) {
		switch c := j.b[j.p]; c {
		case ' ', '\t', '\r', '\n':
			j.p++
		default:
			return c
		}
	}
	return 0
}

func (j *jsonText) take(c byte) bool {
	if j.bad || j.peek() != c {
		j.bad = true
		return false
	}
	j.p++
	return true
}

// object visits the members of the object at hand; what visit does not consume
// is skipped. Any other value is skipped.
func (j *jsonText) object(visit func(key string)) {
	j.composite('{', '}', func() {
		key := j.text()
		if j.take(':') {
			j.visit(func() { visit(key) })
		}
	})
}

// array visits the elements of the array at hand.
func (j *jsonText) array(visit func(i int)) {
	i := -1
	j.composite('[', ']', func() {
		i++
		j.visit(func() { visit(i) })
	})
}

func (j *jsonText) composite(open, end byte, each func()) {
	if j.peek() != open {
		j.skip()
		return
	}
	j.p++
	for first := true; !j.bad; first = false {
		if j.peek() == end {
			j.p++
			return
		}
		if !first && !j.take(',') {
			return
		}
		each()
	}
}

// visit calls f for the value at hand, and skips it if f did not consume it.
func (j *jsonText) visit(f func()) {
	j.peek()
	if at := j.p; !j.bad {
		if f(); j.p == at {
			j.skip()
		}
	}
}

// skip passes the value at hand.
func (j *jsonText) skip() {
	depth := 0
	for !j.bad {
		switch c := j.peek(); c {
		case 0:
			j.bad = true
		case '"':
			j.raw()
		case '{', '[':
			depth++
			j.p++
		case '}', ']':
			if depth--; depth < 0 {
				j.bad = true
				return
			}
			j.p++
		case ',', ':':
			if depth == 0 {
				j.bad = true
				return
			}
			j.p++
			continue
		default:
			j.word()
		}
		if depth == 0 {
			return
		}
	}
}

// broken reports whether the text is no JSON. What is cut is read as far as it goes.
func (j *jsonText) broken() bool { return j.bad && j.p < len(j.b) }

// word passes a number, true, false or null.
func (j *jsonText) word() []byte {
	from := j.p
	for j.p < len(j.b) && bytes.IndexByte([]byte(" \t\r\n,:]}[{\""), j.b[j.p]) < 0 {
		j.p++
	}
	if j.p == from {
		j.bad = true
	}
	return j.b[from:j.p]
}

// raw passes a string and gives it with its quotes.
func (j *jsonText) raw() []byte {
	from := j.p
	for j.p++; j.p < len(j.b); j.p++ {
		switch j.b[j.p] {
		case '\\':
			j.p++
		case '"':
			j.p++
			return j.b[from:j.p]
		}
	}
	j.p = len(j.b)
	j.bad = true
	return nil
}

// text is the string at hand; "" for any other value.
func (j *jsonText) text() string {
	if j.peek() != '"' {
		j.skip()
		return ""
	}
	raw := j.raw()
	if j.bad {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		j.bad = true
	}
	return s
}

// number is the number at hand, or the one that a string spells, 0x… too.
func (j *jsonText) number() uint64 {
	var s string
	switch j.peek() {
	case '"':
		s = j.text()
	case '{', '[':
		j.skip()
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

// isTrue reports whether the value at hand is true.
func (j *jsonText) isTrue() bool {
	if c := j.peek(); c != 't' {
		j.skip()
		return false
	}
	return string(j.word()) == "true"
}

// maxJSONDepth bounds the nesting of values that are looked at.
const maxJSONDepth = 256

// jsonMembers are the members of an object as they are spelled, without those
// that are about to be replaced.
func jsonMembers(object []byte, gone ...string) (members [][]byte) {
	j := &jsonText{b: object}
	j.composite('{', '}', func() {
		j.peek()
		from := j.p
		key := j.text()
		if j.take(':') {
			j.skip()
		}
		if !j.bad && !slices.Contains(gone, key) {
			members = append(members, object[from:j.p])
		}
	})
	return members
}

func writeMember(out *bufio.Writer, key, value string) {
	out.WriteString(`"` + key + `": "` + quote(value) + `"`)
}

// quote is the inside of the JSON string that spells text.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)           // names of C++ are full of angle brackets
	_ = e.Encode(scan.OneLine(text)) // no string fails
	return b.String()[1 : b.Len()-2]
}
