package term

import (
	"strings"
	"unicode"
)

// wide are the characters that take two columns: East Asian wide and full-width ones, and pictures.
var wide = []struct{ from, to rune }{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xac00, 0xd7a3},
	{0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
}

// runeColumns returns how many columns of a terminal a character takes.
func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if r >= w.from && r <= w.to {
			return 2
		}
	}
	return 1
}

// Columns returns how many columns of a terminal a text without escapes takes.
func Columns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// ellipsis stands where a text was shortened.
const ellipsis = "…"

// Shorten returns a text that takes at most n columns. A longer one loses its middle: people know a path by its ends.
func Shorten(s string, n int) string {
	if Columns(s) <= n {
		return s
	}
	if n <= 1 {
		return strings.Repeat(ellipsis, max(n, 0))
	}
	tail := (n - 1) / 2
	runes := []rune(s)
	head, used := 0, 0
	for used+runeColumns(runes[head]) <= n-1-tail {
		used += runeColumns(runes[head])
		head++
	}
	end, left := len(runes), n-1-used
	for end > head && left >= runeColumns(runes[end-1]) {
		end--
		left -= runeColumns(runes[end])
	}
	return string(runes[:head]) + ellipsis + string(runes[end:])
}

// Wrap breaks a paragraph into lines of at most n columns, between words.
func Wrap(s string, n int) string {
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(s) {
		switch w := Columns(word); {
		case used == 0:
			used = w
		case used+1+w > n:
			b.WriteByte('\n')
			used = w
		default:
			b.WriteByte(' ')
			used += 1 + w
		}
		b.WriteString(word)
	}
	return b.String()
}
