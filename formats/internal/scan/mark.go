package scan

import "bytes"

// QuoteMarks returns the length of the marks that a mail or a page puts before each line of a
// quotation, with the space before and between them: "> ", ">> ", "> > "; 0 if there are none.
func QuoteMarks(b []byte) int {
	for p := SkipSpace(b, 0); p < len(b) && b[p] == '>'; p = SkipSpace(b, p+1) {
		if p+1 == len(b) || b[p+1] != '>' && !bytes.HasPrefix(b[p+1:], []byte(" >")) {
			return p + 1
		}
	}
	return 0
}

// LineMarks returns the length of the marks of QuoteMarks, with the stamp that a log puts before each
// line of a document:
//
//	2025-02-03T10:11:12.3456789Z message                          services that build, and that run containers
//	2025-02-03 10:11:12.345678+0100 game[4242:93120] message      NSLog
func LineMarks(b []byte) int {
	n := QuoteMarks(b)
	p := SkipSpace(b, n)
	if p == len(b) || b[p] < '0' || b[p] > '9' {
		return n
	}
	if stamp := shapeBytes(b[p:], "0000-00-00T00:00:00."); stamp > 0 {
		_, end, ok := Number(b, p+stamp)
		if ok && bytes.HasPrefix(b[end:], []byte("Z ")) {
			return end + 1
		}
		return n
	}
	stamp := shapeBytes(b[p:], "0000-00-00 00:00:00.000")
	if stamp == 0 {
		return n
	}
	rest, _, _ := bytes.Cut(b[p+stamp:], []byte{'\n'})
	end := bytes.Index(rest, []byte("] "))
	open := bytes.LastIndexByte(rest[:max(end, 0)], '[')
	if open < 0 {
		return n
	}
	if _, stop, ok := Digits(rest, open+1); !ok || stop != end && rest[stop] != ':' {
		return n
	}
	return p + stamp + end + 1
}

// Unmarked returns b, which begins a line, with spaces in place of the marks at the beginning of each
// line; length returns how long they are. Every other byte keeps its index. Without marks it returns b
// itself.
func Unmarked(b []byte, length func(line []byte) int) []byte {
	var plain []byte
	for at := 0; at < len(b); {
		if n := length(b[at:]); n > 0 {
			if plain == nil {
				plain = bytes.Clone(b)
			}
			for i := at; i < at+n; i++ {
				plain[i] = ' '
			}
		}
		next := bytes.IndexByte(b[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	if plain == nil {
		return b
	}
	return plain
}
