package trace

import (
	"bytes"
	"encoding/json"
)

// valueScan finds the end of a JSON value that may not be there whole yet. It
// checks brackets and quotes; what else is wrong is found where the value is used.
type valueScan struct {
	at     int // scanned up to here
	depth  int
	quoted bool
	plain  bool // a number or word is being scanned
}

// value goes on with b, which begins as before. n is where the value ends, or
// where it is wrong.
func (s *valueScan) value(b []byte) (n int, whole, ok bool) {
	for s.at < len(b) {
		if s.quoted {
			end := bytes.IndexByte(b[s.at:], '"')
			if end < 0 {
				end = len(b) - s.at
			}
			if escape := bytes.IndexByte(b[s.at:s.at+end], '\\'); escape >= 0 {
				if s.at+escape+1 >= len(b) {
					s.at += escape // again, with what it escapes
					return s.at, false, true
				}
				s.at += escape + 2
				continue
			}
			if s.at += end; s.at == len(b) {
				return s.at, false, true
			}
			s.at++
			s.quoted = false
			if s.depth == 0 {
				return s.at, true, true
			}
			continue
		}
		c := b[s.at]
		switch c {
		case '"':
			s.quoted = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth == 0 {
				return s.at, s.plain, s.plain
			}
			if s.depth--; s.depth == 0 {
				s.at++
				return s.at, true, true
			}
		case ',', ' ', '\t', '\r', '\n', ':':
			if s.depth == 0 {
				return s.at, s.plain, s.plain
			}
		default:
			if s.depth == 0 {
				s.plain = true
			}
		}
		s.at++
	}
	return s.at, false, true
}

// atom: the value is a number or word, which ends with the input.
func (s *valueScan) atom() bool { return s.plain && s.depth == 0 && !s.quoted }

// skipBlank is where what is no blank comes from i on.
func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// plainValue gives the end of the value at i, before which there is more of b; 0: see plain.
func plainValue(b []byte, i int) int {
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
		var s valueScan
		n, whole, ok := s.value(b[i:])
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

// eachField shows the fields of an object, as they are written; false: it is none.
func eachField(v []byte, show func(key, value []byte)) bool {
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
			var s valueScan
			n, whole, ok := s.value(v[at:])
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

// stringOf is bytesOf as a string.
func stringOf(v []byte) string { return string(bytesOf(v)) }

// bytesOf is a JSON string's text; of anything else, what is written.
func bytesOf(v []byte) []byte {
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
