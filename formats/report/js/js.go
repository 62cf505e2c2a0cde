// Package js reads stacks of JavaScript engines, of scripts and of WebAssembly.
//
// V8, Firefox and Safari print the offset of an instruction in the module, or none: of a frame that called another, the
// call's own, not the one behind it. So no offset is stepped back.
package js

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/script"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads stacks of JavaScript engines.
var Dialect = report.Dialect{
	Name:  "js",
	Forms: []*report.Form{javascript},
	Lines: func(b *report.Builder) report.Lines {
		r := &lines{b: b}
		return report.Lines{Find: r.find, Add: r.add, Ends: r.ends}
	},
}

var javascript = &report.Form{Name: "javascript", Frame0: report.Exact, Kind: symbol.SourceMap, Gap: report.GapEndsReport, Print: printScripts, Quoted: script.JSON,
	Lines: "at f (https://host/app.js:1:421), f@https://host/app.js:1:421, at f (address at index.android.bundle:1:20152), at f (https://host/app.wasm:wasm-function[12]:0x1a2b)"}

// lines reads single lines.
type lines struct {
	b    *report.Builder
	line line // that find found
}

func (r *lines) find(l *report.Line, f *report.Found) bool {
	line, ok := parseScript(l.Raw)
	if !ok {
		if line, ok = parseWasm(l.Raw); !ok {
			return false
		}
	}
	r.line = line
	*f = report.Found{Form: javascript, Number: -1}
	return true
}

func (r *lines) add(*report.Found) { r.b.Add(r.line.frame(r.b.At(), r.b.Intern)) }

// ends: a line behind a stack's frames that is none of an engine's lines begins the next error.
func (r *lines) ends(l *report.Line) bool {
	if r.b.Form() != javascript || len(l.Text) == 0 || scan.IsSpace(l.Text[0]) {
		return false
	}
	for _, own := range engineWords {
		if bytes.Contains(l.Text, own) {
			return false
		}
	}
	return true
}

var engineWords = [][]byte{[]byte("@"), []byte("[native code]"), []byte("eval code"), []byte("global code"), []byte("...")}

// frame turns a line that begins at at in the text into a frame.
func (l *line) frame(at int, intern func([]byte) string) report.Frame {
	d := &frame{form: l.form, column: 1}
	if l.wasm != nil {
		d.column, d.wasm = 0, true
	}
	d.name, d.place = [2]int{l.name[0] - l.start, l.name[1] - l.start}, [2]int{l.place[0] - l.start, l.place[1] - l.start}
	f := report.Frame{Span: [2]int{at + l.start, at + l.end}, Detail: d}
	if l.wasm != nil {
		l.wasm.frame(&f, intern)
		return f
	}
	f.Kind, f.Script = symbol.SourceMap, &d.Script
	column := l.column
	if !l.hermes && column > 0 {
		column--
	}
	script.Set(&f, intern(l.url), l.line, column)
	if name := script.Name(l.text[l.name[0]:l.name[1]]); name != nil {
		d.Function = intern(name)
	}
	f.Raw = l.line<<32 | l.column
	return f
}
