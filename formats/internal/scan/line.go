package scan

import "bytes"

// IsSpace reports whether c is a space or a tab.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' }

// SkipSpace returns the index of the first byte from p on that is no space, len(b) if there is none.
func SkipSpace(b []byte, p int) int {
	for p < len(b) && IsSpace(b[p]) {
		p++
	}
	return p
}

// Base returns the part of path behind its last slash. It aliases path.
func Base(path []byte) []byte { return path[bytes.LastIndexByte(path, '/')+1:] }

// TrimEnd returns a line without its line end. It aliases b.
func TrimEnd(b []byte) []byte { return bytes.TrimRight(b, "\r\n") }

// LineEnd returns the line end of the line with its text's end at end: "\n" or "\r\n".
func LineEnd(text []byte, end int) string {
	if bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t"), []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// EachLine visits the lines of text of at most MaxLineBytes, as Spaced returns them. The line begins at
// text[at]. It is valid during the call.
func EachLine(text []byte, visit func(at int, line []byte)) {
	for at := 0; at < len(text); {
		n := bytes.IndexByte(text[at:], '\n') + 1
		if n == 0 {
			n = len(text) - at
		}
		if n <= MaxLineBytes {
			visit(at, Spaced(text[at:at+n]))
		}
		at += n
	}
}

// Spaced returns a line without its line end, in which two spaces replace each non-breaking space of
// a page: both are two bytes, so every index stays valid.
func Spaced(b []byte) []byte {
	b = TrimEnd(b)
	if bytes.Contains(b, fixedSpace) {
		b = bytes.ReplaceAll(b, fixedSpace, []byte("  "))
	}
	return b
}

var fixedSpace = []byte("\u00a0")

// MaxLineBytes is the length of the longest line that dialects look at, in bytes. Longer lines pass as
// text. Names of instantiated templates make lines of a few KiB.
const MaxLineBytes = 64 << 10
