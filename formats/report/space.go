package report

import "bytes"

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func skipSpace(b []byte, p int) int {
	for p < len(b) && isSpace(b[p]) {
		p++
	}
	return p
}

func base(path []byte) []byte { return path[bytes.LastIndexByte(path, '/')+1:] }

func trimEnd(b []byte) []byte { return bytes.TrimRight(b, "\r\n") }

// lineEnd is how the line that reaches to end ends.
func lineEnd(text []byte, end int) string {
	if bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t"), []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// eachLine visits the lines of text without their ends.
func eachLine(text []byte, visit func(at int, line []byte)) {
	for at := 0; at < len(text); {
		n := bytes.IndexByte(text[at:], '\n') + 1
		if n == 0 {
			n = len(text) - at
		}
		if n <= longestLine {
			visit(at, appleLine(text[at:at+n]))
		}
		at += n
	}
}

// appleLine is a line without its end, in which the spaces that pages do not break are two spaces each.
func appleLine(b []byte) []byte {
	b = trimEnd(b)
	if bytes.Contains(b, fixedSpace) {
		b = bytes.ReplaceAll(b, fixedSpace, []byte("  "))
	}
	return b
}

var fixedSpace = []byte("\u00a0")

// longestLine is the longest line that is looked at, in bytes; longer ones pass as text. Names of
// instantiated templates make lines of a few KiB.
const longestLine = 64 << 10
