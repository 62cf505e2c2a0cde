package js

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
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
	writeScripts(out, s, answers, false)
}

// printScriptJSON does the same inside the strings of JSON, and replaces the
// members of frames that are objects by the innermost function's.
func printScriptJSON(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	writeScripts(out, s, answers, true)
}

func writeScripts(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer, quoted bool) {
	done := 0
	order := framesInOrder(s, answers)
	for _, at := range order {
		f, chain := at.frame, at.chain
		if f.Span[0] < done {
			continue // a frame inside another
		}
		out.Write(s.Text[done:f.Span[0]])
		done = f.Span[1]
		if at.script.form == jsJSON {
			writeMembers(out, s.Text, f, at.script, &chain[0])
			continue
		}
		for k := range chain {
			if k > 0 {
				end, before := scan.LineEnd(s.Text, f.Span[1]), s.Text[bytes.LastIndexByte(s.Text[:f.Span[0]], '\n')+1:f.Span[0]]
				if quoted {
					end, before = `\n`, indent(s.Text[:f.Span[0]])
				}
				out.WriteString(end)
				out.Write(before)
			}
			writeScript(out, s.Text, f, at.script, &chain[k], k == 0, quoted)
		}
	}
	out.Write(s.Text[done:])
}

// foundFrame is a frame with its answer.
type foundFrame struct {
	frame  *report.Frame
	script *frame
	chain  []symbol.Frame
}

// framesInOrder are the frames of scripts that were found, as they stand in the text.
func framesInOrder(s *report.Report, answers [][]symbol.Answer) (found []foundFrame) {
	report.Each(s, answers, func(f *report.Frame, chain []symbol.Frame) {
		if script, ok := f.Detail.(*frame); ok {
			found = append(found, foundFrame{f, script, chain})
		}
	})
	slices.SortStableFunc(found, func(a, b foundFrame) int { return a.frame.Span[0] - b.frame.Span[0] })
	return found
}

// indent is the space that a line begins with, before its frame.
func indent(before []byte) []byte {
	return before[len(bytes.TrimRight(before, " \t")):]
}

// writeScript writes one frame of an answer in place of f. Of an answer's
// outer frames the printed name is not theirs.
func writeScript(out *bufio.Writer, text []byte, f *report.Frame, sc *frame, a *symbol.Frame, innermost, quoted bool) {
	was := text[f.Span[0]:f.Span[1]]
	spell := scan.OneLine
	if quoted {
		spell = json.Quote
	}
	name := ""
	if a.Function != "" || a.Linkage != "" {
		name = spell(report.FunctionName(a))
	}
	if name == "" && innermost || sc.form == jsEval {
		name = string(was[sc.name[0]:sc.name[1]])
	}
	before := was[:sc.name[0]]
	between, behind := was[sc.name[1]:sc.place[0]], was[sc.place[1]:]
	switch {
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
	if file == "" {
		file = "<unknown>"
	}
	out.WriteString(spell(file))
	out.WriteByte(':')
	out.WriteString(strconv.FormatUint(uint64(a.Line), 10))
	out.WriteByte(':')
	out.WriteString(strconv.FormatUint(uint64(a.Column)+uint64(sc.column), 10))
	out.Write(behind)
	if a.Ignored {
		out.WriteString(ignoredMark)
	}
}

// writeMembers writes a frame that is an object, with its members replaced.
func writeMembers(out *bufio.Writer, text []byte, f *report.Frame, script *frame, a *symbol.Frame) {
	done := f.Span[0]
	for _, m := range script.fields {
		out.Write(text[done:m.span[0]])
		done = m.span[1]
		was := text[m.span[0]:m.span[1]]
		number := func(n uint64) {
			if was[0] == '"' {
				out.WriteString(strconv.Quote(strconv.FormatUint(n, 10)))
			} else {
				out.WriteString(strconv.FormatUint(n, 10))
			}
		}
		switch m.what {
		case jsonFile:
			out.WriteString(`"` + json.Quote(a.File) + `"`)
		case jsonLine:
			number(uint64(a.Line - script.line))
		case jsonColumn:
			number(uint64(a.Column) + uint64(script.column))
		case jsonFunction:
			if a.Function == "" && a.Linkage == "" {
				out.Write(was)
			} else {
				out.WriteString(`"` + json.Quote(report.FunctionName(a)) + `"`)
			}
		case jsonWhole:
			writeHermes(out, a)
		}
	}
	out.Write(text[done:f.Span[1]])
}

// writeHermes writes a frame of a crash of Hermes as metro-symbolicate does.
func writeHermes(out *bufio.Writer, a *symbol.Frame) {
	orNull := func(s string) string {
		if s == "" {
			return "null"
		}
		return `"` + json.Quote(s) + `"`
	}
	name := a.Function
	if name == "" {
		name = a.Linkage
	}
	out.WriteString(`{"source":` + orNull(a.File) + `,"line":` + strconv.FormatUint(uint64(a.Line), 10) +
		`,"column":` + strconv.FormatUint(uint64(a.Column), 10) + `,"name":` + orNull(a.Name) +
		`,"functionName":` + orNull(name) + `,"isIgnored":` + strconv.FormatBool(a.Ignored) + "}")
}
