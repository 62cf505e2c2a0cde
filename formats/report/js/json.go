package js

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	internaljson "github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// jsonField is a member of an event's frame that an answer replaces: where its
// value stands in Report.Text.
type jsonField struct {
	span [2]int
	what jsonWhat
}

type jsonWhat uint8

const (
	jsonFile jsonWhat = iota
	jsonLine
	jsonColumn
	jsonFunction
	jsonWhole // the frame itself: a crash of Hermes; its own numbers mean nothing any more
)

// scriptKeys are the members by which events know a frame. The first that is
// there counts.
var scriptKeys = [...]struct {
	what jsonWhat
	keys []string
}{
	{jsonFile, []string{"filename", "file_name", "fileName", "abs_path", "absPath", "SourceURL", "url", "file"}},
	{jsonLine, []string{"lineno", "line_num", "lineNumber", "line_number", "line"}},
	{jsonColumn, []string{"colno", "col_num", "columnNumber", "column_number", "column", "col"}},
	{jsonFunction, []string{"function", "method_name", "methodName", "functionName", "function_name"}},
}

// scriptEvent reads frames of scripts anywhere in JSON: error.stack and the like in
// strings, frames as objects, and the debug ids of scripts beside them.
type scriptEvent struct {
	internaljson.Walker
	out   *report.Report
	o     report.Options
	ids   map[string]string // debug id by script
	count int
}

// readScriptJSON makes a stack of JSON that holds frames of scripts.
func readScriptJSON(text []byte, o report.Options) *report.Report {
	e := &scriptEvent{Walker: internaljson.Walker{Bytes: text}, out: &report.Report{Form: scriptJSON, Text: text}, o: o, ids: map[string]string{}}
	e.value(0)
	if e.Failed || e.count == 0 {
		return nil
	}
	for t := range e.out.Threads {
		for i := range e.out.Threads[t].Frames {
			f := &e.out.Threads[t].Frames[i]
			if id := e.ids[f.File]; id != "" {
				f.Image = append([]string{id}, f.Image...)
			}
		}
	}
	return e.out
}

// value walks the value at hand.
func (e *scriptEvent) value(depth int) {
	switch c := e.Peek(); {
	case depth > internaljson.MaxDepth:
		e.Skip()
	case c == '{':
		e.members(depth)
	case c == '[':
		thread := len(e.out.Threads)
		e.out.Threads = append(e.out.Threads, report.Thread{})
		e.Array(func(int) { e.value(depth + 1) })
		if thread < len(e.out.Threads) && len(e.out.Threads[thread].Frames) == 0 {
			e.out.Threads = slices.Delete(e.out.Threads, thread, thread+1)
		}
	case c == '"':
		from := e.Pos + 1
		if raw := e.Raw(); len(raw) > 2 {
			e.lines(from, from+len(raw)-2)
		}
	default:
		e.Skip()
	}
}

// scalar is a member's value that is no object or list.
type scalar struct {
	key  string
	span [2]int
}

// members walks an object, and makes a frame of it if it is one.
func (e *scriptEvent) members(depth int) {
	from := e.Pos
	thread := len(e.out.Threads) - 1 // of the list around it
	var scalars []scalar
	e.Composite('{', '}', func() {
		key := e.Text()
		if !e.Take(':') {
			return
		}
		c := e.Peek()
		at := e.Pos
		e.value(depth + 1)
		if c != '{' && c != '[' && len(scalars) < 64 {
			scalars = append(scalars, scalar{key, [2]int{at, e.Pos}})
		}
	})
	if !e.Failed && e.count < report.MaxDocumentFrames {
		e.object([2]int{from, e.Pos}, scalars, thread)
	}
}

func (e *scriptEvent) at(span [2]int) *internaljson.Walker {
	return &internaljson.Walker{Bytes: e.Bytes[:span[1]], Pos: span[0]}
}

func find(scalars []scalar, keys ...string) *scalar {
	for _, k := range keys {
		if i := slices.IndexFunc(scalars, func(s scalar) bool { return s.key == k }); i >= 0 {
			return &scalars[i]
		}
	}
	return nil
}

