package json

import (
	"bytes"
	"encoding/json"
)

// Scan finds the end of a JSON value that arrives in pieces. It checks brackets and quotes only:
// the user of the value finds all other faults. The zero value is ready.
type Scan struct {
	At     int // bytes scanned so far
	depth  int
	quoted bool
	plain  bool // a number or word is being scanned
}

// Value goes on with b, which begins as in the call before and may be longer. n is the offset of the
// value's end if it is whole, or of the fault if ok is false.
func (s *Scan) Value(b []byte) (n int, whole, ok bool) {
	for s.At < len(b) {
		if s.quoted {
			end := bytes.IndexByte(b[s.At:], '"')
			if end < 0 {
				end = len(b) - s.At
			}
			if escape := bytes.IndexByte(b[s.At:s.At+end], '\\'); escape >= 0 {
				if s.At+escape+1 >= len(b) {
					s.At += escape // again, with what it escapes
					return s.At, false, true
				}
				s.At += escape + 2
				continue
			}
			if s.At += end; s.At == len(b) {
				return s.At, false, true
			}
			s.At++
			s.quoted = false
			if s.depth == 0 {
				return s.At, true, true
			}
			continue
		}
		c := b[s.At]
		switch c {
		case '"':
			s.quoted = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth == 0 {
				return s.At, s.plain, s.plain
			}
			if s.depth--; s.depth == 0 {
				s.At++
				return s.At, true, true
			}
		case ',', ' ', '\t', '\r', '\n', ':':
			if s.depth == 0 {
				return s.At, s.plain, s.plain
			}
		default:
			if s.depth == 0 {
				s.plain = true
			}
		}
		s.At++
	}
	return s.At, false, true
}

// Atom reports whether the value is a number or a word: only the end of the input tells its end.
func (s *Scan) Atom() bool { return s.plain && s.depth == 0 && !s.quoted }

// SkipBlank returns the offset of the first byte of b from i on that is no blank.
func SkipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// PlainValue returns the end of the value at i. 0: the value is not whole in b, or it is a string with
// escapes, or no value.
func PlainValue(b []byte, i int) int {
	if i >= len(b) {
		return 0
	}
	switch c := b[i]; {
	case c == '"':
		end := bytes.IndexByte(b[i+1:], '"')
		if end < 0 || bytes.IndexByte(b[i+1:i+1+end], '\\') >= 0 {
			return 0
		}
		return i + end + 2
	case c == '{' || c == '[':
		var s Scan
		n, whole, ok := s.Value(b[i:])
		if !whole || !ok {
			return 0
		}
		return i + n
	}
	from := i
	for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '.' || b[i] == '-' || b[i] == '+' || b[i]|0x20 >= 'a' && b[i]|0x20 <= 'z') {
		i++
	}
	if i == from || i == len(b) {
		return 0
	}
	return i
}

// EachField shows the fields of an object as they are written, keys with their quotes; false: v is no
// object.
func EachField(v []byte, show func(key, value []byte)) bool {
	if len(v) < 2 || v[0] != '{' {
		return false
	}
	at := 1
	next := func() []byte {
		for at < len(v) {
			switch v[at] {
			case ' ', '\t', '\r', '\n', ',', ':':
				at++
				continue
			}
			var s Scan
			n, whole, ok := s.Value(v[at:])
			if !ok || !whole {
				return nil
			}
			value := v[at : at+n]
			at += n
			return value
		}
		return nil
	}
	for {
		key := next()
		if key == nil || key[0] != '"' {
			return at < len(v) && v[at] == '}'
		}
		value := next()
		if value == nil {
			return false
		}
		show(key, value)
	}
}

// String returns a copy of the text of a JSON string, and of any other value as it is written.
func String(v []byte) string { return string(Bytes(v)) }

// Bytes does the same as String, and shares the bytes of v where it can.
func Bytes(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return v
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return v[1 : len(v)-1]
	}
	return []byte(s)
}

// Valid reports whether text is one JSON value, by the letter of RFC 8259.
func Valid(text []byte) bool { return json.Valid(text) }
