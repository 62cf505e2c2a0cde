package scan

import "bytes"

func IsSpace(c byte) bool { return c == ' ' || c == '\t' }

func SkipSpace(b []byte, p int) int {
	for p < len(b) && IsSpace(b[p]) {
		p++
	}
	return p
}

func Base(path []byte) []byte { return path[bytes.LastIndexByte(path, '/')+1:] }

func TrimEnd(b []byte) []byte { return bytes.TrimRight(b, "\r\n") }

// LineEnd is how the line that reaches to end ends.
func LineEnd(text []byte, end int) string {
	if bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t"), []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// EachLine visits the lines of text without their ends.
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

// Spaced is a line without its end, in which the spaces that pages do not break are two spaces each.
func Spaced(b []byte) []byte {
	b = TrimEnd(b)
	if bytes.Contains(b, fixedSpace) {
		b = bytes.ReplaceAll(b, fixedSpace, []byte("  "))
	}
	return b
}

var fixedSpace = []byte("\u00a0")

// MaxLineBytes is the longest line that is looked at, in bytes; longer ones pass as text. Names of
// instantiated templates make lines of a few KiB.
const MaxLineBytes = 64 << 10
