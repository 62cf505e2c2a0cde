package jsonline

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Text returns a value as text; "" of null and of values that are neither text nor number.
func Text(raw []byte) string {
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] == '"':
		if bytes.IndexByte(raw, '\\') < 0 {
			return string(raw[1 : len(raw)-1])
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return string(raw)
	}
	return ""
}

// withoutFraction returns a JSON number without a fraction of zeros, and in digits where it has an exponent and is whole.
// A number that is not whole comes back as it is.
func withoutFraction(s string) string {
	if whole, fraction, ok := strings.Cut(s, "."); ok && strings.Trim(fraction, "0") == "" {
		return whole
	}
	if !strings.ContainsAny(s, "eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return s
	}
	return strconv.FormatInt(int64(f), 10)
}

// Whole reads a decimal number as an address. A negative one is what a signed column makes of a high address, and one
// above 64 bits lies outside of everything.
func Whole(s string) (uint64, bool) {
	s = withoutFraction(s)
	if v, err := strconv.ParseUint(s, 10, 64); err == nil {
		return v, true
	} else if errors.Is(err, strconv.ErrRange) && !strings.ContainsAny(s, ".eE-") {
		return math.MaxUint64, true
	}
	v, err := strconv.ParseInt(s, 10, 64)
	return uint64(v), err == nil
}

// AppendText writes a string as JSON.
func AppendText(to []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return append(append(append(to, '"'), s...), '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // of a string: it cannot fail
	return append(to, bytes.TrimRight(b.Bytes(), "\n")...)
}

// Scanner walks JSON that is valid.
type Scanner struct {
	B  []byte
	At int // of the next byte
}

// Space skips white space.
func (s *Scanner) Space() {
	for s.At < len(s.B) && (s.B[s.At] == ' ' || s.B[s.At] == '\t' || s.B[s.At] == '\r' || s.B[s.At] == '\n') {
		s.At++
	}
}

// Eat skips a byte, if it is next.
func (s *Scanner) Eat(c byte) bool {
	if s.At < len(s.B) && s.B[s.At] == c {
		s.At++
		return true
	}
	return false
}

// Key reads the name of a member.
func (s *Scanner) Key() string {
	from := s.At
	s.Value()
	return Text(s.B[from:s.At])
}

// Value skips a value.
func (s *Scanner) Value() {
	depth := 0
	for s.At < len(s.B) {
		switch c := s.B[s.At]; c {
		case '"':
			for s.At++; s.B[s.At] != '"'; s.At++ {
				if s.B[s.At] == '\\' {
					s.At++
				}
			}
			s.At++
		case '{', '[':
			depth++
			s.At++
			continue
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
			s.At++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return
			}
			s.At++
			continue
		default:
			for s.At < len(s.B) && strings.IndexByte(",:]} \t\r\n", s.B[s.At]) < 0 {
				s.At++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// Elements returns the values of an array, raw.
func Elements(raw []byte) (all [][]byte) {
	s := Scanner{B: raw}
	s.Eat('[')
	for s.Space(); !s.Eat(']'); s.Space() {
		from := s.At
		s.Value()
		all = append(all, raw[from:s.At])
		s.Space()
		s.Eat(',')
	}
	return all
}
