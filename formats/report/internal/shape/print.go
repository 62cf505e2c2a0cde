package shape

import (
	"bufio"
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// answered is a frame with its answer.
type answered struct {
	frame  *report.Frame
	answer *symbol.Answer
}

// printEvent writes a text with the answers of its frames: values in place of values, missing members behind their
// neighbors, and an object for each function of an inline chain, in the order of the service.
func printEvent(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	var all []answered
	for t := range s.Threads[:min(len(s.Threads), len(answers))] {
		frames := s.Threads[t].Frames
		for i := range frames[:min(len(frames), len(answers[t]))] {
			if a := &answers[t][i]; a.Status == symbol.Found && (len(a.Frames) > 0 || isElement(&frames[i])) {
				all = append(all, answered{&frames[i], a})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b answered) int { return a.frame.Span[0] - b.frame.Span[0] })
	p := printer{out: out, text: s.Text}
	for i := 0; i < len(all); i++ {
		f, a := all[i].frame, all[i].answer
		switch d := f.Detail.(type) {
		case *thrown:
			p.thrown(f, d, a)
		case crashText:
			p.upTo(f.Span[0] + f.Layout.Indent)
			p.done = f.Span[1]
			writeText(out, f, a.Frames)
		case *managedDetail:
			n := 1
			for ; len(a.Frames) == 0 && i+n < len(all) && len(all[i+n].answer.Frames) == 0 && p.adjacent(all[i+n-1].frame, all[i+n].frame); n++ {
			}
			if len(a.Frames) == 0 {
				p.remove(f, all[i+n-1].frame)
				i += n - 1
				continue
			}
			p.object(f, d.shape, &d.object, a.Frames, &d.Managed)
		case *object:
			p.object(f, d.shape, d, a.Frames[min(f.Layout.Above, len(a.Frames)-1):], nil)
		}
	}
	out.Write(s.Text[p.done:])
}

// isElement reports whether a frame of the JVM is an element of a list, which it leaves if the compiler made it. Other frames
// are the value of a member.
func isElement(f *report.Frame) bool {
	d, ok := f.Detail.(*managedDetail)
	return ok && !d.alone
}

// printer writes a text anew.
type printer struct {
	out  *bufio.Writer
	text []byte
	done int // bytes of text that are written, or left out
}

// upTo writes the text up to at.
func (p *printer) upTo(at int) {
	if at > p.done {
		p.out.Write(p.text[p.done:at])
		p.done = at
	}
}

// adjacent reports whether nothing but a comma parts two objects.
func (p *printer) adjacent(a, b *report.Frame) bool {
	return string(bytes.TrimSpace(p.text[a.Span[1]:b.Span[0]])) == ","
}

// remove leaves the objects from first to last out of their list, with a comma.
func (p *printer) remove(first, last *report.Frame) {
	end := json.SkipBlank(p.text, last.Span[1])
	if end < len(p.text) && p.text[end] == ',' {
		p.upTo(first.Span[0])
		p.done = json.SkipBlank(p.text, end+1)
		return
	}
	from := len(bytes.TrimRight(p.text[:first.Span[0]], " \t\r\n"))
	if from > p.done && p.text[from-1] == ',' {
		from--
	} else {
		from = first.Span[0]
	}
	p.upTo(from)
	p.done = last.Span[1]
}

// thrown writes the class of an exception, or its part.
func (p *printer) thrown(f *report.Frame, d *thrown, a *symbol.Answer) {
	if len(a.Frames) == 0 || a.Frames[0].Function == "" {
		return
	}
	name := a.Frames[0].Function
	if d.split {
		pkg, own := splitClass(name)
		if name = own; d.module {
			name = pkg
		}
	}
	p.upTo(f.Span[0])
	p.out.WriteString(json.Quote(name))
	p.done = f.Span[1]
}

// object writes a frame's object once for each function of a chain, the innermost function first.
func (p *printer) object(f *report.Frame, s *Shape, d *object, chain []symbol.Frame, m *report.Managed) {
	if f.Span[0] < p.done || len(chain) == 0 {
		return
	}
	p.upTo(f.Span[0])
	p.done = f.Span[1]
	if s.Whole != nil {
		p.out.Write(s.Whole(&chain[0]))
		return
	}
	if d.alone {
		chain = chain[:1]
	}
	o := parseObject(scan.Unmarked(p.text[f.Span[0]:f.Span[1]], scan.LineMarks))
	for k := range chain {
		i := k
		if s.Oldest {
			i = len(chain) - 1 - k
		}
		if k > 0 {
			p.out.Write(p.between(f))
		}
		w := objectWriter{s: s, d: d, a: &chain[i], m: m, from: o, native: d.kind == native}
		w.inlined = w.native && i < len(chain)-1
		w.write(p.out)
	}
}

// between returns what parts two objects of a frame's list: a comma, and the space that its neighbors have.
func (p *printer) between(f *report.Frame) []byte {
	start := bytes.LastIndexByte(p.text[:f.Span[0]], '\n') + 1
	before := p.text[start:f.Span[0]]
	if len(bytes.TrimSpace(scan.Unmarked(before, scan.LineMarks))) == 0 && start > 0 {
		return slices.Concat([]byte{','}, []byte(scan.LineEnd(p.text, f.Span[1])), before)
	}
	out := []byte{','}
	if end := json.SkipBlank(p.text, f.Span[1]); end < len(p.text) && p.text[end] == ',' {
		return append(out, bytes.ReplaceAll(p.text[end+1:json.SkipBlank(p.text, end+1)], []byte{'\n'}, nil)...)
	}
	if back := bytes.TrimRight(before, " \t"); len(back) > 0 && back[len(back)-1] == ',' {
		return append(out, before[len(back):]...)
	}
	return out
}

// member is a member of an object, as offsets in it.
type member struct {
	from, named, value, end int // of the name's first quote, behind its last, of the value and behind it
	name                    string
}

// parsedObject is an object with the places of its members.
type parsedObject struct {
	text    []byte
	members []member
}

func parseObject(text []byte) *parsedObject {
	o := &parsedObject{text: text}
	j := &json.Walker{Bytes: text}
	j.Composite('{', '}', func() {
		j.Peek()
		m := member{from: j.Pos}
		m.name = j.Text()
		m.named = j.Pos
		if !j.Take(':') {
			return
		}
		j.Peek()
		m.value = j.Pos
		j.Skip()
		m.end = j.Pos
		o.members = append(o.members, m)
	})
	return o
}

// last returns the index of the member that counts under a name; -1: there is none.
func (o *parsedObject) last(name string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

// objectWriter writes an object with the members of an answer.
type objectWriter struct {
	s       *Shape
	d       *object
	a       *symbol.Frame
	m       *report.Managed
	from    *parsedObject
	native  bool
	inlined bool

	edits map[int]string // new values of members; "": the member goes
	added []string       // names and values of members that are missing
	near  int            // the last member that was replaced: missing members follow it
}

// write writes the object.
func (w *objectWriter) write(out *bufio.Writer) {
	w.edits, w.near = map[int]string{}, -1
	switch {
	case w.m != nil:
		w.managed()
	case w.native:
		w.nativeAnswer()
	default:
		w.script()
	}
	if w.inlined && w.s.nameOf(inline) != "" {
		w.set(inline, "true", true)
	}
	o := w.from
	if w.near < 0 {
		w.near = len(o.members) - 1
	}
	done, fresh := 0, true
	for i, m := range o.members {
		value, edited := w.edits[i]
		if edited && value == "" {
			if fresh {
				if i+1 < len(o.members) {
					out.Write(o.text[done:m.from])
					done = o.members[i+1].from
				} else {
					out.Write(o.text[done:m.from])
					done = m.end
				}
				continue
			}
			done = m.end
			if i == w.near {
				w.missing(out, i)
			}
			continue
		}
		fresh = false
		if edited {
			out.Write(o.text[done:m.value])
			out.WriteString(value)
		} else {
			out.Write(o.text[done:m.end])
		}
		done = m.end
		if i == w.near {
			w.missing(out, i)
		}
	}
	out.Write(o.text[done:])
}

// missing writes the members that the object lacks behind member i, with its spaces.
func (w *objectWriter) missing(out *bufio.Writer, i int) {
	o := w.from
	m := o.members[i]
	before := []byte{','}
	if i > 0 {
		before = o.text[o.members[i-1].end:m.from]
	} else {
		before = append(before, o.text[1:m.from]...)
	}
	for k := 0; k < len(w.added); k += 2 {
		out.Write(before)
		out.WriteString(`"` + w.added[k] + `"`)
		out.Write(o.text[m.named:m.value])
		out.WriteString(w.added[k+1])
	}
}

// set replaces the members that say a field, and adds one if there is none and add.
func (w *objectWriter) set(f field, value string, add bool) {
	found := false
	for _, name := range w.s.names[f] {
		if i := w.from.last(name); i >= 0 {
			w.edits[i] = spelledLike(w.from.text[w.from.members[i].value:w.from.members[i].end], value)
			w.near = max(w.near, i)
			found = true
		}
	}
	if !found && add && value != "" && w.s.nameOf(f) != "" {
		w.added = append(w.added, w.s.nameOf(f), value)
	}
}

// spelledLike returns a number as a string where the value before it was one.
func spelledLike(was []byte, value string) string {
	if len(was) > 0 && was[0] == '"' && value != "" && value[0] != '"' {
		return `"` + value + `"`
	}
	return value
}

func quoted(s string) string { return `"` + json.Quote(s) + `"` }

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// adds reports whether native frames get a field that they lack.
func (w *objectWriter) adds(f field) bool {
	if len(w.s.added) == 0 {
		return f == function || f == file || f == line
	}
	return slices.Contains(w.s.added, w.s.nameOf(f))
}

// nativeAnswer sets function, file, line and column. What the answer does not say goes: it belonged to another function.
func (w *objectWriter) nativeAnswer() {
	a := w.a
	w.set(function, quoted(report.FunctionName(a)), w.adds(function))
	for _, name := range w.s.gone {
		if i := w.from.last(name); i >= 0 {
			w.edits[i] = ""
		}
	}
	if a.File == "" {
		for _, f := range [...]field{file, location, line, column} {
			w.set(f, "", false)
		}
		return
	}
	w.set(file, quoted(path.Base(a.File)), w.adds(file))
	w.set(location, quoted(a.File), w.adds(location))
	w.set(line, number(uint64(a.Line)), w.adds(line))
	col := ""
	if a.Column > 0 || w.adds(column) {
		col = number(uint64(a.Column))
	}
	w.set(column, col, w.adds(column))
}

// script sets what a source map says. A function that is not known keeps the name it had.
func (w *objectWriter) script() {
	a, d := w.a, w.d
	if a.Function != "" || a.Linkage != "" {
		w.set(function, quoted(report.FunctionName(a)), true)
	}
	if a.File != "" {
		w.set(file, quoted(a.File), false)
		w.set(location, quoted(a.File), false)
	}
	if a.Line == 0 { // the caller of an inlined function
		w.set(line, "", false)
		w.set(column, "", false)
		return
	}
	w.set(line, number(uint64(a.Line)-uint64(min(d.line, a.Line))), true)
	w.set(column, number(uint64(a.Column)+uint64(d.column)), true)
}

// managed sets what a mapping says of a frame of the JVM.
func (w *objectWriter) managed() {
	name := w.a.Function
	dot := strings.LastIndexByte(name, '.')
	if w.from.says(w.s.names[class]) {
		if dot > 0 {
			w.set(class, quoted(name[:dot]), false)
		}
		w.set(function, quoted(name[dot+1:]), false)
	} else {
		w.set(function, quoted(name), false)
	}
	if w.a.File != "" {
		w.set(file, quoted(w.a.File), true)
		w.set(location, quoted(w.a.File), false)
	}
	if w.a.Line > 0 {
		w.set(line, number(uint64(w.a.Line)), true)
	}
}

// says reports whether the object has a member of one of these names.
func (o *parsedObject) says(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return o.last(name) >= 0 })
}