// object takes an object's plain members: of a frame, or of an image.
func (e *scriptEvent) object(span [2]int, scalars []scalar, thread int) {
	if file, id := find(scalars, "code_file"), find(scalars, "debug_id"); file != nil && id != nil {
		e.ids[scriptPath(e.at(file.span).Text())] = strings.ToLower(e.at(id.span).Text())
		return
	}
	if find(scalars, "FunctionID") != nil {
		e.bytecode(span, scalars, thread)
		return
	}
	var found [len(scriptKeys)]*scalar
	for i, k := range scriptKeys {
		if found[i] = find(scalars, k.keys...); found[i] == nil && k.what != jsonFunction {
			return
		}
	}
	url := e.at(found[jsonFile].span).Text()
	line, column := e.at(found[jsonLine].span).Number(), e.at(found[jsonColumn].span).Number()
	if !isScriptURL([]byte(url), jsJSON) || line > 1<<32 || column > 1<<32 {
		return
	}
	d := &frame{form: jsJSON, column: 1}
	f := report.Frame{Span: span, Kind: symbol.SourceMap, Script: &d.Script, Detail: d}
	f.Raw = line<<32 | column
	switch key := found[jsonFile].key; {
	case key == "url" && find(scalars, "scriptId") != nil, key == "SourceURL":
		line++ // both count from 0
		d.column, d.line = 0, 1
	case isBytecodeFile(url):
		d.column = 0
	case column > 0:
		column--
	}
	if line == 0 {
		return
	}
	for i, s := range found {
		if s != nil {
			d.fields = append(d.fields, jsonField{s.span, scriptKeys[i].what})
		}
	}
	slices.SortFunc(d.fields, func(a, b jsonField) int { return a.span[0] - b.span[0] })
	setScript(&f, url, line, column)
	if id := find(scalars, "debug_id", "debugId"); id != nil {
		f.Image = append([]string{strings.ToLower(e.at(id.span).Text())}, f.Image...)
	}
	e.add(f, thread)
}

// isBytecodeFile reports whether a file is called as React Native calls its bundle. These days it is bytecode
// of Hermes, and its columns count from 0.
func isBytecodeFile(url string) bool {
	file := scriptPath(url)
	for _, end := range []string{".bundle", ".jsbundle", ".hbc"} {
		if strings.HasSuffix(file, end) {
			return true
		}
	}
	return false
}

// bytecode takes a frame of a crash of Hermes: an offset in a function.
func (e *scriptEvent) bytecode(span [2]int, scalars []scalar, thread int) {
	number, offset, url := find(scalars, "FunctionID"), find(scalars, "ByteCodeOffset"), find(scalars, "SourceURL")
	if offset == nil || url == nil {
		return
	}
	line := uint64(0)
	if s := find(scalars, "CJSModuleOffset"); s != nil {
		line = e.at(s.span).Number()
	}
	n, column := e.at(number.span).Number(), e.at(offset.span).Number()
	if line >= symbol.MaxLine || n >= 1<<32 || column >= 1<<31 {
		return
	}
	d := &frame{form: jsJSON, fields: []jsonField{{span, jsonWhole}}}
	f := report.Frame{Span: span, Kind: symbol.SourceMap, Raw: line<<32 | column, Script: &d.Script, Detail: d}
	setScript(&f, e.at(url.span).Text(), line+1, column)
	m := report.Module{Table: report.Functions, Number: uint32(n)}
	if was := f.Script.Module; was != nil {
		m.Segment = was.Segment
	}
	f.Script.Module = &m
	e.add(f, thread)
}

func (e *scriptEvent) add(f report.Frame, thread int) {
	if len(f.Image) == 0 {
		f.Image = e.o.Artifacts
	}
	if thread < 0 {
		e.out.Threads = append(e.out.Threads, report.Thread{})
		thread = len(e.out.Threads) - 1
	}
	t := &e.out.Threads[thread]
	t.Frames = append(t.Frames, f)
	e.count++
}

// lines looks for frames in the inside of a string, [from, to): its lines as
// they are spelled, parted by \n.
func (e *scriptEvent) lines(from, to int) {
	text := e.Bytes[from:to]
	if !bytes.Contains(text, []byte(`\n`)) || bytes.Count(text, []byte{':'}) < 2 {
		return
	}
	thread := -1
	intern := func(b []byte) string { return unquote(b) }
	for at := from; at < to; {
		end := nextLine(e.Bytes, at, to)
		text := e.Bytes[at:end]
		var l line
		ok := false
		if len(text) <= report.MaxLineBytes && e.count < report.MaxDocumentFrames {
			l, ok = parseScript(bytes.TrimSuffix(text, []byte(`\r`)))
		}
		if ok {
			if thread < 0 {
				e.out.Threads = append(e.out.Threads, report.Thread{})
				thread = len(e.out.Threads) - 1
			}
			e.add(l.frame(at, intern), thread)
		}
		at = end + len(`\n`)
	}
}

// nextLine is the index of the \n that ends the line at at, or to.
func nextLine(b []byte, at, to int) int {
	for i := at; i+1 < to; i++ {
		if b[i] == '\\' {
			if b[i+1] == 'n' {
				return i
			}
			i++
		}
	}
	return to
}

// unquote is the text that the inside of a JSON string spells.
func unquote(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(b)+`"`), &s) != nil {
		return string(b)
	}
	return s
}
