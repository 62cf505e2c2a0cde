package js

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/script"
)

// frame is a frame with the pieces of its text that an answer replaces.
type frame struct {
	report.Script
	name, place [2]int // [start, end) from the frame's beginning; name may be empty
	form        form
	column      uint32 // added to a source's column in print
	wasm        bool   // a frame of WebAssembly
}

// form is how a frame is written.
type form uint8

const (
	jsAt   form = iota // at NAME (PLACE); V8, Hermes, Edge, React
	jsBare             // at PLACE
	jsSign             // NAME@PLACE; Firefox, Safari
	jsOnly             // PLACE; Safari
	jsEval             // at NAME (eval at … (PLACE), …): the script that the code was evaluated from
)

// line is a parsed line. Offsets count from the line's start.
type line struct {
	text         []byte
	start, end   int // of the frame
	name, place  [2]int
	url          []byte
	line, column uint64
	form         form
	hermes       bool       // an address of bytecode: its column counts from 0
	wasm         *wasmPlace // of WebAssembly; nil: of a script
}

// parseScript reads one frame of any engine, without its line end:
//
//	at NAME (URL:L:C)   at async NAME (URL:L:C)   at new NAME (URL:L:C)   at NAME [as OTHER] (URL:L:C)
//	at URL:L:C          at NAME (address at URL:1:OFFSET)                 in NAME (URL:L:C)
//	in NAME (at URL:L:C)   at NAME @ URL:L:C   at NAME(ARGUMENTS) @ URL:L:C
//	NAME@URL:L:C        async*NAME@URL:L:C        @URL:L:C                URL:L:C
//	at NAME (eval at OTHER (URL:L:C), <anonymous>:L:C)
func parseScript(b []byte) (l line, ok bool) {
	if !mayBeScript(b) {
		return l, false
	}
	l.text, l.start = b, scan.SkipSpace(b, scan.LogPrefix(b))
	l.end = len(bytes.TrimRight(b, " \t"))
	if l.start >= l.end {
		return l, false
	}
	rest := b[l.start:l.end]
	for _, word := range []string{"at ", "in "} {
		if bytes.HasPrefix(rest, []byte(word)) {
			return parseScriptAt(b, l, l.start+len(word))
		}
	}
	return parseSign(b, l)
}

// mayBeScript rules most lines out: a frame ends in :LINE:COLUMN, maybe with a
// parenthesis behind it.
func mayBeScript(b []byte) bool {
	i := len(b)
	for i > 0 && (scan.IsSpace(b[i-1]) || b[i-1] == ')' || b[i-1] == ',') {
		i--
	}
	return i > 3 && '0' <= b[i-1] && b[i-1] <= '9' && bytes.Count(b, []byte{':'}) >= 2
}

// leading are the words before a function's name: async and new.
func leading(name []byte) []byte {
	n := 0
	for _, word := range []string{"async ", "new "} {
		if bytes.HasPrefix(name[n:], []byte(word)) {
			n += len(word)
		}
	}
	return name[:n]
}

// parseScriptAt reads what stands behind "at ".
func parseScriptAt(b []byte, l line, p int) (line, bool) {
	rest := b[p:l.end]
	if rest[len(rest)-1] != ')' {
		p += len(leading(rest))
		rest = b[p:l.end]
		if i := bytes.LastIndex(rest, apart); i > 0 {
			l.form, l.name = jsAt, [2]int{p, p + len(bytes.TrimRight(untilArguments(rest[:i]), " "))}
			return l, l.locate(b, p+i+len(apart), l.end)
		}
		l.form, l.name = jsBare, [2]int{p, p}
		return l, l.locate(b, p, l.end)
	}
	open := bytes.LastIndex(rest, []byte(" ("))
	if eval := bytes.Index(rest, []byte(" (eval at ")); eval >= 0 {
		// The innermost place of all that evaluated it is the one in a script.
		inner := bytes.LastIndexByte(rest, '(')
		stop := bytes.IndexByte(rest[inner:], ')') + inner
		if stop < inner {
			return l, false
		}
		from := p + inner + 1
		if inner == eval+1 { // (eval at URL:L:C), as others shorten it
			from = p + eval + len(" (eval at ")
		}
		l.form, l.name = jsEval, [2]int{from, from}
		if word := []byte("eval at "); from == p+inner+1 {
			if at := bytes.LastIndex(rest[:inner-1], word); at >= 0 {
				l.name = [2]int{p + at + len(word), from - len(" (")}
				l.name[0] += len(leading(b[l.name[0]:l.name[1]]))
			}
		}
		return l, l.locate(b, from, p+stop)
	}
	if open < 0 {
		return l, false
	}
	from, name := p+open+2, p+len(leading(b[p:p+open]))
	l.form, l.name = jsAt, [2]int{name, p + open}
	if bytes.HasPrefix(b[from:l.end], []byte("at ")) { // of a component
		from += len("at ")
	}
	if bytes.HasPrefix(b[from:l.end], []byte("address at ")) {
		l.hermes = true
		ok := l.locate(b, from+len("address at "), l.end-1)
		l.place[0] = from
		return l, ok
	}
	return l, l.locate(b, from, l.end-1)
}

// apart stands between the name and the place in Datadog's lines.
var apart = []byte(" @ ")

// untilArguments is the name of a call, without the arguments behind it.
func untilArguments(name []byte) []byte {
	if i := bytes.IndexByte(name, '('); i > 0 {
		return name[:i]
	}
	return name
}

// parseSign reads NAME@PLACE and PLACE. A name may hold an @, and so may a URL.
func parseSign(b []byte, l line) (line, bool) {
	rest := b[l.start:l.end]
	sign := signIndex(rest)
	if sign < 0 {
		l.form, l.name = jsOnly, [2]int{l.start, l.start}
		return l, bytes.IndexByte(rest, ' ') < 0 && l.locate(b, l.start, l.end)
	}
	name := l.start
	if i := bytes.Index(rest[:sign], []byte("sync*")); i > 0 && i <= 1 { // async*NAME, Async*NAME
		name += i + len("sync*")
	}
	l.form, l.name = jsSign, [2]int{name, l.start + sign}
	return l, l.locate(b, l.start+sign+1, l.end)
}

// signIndex finds the @ between name and URL: the last one before the URL's
// first slash, else the last one.
func signIndex(b []byte) int {
	if i := bytes.Index(b, []byte("://")); i > 0 {
		return bytes.LastIndexByte(b[:i], '@')
	}
	return bytes.LastIndexByte(b, '@')
}

// locate reads URL:LINE:COLUMN from p to end.
func (l *line) locate(b []byte, p, end int) bool {
	if p >= end {
		return false
	}
	text := b[p:end]
	i := bytes.LastIndexByte(text, ':')
	if i <= 0 {
		return false
	}
	j := bytes.LastIndexByte(text[:i], ':')
	if j <= 0 {
		return false
	}
	line, stop, ok := scan.Uint32(text, j+1)
	if !ok || stop != i {
		return false
	}
	column, stop, ok := scan.Uint32(text, i+1)
	if !ok || stop != len(text) || line == 0 {
		return false
	}
	l.url, l.line, l.column, l.place = text[:j], line, column, [2]int{p, end}
	sure := l.form == jsAt || l.form == jsEval || l.form == jsSign && bytes.IndexByte(l.url, '/') >= 0
	return script.Is(l.url, sure)
}
