package jvm

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/report"
)

// line is one parsed line. Offsets count from the line's start.
type line struct {
	start int // of what a person would call the frame: what stands before is a log's prefix or space
	m     report.Managed
	parts []part
	frame bool // a frame's line; false: the line only names classes
}

// The grammar of frames is R8's retrace's, by hand: of every line the
// expression
//
//	(?:.*?\bat\s+%c\.%m\s*\(%S\)\p{Z}*(?:~\[.*\])?)|(?:(?:(?:%c|.*)?[:"]\s+)?%c(?:(:|]).*)?)
//
// takes whole, the same pieces come out. A test compares the two.

// parseAt reads "at CLASS.METHOD(FILE:LINE)", behind any text.
func parseAt(b []byte, l *line) bool {
	for from := 0; ; {
		i := bytes.Index(b[from:], atWord)
		if i < 0 {
			return false
		}
		i += from
		from = i + 1
		p := skipJavaSpace(b, i+2)
		if p == i+2 || i > 0 && isWord(b[i-1]) {
			continue
		}
		run := nameEnd(b, p)
		class, method, end := cutMethod(b, p, run)
		if method < 0 {
			continue
		}
		open := skipJavaSpace(b, end)
		if open == len(b) || b[open] != '(' {
			continue
		}
		shut := lastParen(b, open)
		if shut < 0 {
			continue
		}
		l.start, l.frame = i, true
		l.class(b, p, class, false)
		l.method(b, method, end)
		l.place(b, open+1, shut)
		return true
	}
}

var atWord = []byte("at")

// cutMethod finds CLASS "." METHOD in [p, run), where run ends what may stand
// in a name; the last dot that leaves two names parts them. class ends before
// the dot. method is -1 if there are none.
func cutMethod(b []byte, p, run int) (class, method, end int) {
	if p == run || isDigit(b[p]) {
		return 0, -1, 0
	}
	if b[run-1] == '.' && run-1 > p { // ".<init>"
		for _, special := range initNames {
			if bytes.HasPrefix(b[run:], special) {
				return run - 1, run, run + len(special)
			}
		}
	}
	for dot := run; ; {
		if dot = bytes.LastIndexByte(b[p:dot], '.'); dot <= 0 {
			return 0, -1, 0
		}
		dot += p
		if dot+1 < run && !isDigit(b[dot+1]) {
			return dot, dot + 1, run
		}
	}
}

var initNames = [][]byte{[]byte("<init>"), []byte("<clinit>")}

// lastParen finds the ")" that belongs to open: the last ")" before nothing but space and "~[…]"; -1: none.
func lastParen(b []byte, open int) int {
	for shut := len(b); ; {
		if shut = bytes.LastIndexByte(b[:shut], ')'); shut <= open {
			return -1
		}
		p := skipSeparators(b, shut+1)
		if p == len(b) || bytes.HasPrefix(b[p:], []byte("~[")) && b[len(b)-1] == ']' {
			return shut
		}
	}
}

// parseMention reads a line that names a class as R8 sees it: at its start
// and before a ":", "]" or the end, or behind the last `: ` or `" `.
func parseMention(b []byte, l *line) bool {
	first := nameEnd(b, 0)
	named := first > 0 && !isDigit(b[0])
	// NAME ": " NAME, or NAME `" ` NAME, where the quote might be a name's: the first is
	// meant, unless it is a label.
	for _, end := range [2]int{first, first - 1} {
		if !named || end <= 0 || end == len(b) || b[end] != ':' && b[end] != '"' {
			continue
		}
		if p := skipJavaSpace(b, end+1); p > end+1 && isMentioned(b, p) {
			if string(b[:end]) == suppressed {
				l.mention(b, p)
			} else {
				l.class(b, 0, end, false)
			}
			return len(l.parts) > 0
		}
	}
	for at := len(b); at > 0; {
		if at = bytes.LastIndexAny(b[:at], `:"`); at < 0 {
			break
		}
		if p := skipJavaSpace(b, at+1); p > at+1 && isMentioned(b, p) {
			l.mention(b, p)
			return len(l.parts) > 0
		}
	}
	if isMentioned(b, 0) {
		l.mention(b, 0)
	}
	return len(l.parts) > 0
}

