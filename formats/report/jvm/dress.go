package jvm

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
)

// What R8's retrace does not read, and other writers print.

// parseManaged reads a frame's line in any dress; own allows what R8 leaves.
func parseManaged(b []byte, own bool, l *line) bool {
	if parseAt(b, l) {
		return !own || !isScript(b, &l.m)
	}
	return own && parseBare(b, l)
}

// isScript reports whether a frame's place is one of a script: an address, or
// a line and a column.
func isScript(b []byte, m *report.Managed) bool {
	if m.Line >= 0 {
		digits := len(m.File)
		for digits > 0 && isDigit(m.File[digits-1]) {
			digits--
		}
		if digits < len(m.File) && digits > 0 && m.File[digits-1] == ':' {
			return true
		}
	}
	return bytes.Contains([]byte(m.File), []byte("://")) || m.File == "native" || m.File == "<anonymous>"
}

// parseBare reads "CLASS.METHOD(TYPE,TYPE)" as monitors print it, and
// "CLASS.METHOD(FILE:LINE)" without "at": nothing else stands in the line.
func parseBare(b []byte, l *line) bool {
	p := skipJavaSpace(b, scan.LogPrefix(b))
	run := nameEnd(b, p)
	class, method, end := cutMethod(b, p, run)
	if method < 0 || end == len(b) || b[end] != '(' || !isJavaName(b[p:class]) {
		return false
	}
	stop := len(bytes.TrimRight(b, " \t"))
	if b[stop-1] != ')' {
		return false
	}
	l.start, l.frame = p, true
	inside := b[end+1 : stop-1]
	if isPlace(inside) {
		l.class(b, p, class, false)
		l.method(b, method, end)
		l.place(b, end+1, stop-1)
		return true
	}
	if bytes.IndexByte(b[p:class], '.') < 0 || !areTypes(inside) {
		return false
	}
	l.class(b, p, class, false)
	l.method(b, method, end)
	l.types(b, end+1, stop-1)
	l.parts = append(l.parts[:2], part{kind: partParams, start: end + 1, end: stop - 1})
	l.m.Params, l.m.Line = true, -1
	return true
}

// isPlace tells a source file, with or without line, from a type. Files that
// compilers and shrinkers name are few.
func isPlace(b []byte) bool {
	if colon := bytes.LastIndexByte(b, ':'); colon >= 0 {
		for _, c := range b[colon+1:] {
			if !isDigit(c) {
				return false
			}
		}
		return !bytes.ContainsAny(b[:colon], " ():/")
	}
	switch s := string(b); s {
	case "SourceFile", "Unknown Source", "Native Method", "PG", "Proguard":
		return true
	}
	if bytes.HasPrefix(b, []byte(report.MapIDPrefix)) {
		return true
	}
	for _, ext := range [...]string{".java", ".kt", ".scala", ".groovy"} {
		if bytes.HasSuffix(b, []byte(ext)) && bytes.IndexByte(b, ',') < 0 {
			return true
		}
	}
	return false
}

// areTypes: types parted by commas, or nothing.
func areTypes(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	for _, t := range bytes.Split(b, []byte(",")) {
		t = bytes.TrimSpace(t)
		for bytes.HasSuffix(t, []byte("[]")) {
			t = t[:len(t)-2]
		}
		if !isJavaName(t) {
			return false
		}
	}
	return true
}

// isJavaName: names of letters, digits, _, $, - and what lies beyond ASCII,
// parted by dots; none begins with a digit.
func isJavaName(b []byte) bool {
	fresh := true
	for _, c := range b {
		switch {
		case c == '.':
			if fresh {
				return false
			}
			fresh = true
			continue
		case !isWord(c) && c != '$' && c != '-' && c < 0x80, fresh && isDigit(c):
			return false
		}
		fresh = false
	}
	return !fresh
}

// parseThrown reads a line that names classes: the one R8 sees, and, if own,
// the exception's behind the labels that stand before one, also where its
// message has a ": ", and the classes of its causes in the message.
func parseThrown(b []byte, own bool, l *line) bool {
	found := parseMention(b, l)
	l.m.Line = -1
	if !own {
		if found {
			l.m.Thrown = l.m.Class
			l.start = min(l.parts[0].start, skipJavaSpace(b, scan.LogPrefix(b)))
		}
		return found
	}
	p := skipLabels(b, skipJavaSpace(b, scan.LogPrefix(b)))
	if !isMentioned(b, p) {
		if found {
			l.m.Thrown = l.m.Class
			l.start = min(l.parts[0].start, skipJavaSpace(b, scan.LogPrefix(b)))
		}
		return found
	}
	theirs, parts := l.m, l.parts
	l.m, l.parts = report.Managed{Line: -1}, nil
	l.start = skipJavaSpace(b, scan.LogPrefix(b))
	l.class(b, p, nameEnd(b, p), false)
	if l.m.Class == "" {
		l.m, l.parts = theirs, parts
		return found
	}
	l.m.Thrown = l.m.Class
	for end := nameEnd(b, p); end < len(b) && b[end] == ':'; {
		p = skipJavaSpace(b, end+1)
		if p == end+1 || !isMentioned(b, p) {
			break
		}
		end = nameEnd(b, p)
		l.also(b, p, end, true)
	}
	if found {
		l.also(b, parts[0].start, parts[0].end, false)
	}
	return true
}

// also takes one more class of the line, unless it has it, as class does. Parts stay in order.
func (l *line) also(b []byte, from, to int, thrown bool) {
	if from += bytes.LastIndexByte(b[from:to], '/') + 1; from == to {
		return
	}
	for i := range l.parts {
		if l.parts[i].start == from {
			if i > 0 && !thrown {
				l.m.Types[i-1].Thrown = false
			}
			return
		}
	}
	at := 1
	for at < len(l.parts) && l.parts[at].start < from {
		at++
	}
	if from < l.parts[0].end {
		return
	}
	l.parts = append(l.parts[:at], append([]part{{kind: partType, start: from, end: to}}, l.parts[at:]...)...)
	name := report.Type{Name: string(b[from:to]), Thrown: thrown}
	l.m.Types = append(l.m.Types[:at-1], append([]report.Type{name}, l.m.Types[at-1:]...)...)
}

// skipLabels skips what stands before an exception's class.
func skipLabels(b []byte, p int) int {
	for again := true; again; {
		again = false
		if bytes.HasPrefix(b[p:], inThread) {
			if quote := bytes.Index(b[p+len(inThread):], []byte(`" `)); quote >= 0 {
				p, again = skipJavaSpace(b, p+len(inThread)+quote+2), true
			}
			continue
		}
		for _, label := range labels {
			if bytes.HasPrefix(b[p:], label) {
				p, again = skipJavaSpace(b, p+len(label)), true
			}
		}
	}
	return p
}

var (
	labels   = [][]byte{[]byte("Caused by: "), []byte("Suppressed: "), []byte("Fatal Exception: "), []byte("Exception "), []byte("[CIRCULAR REFERENCE: ")}
	inThread = []byte(`Exception in thread "`)
	// beginsTrace are words of lines that begin a trace, behind any text.
	beginsTrace = [][]byte{[]byte("FATAL EXCEPTION"), inThread, []byte("Fatal Exception: ")}
)
