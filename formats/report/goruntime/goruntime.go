// Package goruntime reads tracebacks of Go's runtime.
package goruntime

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
)

// Dialect reads tracebacks of Go's runtime. A traceback does not name the program, so Options must.
var Dialect = report.Dialect{
	Name:  "goruntime",
	Forms: []*report.Form{golang},
	Lines: func(b *report.Builder) report.Lines {
		if len(b.Options().Artifacts) == 0 {
			return report.Lines{Find: func(*report.Line, *report.Found) bool { return false }}
		}
		r := &lines{b: b}
		return report.Lines{Find: r.find, Add: r.add}
	},
}

var golang = &report.Form{Name: "go", Frame0: report.Return, Gap: report.GapEndsThread,
	Lines: "main.main() above /src/main.go:20 +0x1d of a Go traceback, where Options names the program; exact is the first below [signal …], the runtime's own frames are not printed"}

// lines reads single lines.
type lines struct {
	b       *report.Builder
	place   report.Place // that find found
	created bool         // it is the place where the goroutine was started
	fault   bool         // a line said that a signal stopped the goroutine of the frames behind it
}

func (r *lines) find(l *report.Line, f *report.Found) bool {
	if r.parse(l) {
		*f = report.Found{Form: golang, Number: -1, Room: report.FrameRoom}
		return true
	}
	r.fault = r.fault || bytes.HasPrefix(l.Text, faultLine)
	return false
}

func (r *lines) add(*report.Found) {
	if r.fault && r.b.Running() == 0 && !r.created {
		r.place.Values = report.Exact
	}
	r.fault = false
	made, _ := r.b.Frame(&r.place)
	r.b.Add(made)
}

// parse reads the second line of a frame: "\t/src/main.go:20 +0x1d", or with the spaces that a copy
// made of the tab. The line before it is "main.main()", "main.(*Cart).Add(0xc000012345, {0x1, 0x2})"
// or "created by main.main in goroutine 1".
func (r *lines) parse(l *report.Line) bool {
	b := l.Text
	start := scan.SkipSpace(b, 0)
	if start == 0 {
		return false
	}
	plus := bytes.LastIndex(b, []byte(" +0x"))
	if plus < 0 {
		return false
	}
	v, end, ok := scan.Hex(b, plus+4)
	if !ok || end != len(b) && !bytes.HasPrefix(b[end:], []byte(" fp=")) {
		return false
	}
	colon := bytes.LastIndexByte(b[:plus], ':')
	if colon < 0 {
		return false
	}
	if _, end, ok := scan.Digits(b, colon+1); !ok || end != plus {
		return false
	}
	before := bytes.TrimRight(l.Before(), "\r\n")
	name := goFunction(before)
	if len(name) == 0 {
		return false
	}
	r.place = report.Place{Start: start, Tail: start, End: len(b), PC: v, Function: name}
	r.created = bytes.HasPrefix(before, createdBy)
	return true
}

var createdBy = []byte("created by ")

// faultLine begins what Go's runtime says of a signal, before the goroutine that it stopped.
var faultLine = []byte("[signal ")

// goFunction is the function that the first line of a frame names.
func goFunction(b []byte) []byte {
	if rest, ok := bytes.CutPrefix(b, createdBy); ok {
		name, _, _ := bytes.Cut(rest, []byte(" in goroutine "))
		return name
	}
	if len(b) == 0 || scan.IsSpace(b[0]) || b[len(b)-1] != ')' || bytes.IndexByte(b, '.') < 0 {
		return nil
	}
	depth := 0
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return b[:i]
			}
		}
	}
	return nil
}
