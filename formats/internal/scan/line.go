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

// NextLine returns the length of b's first line with its line end: "\n", any "\r" before a "\n", or one "\r". It
// returns 0 if no line ends in b, or if a "\r" is the last that b has: a "\n" may follow.
func NextLine(b []byte) int {
	n := bytes.IndexByte(b, '\n') + 1
	line := b
	if n > 0 {
		line = b[:n-1]
	}
	at := bytes.IndexByte(line, '\r')
	if at < 0 {
		return n
	}
	behind := at + 1
	for behind < len(b) && b[behind] == '\r' {
		behind++
	}
	switch {
	case behind == len(b):
		return 0
	case b[behind] == '\n':
		return behind + 1
	}
	return at + 1
}

// EachLine visits the lines of text of at most MaxLineBytes, without their line ends. The line begins at
// text[at]. It is valid during the call.
func EachLine(text []byte, visit func(at int, line []byte)) {
	for at := 0; at < len(text); {
		n := bytes.IndexByte(text[at:], '\n') + 1
		if n == 0 {
			n = len(text) - at
		}
		if n <= MaxLineBytes {
			visit(at, TrimEnd(text[at:at+n]))
		}
		at += n
	}
}

// MaxLineBytes is the length of the longest line that dialects look at, in bytes. Longer lines pass as
// text. Names of instantiated templates make lines of a few KiB.
const MaxLineBytes = 64 << 10
