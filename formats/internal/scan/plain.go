package scan

import (
	"bytes"
	"unicode/utf8"
)

// Plain returns b as programs write text: one space for each space of a page, and "\n" or "\r\n" at the end of each
// line. Where b is so already, Plain returns b itself.
func Plain(b []byte) []byte { return oneEnd(spaced(b)) }

// spaced returns b with one space in place of each space that a page, a chat or a typesetter puts in its place, and
// without the marks that show as nothing. Spaces at the end of a line stay. Without any of them it returns b itself.
func spaced(b []byte) []byte {
	if !mayBeOdd(b) {
		return b
	}
	var out []byte
	done := 0
	for at := 0; at < len(b); {
		if b[at] < utf8.RuneSelf {
			at++
			continue
		}
		run := blanks(b[at:])
		if run == 0 {
			_, n := utf8.DecodeRune(b[at:])
			at += n
			continue
		}
		end := at + run
		if end == len(b) || b[end] == '\r' || b[end] == '\n' {
			at = end
			continue
		}
		for out = append(out, b[done:at]...); at < end; {
			r, n := utf8.DecodeRune(b[at:])
			if width, odd := oddSpace(r); odd {
				out = append(out, "  "[:width]...)
			} else {
				out = append(out, b[at])
			}
			at += n
		}
		done = end
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}

// blanks returns the length of the spaces, odd ones too, that b begins with.
func blanks(b []byte) (n int) {
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if _, odd := oddSpace(r); !odd && !IsSpace(b[n]) {
			break
		}
		n += size
	}
	return n
}

// TrimOdd returns a line without the spaces at its end, if an odd one is among them. It aliases line.
func TrimOdd(line []byte) []byte {
	cut, found := line, false
	for len(cut) > 0 {
		r, size := utf8.DecodeLastRune(cut)
		_, odd := oddSpace(r)
		if !odd && !IsSpace(cut[len(cut)-1]) {
			break
		}
		cut, found = cut[:len(cut)-size], found || odd
	}
	if !found {
		return line
	}
	return cut
}

// mayBeOdd reports whether a byte of b may begin an odd space.
func mayBeOdd(b []byte) bool {
	for _, lead := range []byte{0xc2, 0xe2, 0xe3, 0xef} {
		if bytes.IndexByte(b, lead) >= 0 {
			return true
		}
	}
	return false
}

// oddSpace returns how many spaces stand for r; odd is false for any other letter.
func oddSpace(r rune) (width int, odd bool) {
	switch {
	case r == '\u00a0', r == '\u202f', r == '\u205f', r >= '\u2000' && r <= '\u200a':
		return 1, true
	case r == '\u3000':
		return 2, true
	case r == '\ufeff', r == '\u200b', r == '\u2060':
		return 0, true
	}
	return 0, false
}

// oneEnd returns b with "\n" in place of each "\r" that ends a line alone, and every other byte at its index. Without
// such a "\r" it returns b itself.
func oneEnd(b []byte) []byte {
	out := b
	for at := bytes.IndexByte(b, '\r'); at >= 0; {
		end := at + 1
		for end < len(b) && b[end] == '\r' {
			end++
		}
		if end == len(b) || b[end] != '\n' {
			if &out[0] == &b[0] {
				out = bytes.Clone(b)
			}
			for i := at; i < end; i++ {
				out[i] = '\n'
			}
		}
		next := bytes.IndexByte(b[end:], '\r')
		if next < 0 {
			break
		}
		at = end + next
	}
	return out
}