// mention takes the class with its name at p, if it is a class.
func (l *line) mention(b []byte, p int) {
	if end := nameEnd(b, p); string(b[p:end]) != suppressed {
		l.class(b, p, end, false)
	}
}

// suppressed is a label, never a class.
const suppressed = "Suppressed"

// isMentioned reports whether a name stands at p, and ":" or "]" or the end behind it.
func isMentioned(b []byte, p int) bool {
	end := nameEnd(b, p)
	return end > p && !isDigit(b[p]) && (end == len(b) || b[end] == ':' || b[end] == ']')
}

// class takes the class named in [from, to): behind its last "/", where
// before it a module and a class loader stand. Nothing there is no class.
func (l *line) class(b []byte, from, to int, binary bool) {
	if !binary {
		from += bytes.LastIndexByte(b[from:to], '/') + 1
	}
	if from == to {
		return
	}
	l.m.Class = string(b[from:to])
	l.parts = append(l.parts, part{kind: partClass, binary: binary, start: from, end: to})
}

func (l *line) method(b []byte, from, to int) {
	l.m.Method = string(b[from:to])
	l.parts = append(l.parts, part{kind: partMethod, start: from, end: to})
}

// place takes "FILE:LINE", "FILE" or nothing.
func (l *line) place(b []byte, from, to int) {
	end := to
	for i := to; i > from; i-- {
		if b[i-1] == ':' && i < to {
			end = i - 1
			break
		}
		if !isDigit(b[i-1]) {
			break
		}
	}
	l.file(b, from, end)
	l.line(b, end, to, true)
}

func (l *line) file(b []byte, from, to int) {
	l.m.Filed, l.m.File = true, string(b[from:to])
	l.parts = append(l.parts, part{kind: partFile, start: from, end: to})
}

// line takes a number, with the colon before it if colon.
func (l *line) line(b []byte, from, to int, colon bool) {
	l.m.Lined, l.m.Line = true, -1
	if n, err := strconv.ParseInt(string(bytes.TrimPrefix(b[from:to], []byte(":"))), 10, 32); err == nil {
		l.m.Line = int(n)
	}
	l.parts = append(l.parts, part{kind: partLine, colon: colon, start: from, end: to})
}

// nameEnd is where what may stand in a name ends: at space and ()<>[];:.
func nameEnd(b []byte, p int) int {
	for p < len(b) && !endsName[b[p]] {
		p++
	}
	return p
}

var endsName = func() (t [256]bool) {
	for _, c := range " \t\n\v\f\r[];:()<>" {
		t[c] = true
	}
	return t
}()

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func skipJavaSpace(b []byte, p int) int {
	for p < len(b) && (b[p] == ' ' || '\t' <= b[p] && b[p] <= '\r') {
		p++
	}
	return p
}

// skipSeparators skips what Unicode calls separators: spaces, but no tabs.
func skipSeparators(b []byte, p int) int {
	for p < len(b) {
		r, n := utf8.DecodeRune(b[p:])
		if !unicode.Is(unicode.Z, r) {
			break
		}
		p += n
	}
	return p
}

// part is a piece of a line that is replaced: [start, end) in its line, and then from the frame's beginning.
type part struct {
	kind       partKind
	colon      bool // partLine: the piece begins with a colon, which goes when there is no number
	binary     bool // partClass: slashes part the names
	start, end int
}

type partKind uint8

const (
	partClass partKind = iota
	partMethod
	partField
	partFile
	partLine
	partType   // the next of Types
	partParams // all of Types: what the method takes
)
