package json

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends the text that the inside of a string spells; bad is where it has no escape of JSON, -1: nowhere.
func unescape(out, raw []byte) (text []byte, bad int) {
	for at := 0; at < len(raw); {
		to, n, ok := appendPiece(out, raw[at:])
		if out, at = to, at+n; !ok {
			return nil, at + 1
		}
	}
	return out, -1
}

// AppendUnescaped appends the text that the inside of a string spells. Bytes that are no escape stay as they stand, lone
// surrogates become U+FFFD.
func AppendUnescaped(out, raw []byte) []byte {
	for len(raw) > 0 {
		to, n, ok := appendPiece(out, raw)
		if out, raw = to, raw[n:]; !ok {
			out, raw = append(out, raw[0]), raw[1:]
		}
	}
	return out
}

// appendPiece appends what raw spells up to its first escape and with it, and returns how many bytes that took. Where the
// escape is none, ok is false, and the piece ends before it.
func appendPiece(out, raw []byte) (to []byte, n int, ok bool) {
	at := bytes.IndexByte(raw, '\\')
	if at < 0 {
		return append(out, raw...), len(raw), true
	}
	out = append(out, raw[:at]...)
	if to, n = appendEscape(out, raw[at:]); n == 0 {
		return out, at, false
	}
	return to, at + n, true
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
