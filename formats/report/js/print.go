package js

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// ignoredMark stands behind a frame if the map lists its source as none of the
// application's own.
const ignoredMark = " [ignored]"

// printScripts writes a stack of scripts: each frame that was found is
// replaced, in its engine's own manner, with function, file, line and column of
// the source. A function that is not known keeps the name it had. Functions
// that were inlined into others stand above those, each in a line.
func printScripts(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	done := 0
	report.Each(s, answers, func(f *report.Frame, chain []symbol.Frame) {
		script, ok := f.Detail.(*frame)
		if !ok || f.Span[0] < done {
			return
		}
		out.Write(s.Text[done:f.Span[0]])
		done = f.Span[1]
		for k := range chain {
			if k > 0 {
				out.WriteString(scan.LineEnd(s.Text, f.Span[1]))
				out.Write(s.Text[bytes.LastIndexByte(s.Text[:f.Span[0]], '\n')+1 : f.Span[0]])
			}
			writeScript(out, s.Text, f, script, &chain[k], k == len(chain)-1)
		}
	})
	out.Write(s.Text[done:])
}

// writeScript writes one frame of an answer in place of f. The last frame of an answer is the function that the engine
// printed. The others were inlined into it.
func writeScript(out *bufio.Writer, text []byte, f *report.Frame, sc *frame, a *symbol.Frame, last bool) {
	was := text[f.Span[0]:f.Span[1]]
	before, printed := was[:sc.name[0]], was[sc.name[0]:sc.name[1]]
	between, behind := was[sc.name[1]:sc.place[0]], was[sc.place[1]:]
	name := ""
	if a.Function != "" || a.Linkage != "" {
		name = scan.OneLine(report.FunctionName(a))
	}
	if !last {
		before = before[:len(before)-len(marks(before))]
	} else if name == "" {
		name = string(printed)
	}
	if last && name != "" {
		name = decorated(name, before, printed, sc.form)
	}
	switch {
	case sc.form == jsEval && len(printed) == 0:
		name = ""
	case sc.form == jsBare && name != "":
		between, behind = []byte(" ("), append([]byte(")"), behind...)
	case sc.form == jsAt && name == "":
		name = "<anonymous>"
	case sc.form == jsOnly && name != "":
		between = []byte("@")
	}
	out.Write(before)
	out.WriteString(name)
	out.Write(between)
	file := a.File
	if file == "" && sc.wasm { // a module without lines
		file = string(was[sc.place[0]:sc.place[1]])
	}
	if file == "" {
		file = "<unknown>"
	}
	out.WriteString(scan.OneLine(file))
	if a.Line > 0 { // the line of a caller of an inlined function may be unknown
		out.WriteByte(':')
		out.WriteString(strconv.FormatUint(uint64(a.Line), 10))
		if column := uint64(a.Column) + uint64(sc.column); column > 0 { // of a module it may be unknown
			out.WriteByte(':')
			out.WriteString(strconv.FormatUint(column, 10))
		}
	}
	out.Write(behind)
	if a.Ignored {
		out.WriteString(ignoredMark)
	}
}

// marks are the words that an engine prints before a function's name, in what stands before it: async, new, async*.
func marks(before []byte) []byte {
	from := len(before)
	for _, word := range []string{"new ", "async ", "async*", "Async*"} {
		if bytes.HasSuffix(before[:from], []byte(word)) {
			from -= len(word)
		}
	}
	return before[from:]
}

// decorated is a name with what the engine printed beside the one in its place: new before it, and [as f] behind it, the name
// that a method was called by.
func decorated(name string, before, printed []byte, form form) string {
	if form == jsSign || form == jsOnly || bytes.HasSuffix(before, []byte("new ")) {
		name = strings.TrimPrefix(name, "new ")
	}
	if _, as, ok := bytes.Cut(printed, []byte(" [as ")); ok && !strings.HasSuffix(name, " [as "+string(as)) {
		if as = bytes.TrimSuffix(as, []byte("]")); string(as) != name[strings.LastIndexAny(name, ". ")+1:] {
			name += " [as " + string(as) + "]"
		}
	}
	return name
}
