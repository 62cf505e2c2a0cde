package json

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// StringEnd returns the index of the quote that ends the string whose inside begins at from; -1: none does.
func StringEnd(b []byte, from int) int {
	for at := from; ; {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return -1
		}
		at += i
		back := at
		for back > from && b[back-1] == '\\' {
			back--
		}
		if (at-back)%2 == 0 {
			return at
		}
		at++
	}
}

// CutEnd returns where the inside of a string ends that was cut, without the beginning of an escape.
func CutEnd(raw []byte) int {
	at := bytes.LastIndexByte(raw[max(0, len(raw)-len(`\u000`)):], '\\')
	if at < 0 {
		return len(raw)
	}
	at += max(0, len(raw)-len(`\u000`))
	back := at
	for back > 0 && raw[back-1] == '\\' {
		back--
	}
	if whole := at+1 < len(raw) && raw[at+1] != 'u'; whole || (at-back)%2 == 1 {
		return len(raw)
	}
	return at
}

// LineEnd returns the index behind the first line end that the inside of a string spells; -1: it spells none.
func LineEnd(raw []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(raw[at:], '\\')
		if i < 0 || at+i+1 >= len(raw) {
			return -1
		}
		at += i
		if raw[at+1] == 'n' {
			return at + 2
		}
		at += 2
	}
}

// Style is how a program escapes letters that it need not escape.
type Style struct {
	slash bool   // "/" as "\/"
	ascii bool   // letters beyond ASCII by their numbers
	html  bool   // <, > and & by their numbers
	digit string // of numbers: 0 to f, or to F
}

// StyleOf returns the style of a string, of which raw is the inside.
func StyleOf(raw []byte) Style {
	s := Style{slash: bytes.Contains(raw, []byte(`\/`)), digit: "0123456789abcdef"}
	for rest := raw; ; {
		i := bytes.Index(rest, []byte(`\u`))
		if i < 0 {
			return s
		}
		rest = rest[i+2:]
		r, ok := hex4(rest, 0)
		if !ok {
			continue
		}
		s.ascii = s.ascii || r >= utf8.RuneSelf && r != 0x2028 && r != 0x2029
		s.html = s.html || r == '<' || r == '>' || r == '&'
		if bytes.ContainsAny(rest[:4], "ABCDEF") {
			s.digit = "0123456789ABCDEF"
		}
	}
}

// Append appends the inside of the string that spells text.
func (s Style) Append(out, text []byte) []byte {
	for at := 0; at < len(text); {
		c := text[at]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(text[at:])
			switch {
			case r == utf8.RuneError && n == 1:
				out = append(out, "\ufffd"...)
			case !s.ascii:
				out = append(out, text[at:at+n]...)
			case r >= 0x10000:
				first, second := utf16.EncodeRune(r)
				out = s.number(s.number(out, first), second)
			default:
				out = s.number(out, r)
			}
			at += n
			continue
		}
		at++
		switch {
		case c == '"' || c == '\\' || c == '/' && s.slash:
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c == '\b':
			out = append(out, `\b`...)
		case c == '\f':
			out = append(out, `\f`...)
		case c < ' ' || s.html && (c == '<' || c == '>' || c == '&'):
			out = s.number(out, rune(c))
		default:
			out = append(out, c)
		}
	}
	return out
}

// number appends a letter by its number.
func (s Style) number(out []byte, r rune) []byte {
	return append(out, '\\', 'u', s.digit[r>>12&15], s.digit[r>>8&15], s.digit[r>>4&15], s.digit[r&15])
}
