package report

import "bytes"

// hexWord begins a hexadecimal number.
var hexWord = []byte("0x")

func isHex(b []byte) bool {
	for _, c := range b {
		if hexDigit(c) < 0 {
			return false
		}
	}
	return len(b) > 0 && len(b) <= maxID
}

// maxID is the length of a SHA-512 in hex: no build-id is longer.
const maxID = 128

func hexDigit(c byte) int {
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

// parseHex reads up to 16 digits at p; more are no address.
func parseHex(b []byte, p int) (v uint64, end int, ok bool) {
	for end = p; end < len(b) && hexDigit(b[end]) >= 0; end++ {
		v = v<<4 | uint64(hexDigit(b[end]))
	}
	return v, end, end > p && end-p <= 16
}

// parseDigits reads a frame's number: up to 6 digits at p.
func parseDigits(b []byte, p int) (n, end int, ok bool) {
	for end = p; end < len(b) && end-p < 7 && '0' <= b[end] && b[end] <= '9'; end++ {
		n = n*10 + int(b[end]-'0')
	}
	return n, end, end > p && end-p < 7
}

// parseNumber reads decimal digits, or hexadecimal ones behind 0x.
func parseNumber(b []byte, p int) (v uint64, end int, ok bool) {
	if p <= len(b) && bytes.HasPrefix(b[p:], hexWord) {
		return parseHex(b, p+2)
	}
	for end = p; end < len(b) && end-p < 20 && '0' <= b[end] && b[end] <= '9'; end++ {
		v = v*10 + uint64(b[end]-'0')
	}
	return v, end, end > p && end-p < 20
}

// parseUint32 reads a decimal number below 2^32.
func parseUint32(b []byte, p int) (v uint64, end int, ok bool) {
	for end = p; end < len(b) && end-p <= 10 && '0' <= b[end] && b[end] <= '9'; end++ {
		v = v*10 + uint64(b[end]-'0')
	}
	return v, end, end > p && end-p <= 10 && v < 1<<32
}

// parseUUID reads 32 hexadecimal digits at b[p:], with dashes or without, and
// gives them in lower case with dashes; "" if they are none, or zeros.
func parseUUID(b []byte, p int) (uuid string, end int, ok bool) {
	digits := make([]byte, 0, 36)
	zero := true
	for end = p; end < len(b) && len(digits) < 36; end++ {
		c := b[end]
		if c == '-' && end > p {
			continue
		}
		if hexDigit(c) < 0 {
			break
		}
		if n := len(digits); n == 8 || n == 13 || n == 18 || n == 23 {
			digits = append(digits, '-')
		}
		zero = zero && c == '0'
		digits = append(digits, c)
	}
	if len(digits) != 36 || end < len(b) && (hexDigit(b[end]) >= 0 || b[end] == '-') {
		return "", p, false
	}
	if zero {
		return "", end, true
	}
	return string(bytes.ToLower(digits)), end, true
}
