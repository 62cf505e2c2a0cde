package stack

import (
	"bufio"
	"bytes"
	"path"
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
)

// printApple writes answers in the manner of `atos -i`: what stands behind a
// frame's address is replaced by "FUNCTION (in IMAGE) (FILE:LINE)", and each
// function that the innermost one is inlined into has a line of its own.
func printApple(out *bufio.Writer, s *Stack, answers [][]symbol.Answer) {
	done := 0
	each(s, answers, func(f *Frame, chain []symbol.Frame) {
		column := f.Span[0] + f.indent
		out.Write(s.Text[done:column])
		bare := column > 0 && !isSpace(s.Text[column-1]) // nothing stood behind the address
		if bare {
			out.WriteByte(' ')
		}
		done = f.Span[1]
		start := bytes.LastIndexByte(s.Text[:f.Span[0]], '\n') + 1
		for i := range chain {
			if i > 0 {
				out.WriteString(lineEnd(s.Text, f.Span[1]))
				for _, c := range s.Text[start:column] {
					if c != '\t' {
						c = ' '
					}
					out.WriteByte(c)
				}
				if bare {
					out.WriteByte(' ')
				}
			}
			writeApple(out, f, &chain[i])
		}
	})
	out.Write(s.Text[done:])
}

// each visits the frames that have an answer, in the text's order.
func each(s *Stack, answers [][]symbol.Answer, visit func(f *Frame, chain []symbol.Frame)) {
	eachAnswer(s, answers, func(_ int, f *Frame, a *symbol.Answer) { visit(f, a.Frames) })
}

// eachAnswer visits them with their threads' places.
func eachAnswer(s *Stack, answers [][]symbol.Answer, visit func(thread int, f *Frame, a *symbol.Answer)) {
	for t := range s.Threads[:min(len(s.Threads), len(answers))] {
		for i := range s.Threads[t].Frames[:min(len(s.Threads[t].Frames), len(answers[t]))] {
			if a := &answers[t][i]; a.Status == symbol.Found && len(a.Frames) > 0 {
				visit(t, &s.Threads[t].Frames[i], a)
			}
		}
	}
}

// lineEnd is how the line that reaches to end ends.
func lineEnd(text []byte, end int) string {
	if bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t"), []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func writeApple(out *bufio.Writer, f *Frame, at *symbol.Frame) {
	out.WriteString(oneLine(function(at)))
	if image := base([]byte(f.File)); len(image) > 0 {
		out.WriteString(" (in ")
		out.WriteString(oneLine(string(image)))
		out.WriteByte(')')
	}
	if at.File != "" {
		out.WriteString(" (")
		out.WriteString(oneLine(path.Base(at.File)))
		out.WriteByte(':')
		out.WriteString(strconv.FormatUint(uint64(at.Line), 10))
		out.WriteByte(')')
	}
}
