package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
)

// goDialect reads tracebacks of Go's runtime. A traceback does not name the program, so Options must.
var goDialect = Dialect{
	Name:  "goruntime",
	Forms: []*Form{golang},
	Lines: func(b *Builder) Lines {
		if len(b.Options().Artifacts) == 0 {
			return Lines{Find: func(*Line, *Found) bool { return false }}
		}
		r := &goLines{b: b}
		return Lines{Find: r.find, Add: r.add}
	},
}

var golang = &Form{Name: "go", Frame0: Return, Gap: GapEndsThread,
	Lines: "main.main() above /src/main.go:20 +0x1d of a Go traceback, where Options names the program; exact is the first below [signal …], the runtime's own frames are not printed"}

// goLines reads single lines.
type goLines struct {
	b       *Builder
	place   Place // that find found
	created bool  // it is the place where the goroutine was started
	fault   bool  // a line said that a signal stopped the goroutine whose frames follow
}

func (r *goLines) find(l *Line, f *Found) bool {
	if r.parse(l) {
		*f = Found{Form: golang, Number: -1, Room: FrameRoom}
		return true
	}
	r.fault = r.fault || bytes.HasPrefix(l.Text, faultLine)
	return false
}

func (r *goLines) add(*Found) {
	if r.fault && r.b.Running() == 0 && !r.created {
		r.place.Values = Exact
	}
	r.fault = false
	made, _ := r.b.Frame(&r.place)
	r.b.Add(made)
}

// parse reads the second line of a frame: "\t/src/main.go:20 +0x1d", or with the spaces that a copy
// made of the tab. The line before it is "main.main()", "main.(*Cart).Add(0xc000012345, {0x1, 0x2})"
// or "created by main.main in goroutine 1".
func (r *goLines) parse(l *Line) bool {
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
	r.place = Place{Start: start, Tail: start, End: len(b), PC: v, Function: name}
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
