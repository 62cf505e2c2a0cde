package dart

import (
	"bufio"
	"bytes"
	"fmt"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// printDart writes answers in the manner of `flutter symbolize`: a frame's
// line gives way to one line "#N      FUNCTION (FILE:LINE:COLUMN)" for each
// function of its inline chain, numbered anew; what a log puts before the
// frame stands before each, and the space between is one. Code that has no
// place in the source, the virtual machine's stubs, is NAME+0xOFFSET.
func printDart(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	done, depth, last := 0, 0, 0
	report.EachAnswer(s, answers, func(thread int, f *report.Frame, a *symbol.Answer) {
		if f.Managed != nil {
			return // a line that names a class for an engine of Java; it may stand above the frames
		}
		if thread != last {
			depth, last = 0, thread
		}
		start := bytes.LastIndexByte(s.Text[:f.Span[0]], '\n') + 1
		out.Write(s.Text[done:start])
		done = f.Span[1]
		before := bytes.TrimRight(s.Text[start:f.Span[0]], " \t")
		for i := range a.Frames {
			if i > 0 {
				out.WriteString(scan.LineEnd(s.Text, f.Span[1]))
			}
			if len(before) > 0 {
				out.Write(before)
				out.WriteByte(' ')
			}
			fmt.Fprintf(out, "#%-6d ", depth)
			depth++
			writeDart(out, a, &a.Frames[i])
		}
	})
	out.Write(s.Text[done:])
}

func writeDart(out *bufio.Writer, a *symbol.Answer, f *symbol.Frame) {
	out.WriteString(scan.OneLine(report.FunctionName(f)))
	if f.File == "" {
		fmt.Fprintf(out, "+%#x", a.Offset)
		return
	}
	out.WriteString(" (")
	out.WriteString(scan.OneLine(f.File))
	if f.Line > 0 {
		fmt.Fprintf(out, ":%d", f.Line)
		if f.Column > 0 {
			fmt.Fprintf(out, ":%d", f.Column)
		}
	}
	out.WriteByte(')')
}
