package json

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape decodes the inside of a string; bad is the offset of bytes that are no
// escape, or -1. Lone surrogates become U+FFFD.
func unescape(raw []byte) (s string, bad int) {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		to, n := appendEscape(out, raw[i:])
		if n == 0 {
			return "", i + 1
		}
		out = to
		i += n
	}
	return string(out), -1
}

// AppendUnescaped appends the text that the inside of a string spells. Bytes that are no escape stay as they stand, lone
// surrogates become U+FFFD.
func AppendUnescaped(out, raw []byte) []byte {
	for i := 0; i < len(raw); {
		n := 0
		if raw[i] == '\\' {
			out, n = appendEscape(out, raw[i:])
		}
		if n == 0 {
			out = append(out, raw[i])
			n = 1
		}
		i += n
	}
	return out
}

// appendEscape appends the letter of the escape that b begins with, and returns how many bytes that took; 0: it is none.
func appendEscape(out, b []byte) (to []byte, n int) {
	if len(b) < 2 {
		return out, 0
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		return append(out, c), 2
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		r, ok := hex4(b, 2)
		if !ok {
			return out, 0
		}
		const one = len(`\u0000`)
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(out, r), one
		}
		if len(b) >= one+2 && b[one] == '\\' && b[one+1] == 'u' {
			if second, ok := hex4(b, one+2); ok {
				if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
					return utf8.AppendRune(out, pair), 2 * one
				}
			}
		}
		return utf8.AppendRune(out, utf8.RuneError), one
	}
	return out, 0
}

func hex4(b []byte, at int) (rune, bool) {
	if at+4 > len(b) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[at:at+4]), 16, 32)
	return rune(v), err == nil
}
