package answers

import (
	"github.com/symlake/symlake/sinks/internal/arrowstream"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// StreamStack appends the answer of a row that is a stack. Its texts are numbers of a list.
func StreamStack(r *arrowstream.Rows, a *Answer, texts []string) error {
	var top Line
	if len(a.Lines) > 0 {
		top = a.Lines[0]
	}
	text := func(leaf int, n uint32) { r.Text(leaf, pqfile.Printable(texts[n])) }
	number := func(leaf int, n uint32) { r.Integer(leaf, pqfile.LineNumber(n)) }
	orNull := func(leaf int, n uint32) {
		if n == 0 {
			r.Null(leaf)
		} else {
			text(leaf, n)
		}
	}
	text(ansFunction, top.Function)
	text(ansFile, top.File)
	number(ansLine, top.Line)
	number(ansCol, top.Col)
	text(ansStatus, a.Status)
	orNull(ansReason, a.Reason)
	orNull(ansGroup, a.Group)
	for i := range a.Lines {
		l := &a.Lines[i]
		r.Integer(ansList, l.Frame)
		text(ansList+1, l.Status)
		text(ansList+2, l.Function)
		text(ansList+3, l.File)
		number(ansList+4, l.Line)
		number(ansList+5, l.Col)
	}
	return r.End(len(a.Lines))
}

// Frame is the addition to a row that is a frame. Texts are ready to be written.
type Frame struct {
	Status, Reason, Group string
	Lines                 []FrameLine
}

// FrameLine is a function of a Frame.
type FrameLine struct {
	Function, File string
	Line, Col      int32
}

// StreamFrame appends the answer of a row that is a frame.
func StreamFrame(r *arrowstream.Rows, a *Frame) error {
	var top FrameLine
	rest := a.Lines
	if len(rest) > 0 {
		top, rest = rest[0], rest[1:]
	}
	r.Text(ansFunction, top.Function)
	r.Text(ansFile, top.File)
	r.Integer(ansLine, top.Line)
	r.Integer(ansCol, top.Col)
	r.Text(ansStatus, a.Status)
	for leaf, s := range [2]string{a.Reason, a.Group} {
		if s == "" {
			r.Null(ansReason + leaf)
		} else {
			r.Text(ansReason+leaf, s)
		}
	}
	for i := range rest {
		l := &rest[i]
		r.Text(ansList, l.Function)
		r.Text(ansList+1, l.File)
		r.Integer(ansList+2, l.Line)
		r.Integer(ansList+3, l.Col)
	}
	return r.End(len(rest))
}
