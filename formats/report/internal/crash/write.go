package crash

import (
	"bufio"
	"bytes"
	"path"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// PrintBehind writes answers in place of what stands behind frames' addresses.
func PrintBehind(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer, write func(out *bufio.Writer, f *report.Frame, at *symbol.Frame)) {
	done := 0
	report.Each(s, answers, func(f *report.Frame, chain []symbol.Frame) {
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
// behind the text that is not written yet. It returns how much of text is written then.
func printAmong(out *bufio.Writer, text []byte, done int, f *report.Frame, chain []symbol.Frame) int {
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
		WriteAtos(out, f, &chain[i])
	}
	next := scan.SkipSpace(text, f.Span[1])
	if next == f.Span[1] || next == len(text) || text[next] == '\r' || text[next] == '\n' {
		return f.Span[1]
	}
	out.WriteString(ending)
	return next - 1
}

// WriteAtos writes a function with its image and place as atos does.
func WriteAtos(out *bufio.Writer, f *report.Frame, at *symbol.Frame) {
	out.WriteString(scan.OneLine(report.FunctionName(at)))
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

// Keys are the names under which a form of report keeps an answer.
type Keys struct {
	Function, File, Line string
	Gone                 string // what no longer holds beside another function
}

// Write writes the answer of a frame as members of its object.
func (k Keys) Write(out *bufio.Writer, at *symbol.Frame) {
	json.WriteMember(out, k.Function, report.FunctionName(at))
	if at.File != "" {
		out.WriteString(", ")
		json.WriteMember(out, k.File, path.Base(at.File))
		out.WriteString(`, "` + k.Line + `": ` + strconv.FormatUint(uint64(at.Line), 10))
	}
}

// PrintKeys writes a frame's function, file and line under the names that the report's own tools use.
func PrintKeys(keys Keys) func(*bufio.Writer, *report.Report, [][]symbol.Answer) {
	return PrintObjects("inline", []string{keys.Function, keys.File, keys.Line, keys.Gone}, keys.Write)
}

// PrintObjects writes a report that stays one JSON value: each frame's object gets what write
// writes, in place of the members gone.
// For each function of the inline chain but the outermost, an object stands before the frame's, with the
// member inline: on a line of its own, unless the whole report is one line, as in NDJSON.
func PrintObjects(inline string, gone []string, write func(out *bufio.Writer, at *symbol.Frame)) func(*bufio.Writer, *report.Report, [][]symbol.Answer) {
	return func(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
		done := 0
		oneLine := bytes.IndexByte(bytes.TrimRight(s.Text, " \t\r\n"), '\n') < 0
		report.Each(s, answers, func(f *report.Frame, chain []symbol.Frame) {
			out.Write(s.Text[done:f.Span[0]])
			done = f.Span[1]
			start := bytes.LastIndexByte(s.Text[:f.Span[0]], '\n') + 1
			before := s.Text[start:f.Span[0]]
			if len(bytes.TrimSpace(scan.Unmarked(before, scan.LineMarks))) > 0 {
				before = nil
			}
			members := json.Members(scan.Unmarked(s.FrameText(f), scan.LineMarks), gone...)
			for i := range chain {
				if i > 0 {
					out.WriteByte(',')
					if !oneLine {
						out.WriteString(scan.LineEnd(s.Text, f.Span[1]))
						out.Write(before)
					}
				}
				out.WriteByte('{')
				for _, m := range members {
					out.Write(m)
					out.WriteString(", ")
				}
				write(out, &chain[i])
				if i < len(chain)-1 {
					out.WriteString(`, "` + inline + `": true`)
				}
				out.WriteByte('}')
			}
		})
		out.Write(s.Text[done:])
	}
}
