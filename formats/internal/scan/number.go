// Package scan reads the pieces that reports share: numbers, lines, the prefixes that logs and
// quotes put before a line, and names that go onto one line of output.
//
// Functions that read take the bytes and the index p where to begin. They return the index behind
// the last byte that they read, and keep no reference to the bytes. No function fails: text that
// does not fit is told by ok, or by a length of 0.
package scan

import (
	"bytes"
	"strconv"
	"strings"
)

// HexMark begins a hexadecimal number.
var HexMark = []byte("0x")

// IsHex reports whether b is a hexadecimal number that may be a build-id: of 1 to 128 digits.
func IsHex(b []byte) bool {
	for _, c := range b {
		if HexDigit(c) < 0 {
			return false
		}
	}
	return len(b) > 0 && len(b) <= maxID
}

// maxID is the length of a SHA-512 in hexadecimal digits: no build-id is longer.
const maxID = 128

// HexDigit returns the value of a hexadecimal digit, -1 for any other byte.
func HexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// Hex reads hexadecimal digits at p. More than 16 of them make no address.
func Hex(b []byte, p int) (v uint64, end int, ok bool) {
	for end = p; end < len(b) && HexDigit(b[end]) >= 0; end++ {
		v = v<<4 | uint64(HexDigit(b[end]))
	}
	return v, end, end > p && end-p <= 16
}

// Digits reads the number of a frame: 1 to 6 decimal digits at p.
func Digits(b []byte, p int) (n, end int, ok bool) {
	for end = p; end < len(b) && end-p < 7 && '0' <= b[end] && b[end] <= '9'; end++ {
		n = n*10 + int(b[end]-'0')
	}
	return n, end, end > p && end-p < 7
}

// Number reads decimal digits at p, or hexadecimal digits behind 0x.
func Number(b []byte, p int) (v uint64, end int, ok bool) {
	if p <= len(b) && bytes.HasPrefix(b[p:], HexMark) {
		return Hex(b, p+2)
	}
	for end = p; end < len(b) && end-p < 20 && '0' <= b[end] && b[end] <= '9'; end++ {
		v = v*10 + uint64(b[end]-'0')
	}
	return v, end, end > p && end-p < 20
}

// Uint32 reads a decimal number below 2^32 at p.
func Uint32(b []byte, p int) (v uint64, end int, ok bool) {
	for end = p; end < len(b) && end-p <= 10 && '0' <= b[end] && b[end] <= '9'; end++ {
		v = v*10 + uint64(b[end]-'0')
	}
	return v, end, end > p && end-p <= 10 && v < 1<<32
}

// UUID reads 32 hexadecimal digits at p, with dashes or without. It returns them in lower case with
// dashes, and "" if all of them are zero.
func UUID(b []byte, p int) (uuid string, end int, ok bool) {
	digits := make([]byte, 0, 36)
	zero := true
	for end = p; end < len(b) && len(digits) < 36; end++ {
		c := b[end]
		if c == '-' && end > p {
			continue
		}
		if HexDigit(c) < 0 {
			break
		}
		if n := len(digits); n == 8 || n == 13 || n == 18 || n == 23 {
			digits = append(digits, '-')
		}
		zero = zero && c == '0'
		digits = append(digits, c)
	}
	if len(digits) != 36 || end < len(b) && (HexDigit(b[end]) >= 0 || b[end] == '-') {
		return "", p, false
	}
	if zero {
		return "", end, true
	}
	return string(bytes.ToLower(digits)), end, true
}

// Numbered finds the next number of a frame, "#NN" with space before and behind it, from p on. start is
// the index of its sign, end the index behind the space.
func Numbered(b []byte, p int) (start, number, end int, ok bool) {
	for {
		i := bytes.IndexByte(b[p:], '#')
		if i < 0 {
			return 0, 0, 0, false
		}
		start = p + i
		p = start + 1
		if start > 0 && !IsSpace(b[start-1]) {
			continue
		}
		number, end, ok = Digits(b, p)
		if !ok || end == SkipSpace(b, end) {
			continue
		}
		return start, number, SkipSpace(b, end), true
	}
}

// LeadingNumber returns the decimal number that s begins with, 0 if there is none or it is too large.
func LeadingNumber(s string) uint64 {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.ParseUint(s[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
