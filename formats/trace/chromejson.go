package trace

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// scan finds the end of a JSON value that may not be there whole yet. It
// checks brackets and quotes; what else is wrong is found where the value is used.
type scan struct {
	at     int // scanned up to here
	depth  int
	quoted bool
	plain  bool // a number or word is being scanned
}

// value goes on with b, which begins as before. n is where the value ends, or
// where it is wrong.
func (s *scan) value(b []byte) (n int, whole, ok bool) {
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
func (s *scan) atom() bool { return s.plain && s.depth == 0 && !s.quoted }

// chromeEvent is an event; its parts are those of the text.
type chromeEvent struct {
	name     []byte
	phase    byte
	ts, dur  []byte
	pid, tid []byte
	args     []byte
}

// set takes over a field as it is written, its key without quotes.
func (e *chromeEvent) set(key, value []byte) {
	switch string(key) {
	case "name":
		e.name = textOf(value)
	case "ph":
		if len(value) == 3 {
			e.phase = value[1]
		}
	case "ts":
		e.ts = value
	case "dur":
		e.dur = value
	case "pid":
		e.pid = value
	case "tid":
		e.tid = value
	case "args":
		e.args = value
	}
}

// read takes the object apart; false: it is no event.
func (e *chromeEvent) read(v []byte) bool {
	fine := fields(v, func(key, value []byte) { e.set(key[1:len(key)-1], value) })
	return fine && e.phase != 0
}

// plain reads an event that b begins with, as tracers write them: in one pass, and no further than the input at hand.
// 0: it is not whole, or anything about it is unusual, and read has to look at it.
func (e *chromeEvent) plain(b []byte) (n int) {
	*e = chromeEvent{}
	for i := 1; ; i++ { // behind a brace or comma
		i = blank(b, i)
		if i >= len(b) || b[i] != '"' {
			return 0
		}
		key := i + 1
		for i = key; i < len(b) && b[i] != '"' && b[i] != '\\'; i++ {
		}
		if i >= len(b) || b[i] != '"' {
			return 0
		}
		of := b[key:i]
		if i = blank(b, i+1); i >= len(b) || b[i] != ':' {
			return 0
		}
		from := blank(b, i+1)
		if i = plainValue(b, from); i == 0 {
			return 0
		}
		e.set(of, b[from:i])
		if i = blank(b, i); i >= len(b) || b[i] != ',' && b[i] != '}' {
			return 0
		}
		if b[i] == '}' {
			if e.phase == 0 {
				return 0
			}
			return i + 1
		}
	}
}

// blank is where what is no blank comes from i on.
func blank(b []byte, i int) int {
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
		var s scan
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

// title is args.name.
func (e *chromeEvent) title() (name string) {
	fields(e.args, func(key, value []byte) {
		if string(key) == `"name"` {
			name = text(value)
		}
	})
	return name
}

// values shows the numbers among the args.
func (e *chromeEvent) values(show func(series string, value float64)) {
	fields(e.args, func(key, value []byte) {
		if f, err := strconv.ParseFloat(string(bytes.Trim(value, `"`)), 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			show(text(key), f)
		}
	})
}

// fields shows the fields of an object, as they are written; false: it is none.
func fields(v []byte, show func(key, value []byte)) bool {
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
			var s scan
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

// text is textOf as a string.
func text(v []byte) string { return string(textOf(v)) }

// textOf is a JSON string's text; of anything else, what is written.
func textOf(v []byte) []byte {
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

// integer reads a whole number.
func integer(v []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil
}

// micros reads a number of microseconds as nanoseconds, what is less cut off.
func micros(v []byte) (int64, bool) {
	if len(v) > 0 && v[0] == '"' {
		v = bytes.Trim(v, `"`)
	}
	var n int64
	i, negative := 0, false
	if len(v) > 0 && v[0] == '-' {
		negative, i = true, 1
	}
	from := i
	for ; i < len(v) && v[i]-'0' <= 9; i++ {
		if n > math.MaxInt64/10_000-1 {
			return 0, false
		}
		n = n*10 + int64(v[i]-'0')
	}
	if i == from {
		return 0, false
	}
	n *= 1000
	if i < len(v) && v[i] == '.' {
		i++
		for scale := int64(100); i < len(v) && v[i]-'0' <= 9; i++ {
			n += int64(v[i]-'0') * scale
			scale /= 10
		}
	}
	if i < len(v) { // with an exponent
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil || math.Abs(f) > math.MaxInt64/2000 {
			return 0, false
		}
		return int64(math.Round(f * 1000)), true
	}
	if negative {
		n = -n
	}
	return n, true
}
