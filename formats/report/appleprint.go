package report

import (
	"bufio"
	"bytes"
	"cmp"
	"path"
	"slices"
	"strconv"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// printApple writes answers in the manner of `atos -i`: what stands behind a
// frame's address is replaced by "FUNCTION (in IMAGE) (FILE:LINE)", and each
// function that the innermost one is inlined into has a line of its own.
func printApple(out *bufio.Writer, s *Report, answers [][]symbol.Answer) {
	printBehind(out, s, answers, writeApple)
}

// printBehind writes answers in place of what stands behind frames' addresses.
func printBehind(out *bufio.Writer, s *Report, answers [][]symbol.Answer, write func(out *bufio.Writer, f *Frame, at *symbol.Frame)) {
	done := 0
	each(s, answers, func(f *Frame, chain []symbol.Frame) {
		if f.Layout.Among {
			done = printAmong(out, s.Text, done, f, chain)
			return
		}
		column := f.Span[0] + f.Layout.Indent
		out.Write(s.Text[done:column])
		bare := column > 0 && !scan.IsSpace(s.Text[column-1]) // nothing stood behind the address
		if bare {
			out.WriteByte(' ')
		}
		done = f.Span[1] - f.Layout.Tail
		start := bytes.LastIndexByte(s.Text[:f.Span[0]], '\n') + 1
		for i := range chain {
			if i > 0 {
				out.WriteString(scan.LineEnd(s.Text, f.Span[1]))
				marks := start + scan.LineMarks(s.Text[start:column])
				out.Write(s.Text[start:marks])
				for _, c := range s.Text[marks:column] {
					if c != '\t' {
						c = ' '
					}
					out.WriteByte(c)
				}
				if bare {
					out.WriteByte(' ')
				}
			}
			write(out, f, &chain[i])
		}
	})
	out.Write(s.Text[done:])
}

// printAmong writes a frame that is one of several in a line of addresses, on a line of its own,
// behind what of text is not done yet; it gives what is done then.
func printAmong(out *bufio.Writer, text []byte, done int, f *Frame, chain []symbol.Frame) int {
	line, _, _ := bytes.Cut(text[f.Span[1]:], []byte{'\n'})
	ending := scan.LineEnd(text, f.Span[1]+len(scan.TrimEnd(line)))
	before := text[done:f.Span[0]]
	above := bytes.TrimRight(before, " \t")
	if len(above) > 0 && len(above) < len(before) && above[len(above)-1] != '\n' {
		out.Write(above)
		out.WriteString(ending)
		before = []byte{' '} // where the bracket stands on the first line
	}
	out.Write(before)
	out.Write(text[f.Span[0]:f.Span[1]])
	for i := range chain {
		if i > 0 {
			out.WriteString(ending)
			for range f.Span[1] - f.Span[0] + 1 {
				out.WriteByte(' ')
			}
		}
		out.WriteByte(' ')
		writeApple(out, f, &chain[i])
	}
	next := scan.SkipSpace(text, f.Span[1])
	if next == f.Span[1] || next == len(text) || text[next] == '\r' || text[next] == '\n' {
		return f.Span[1]
	}
	out.WriteString(ending)
	return next - 1
}

// each visits the frames that have an answer, in the text's order: callers may stand above what they call.
func each(s *Report, answers [][]symbol.Answer, visit func(f *Frame, chain []symbol.Frame)) {
	type answered struct {
		frame *Frame
		chain []symbol.Frame
	}
	var all []answered
	eachAnswer(s, answers, func(_ int, f *Frame, a *symbol.Answer) { all = append(all, answered{f, a.Frames}) })
	slices.SortStableFunc(all, func(a, b answered) int { return cmp.Compare(a.frame.Span[0], b.frame.Span[0]) })
	for _, a := range all {
		visit(a.frame, a.chain[min(a.frame.Layout.Above, len(a.chain)-1):])
	}
}

// eachAnswer visits them with their threads' places, in the order of threads.
func eachAnswer(s *Report, answers [][]symbol.Answer, visit func(thread int, f *Frame, a *symbol.Answer)) {
	for t := range s.Threads[:min(len(s.Threads), len(answers))] {
		for i := range s.Threads[t].Frames[:min(len(s.Threads[t].Frames), len(answers[t]))] {
			if a := &answers[t][i]; a.Status == symbol.Found && len(a.Frames) > 0 {
				visit(t, &s.Threads[t].Frames[i], a)
			}
		}
	}
}

func writeApple(out *bufio.Writer, f *Frame, at *symbol.Frame) {
	out.WriteString(scan.OneLine(function(at)))
	if image := scan.Base([]byte(f.File)); len(image) > 0 {
		out.WriteString(" (in ")
		out.WriteString(scan.OneLine(string(image)))
		out.WriteByte(')')
	}
	if at.File != "" {
		out.WriteString(" (")
		out.WriteString(scan.OneLine(path.Base(at.File)))
		out.WriteByte(':')
		out.WriteString(strconv.FormatUint(uint64(at.Line), 10))
		out.WriteByte(')')
	}
}
