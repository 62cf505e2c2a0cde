// Package jvm reads stack traces of Java and Kotlin.
package jvm

import (
	"bytes"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads stack traces of Java and Kotlin. Their lines stand in Android's dumps, too.
var Dialect = report.Dialect{
	Name:  "jvm",
	Forms: []*report.Form{java},
	Lines: func(b *report.Builder) report.Lines {
		r := &lines{b: b, o: &b.Options().Managed}
		return report.Lines{Find: r.find, Add: r.add, Ends: r.ends, Kept: r.kept, Close: r.close}
	},
}

var java = &report.Form{Name: "java", Frame0: report.Exact, Kind: symbol.R8, Mix: report.MixGuest,
	Lines: "at a.b.c(SourceFile:12) of Java and Kotlin below the exception's line; in other dumps too"}

// lines reads single lines.
type lines struct {
	b *report.Builder
	o *report.ManagedOptions

	line    line          // that find found
	end     int           // of its text
	steps   int64         // that the expression took
	spent   bool          // they were too many
	pending []pendingLine // lines of the report's text that name classes, behind its last frame
}

// frame is a frame with the pieces of its line that an answer replaces.
type frame struct {
	report.Managed
	parts []part
}

// nearLines is how many lines before a frame, and behind the one before it,
// may name classes: an exception's line, and the lines of its message.
const nearLines = 8

// parse reads a line of a managed frame.
func (r *lines) parse(content []byte, l *line) bool {
	if r.o.Line != nil {
		return r.matches(content, l) && l.frame
	}
	return parseManaged(content, r.o.School == report.Own, l)
}

// matches reads a line by the expression, as long as there are steps for it.
func (r *lines) matches(content []byte, l *line) bool {
	n := r.o.Line.Steps(content)
	if n == 0 || r.spent {
		return false
	}
	r.steps += n
	if most := r.b.Options().Steps; most > 0 && r.steps > most {
		r.spent = true
		r.b.Fail(report.ErrExpression)
		return false
	}
	return parseExpression(r.o.Line, content, l)
}

// parseNames reads a line that only names classes.
func (r *lines) parseNames(content []byte, l *line) bool {
	if r.o.Line != nil {
		return r.matches(content, l) && !l.frame
	}
	return parseThrown(content, r.o.School == report.Own, l)
}

func (r *lines) find(l *report.Line, f *report.Found) bool {
	r.line = line{}
	if !r.parse(l.Raw, &r.line) {
		return false
	}
	r.end = len(l.Text)
	*f = report.Found{Form: java, Number: -1, Room: report.FrameRoom + 4*l.Bytes()}
	return true
}

// add adds the line that find found, behind the lines before it that name classes.
func (r *lines) add(*report.Found) {
	if r.o.All || r.b.InDump() {
		r.addNames()
	} else {
		r.nearNames(r.b.At(), nearLines)
	}
	r.addLine(&r.line, r.b.At(), r.b.At()+r.end)
}

// ends: a trace ends at an empty line, and where another begins.
func (r *lines) ends(l *report.Line) bool {
	if r.b.Form() != java || r.b.InDump() {
		return false
	}
	if r.b.AfterGap() && len(bytes.TrimSpace(l.Text)) > 0 {
		return true
	}
	for _, word := range beginsTrace {
		if bytes.Contains(l.Text, word) {
			return true
		}
	}
	return false
}

// kept looks for names in a line of text.
func (r *lines) kept(span [2]int) {
	if !r.o.All || r.b.Frames()+len(r.pending) >= report.MaxFrames {
		return
	}
	var l line
	if r.parseNames(r.b.Report().Text[span[0]:span[1]], &l) {
		r.pending = append(r.pending, pendingLine{l, span[0], span[1]})
	}
}

// pendingLine is a line that names classes and has no place in a thread yet:
// the frame that follows says which.
type pendingLine struct {
	line    line
	at, end int
}

// addNames gives the pending lines their place in the current thread.
func (r *lines) addNames() {
	for i := range r.pending {
		p := &r.pending[i]
		r.addLine(&p.line, p.at, p.end)
	}
	r.pending = r.pending[:0]
}

// nearNames adds the lines that name classes between the last frame and end:
// the first nearLines of them, if a frame precedes, and the last.
func (r *lines) nearNames(end, last int) {
	made := r.b.Report()
	from, first := 0, 0
	for t := range made.Threads {
		if f := made.Threads[t].Frames; len(f) > 0 {
			from, first = f[len(f)-1].Span[1], nearLines
		}
	}
	text := made.Text[:end]
	tail := end
	for range last {
		if tail <= from {
			break
		}
		tail = bytes.LastIndexByte(text[:tail-1], '\n') + 1
	}
	for n := 0; from < end; n++ {
		if n == first {
			from = max(from, tail)
		}
		stop := bytes.IndexByte(text[from:], '\n')
		if stop < 0 {
			stop = end - from
		}
		var l line
		if n := len(bytes.TrimRight(text[from:from+stop], "\r")); n < report.MaxLineBytes && r.parseNames(text[from:from+n], &l) {
			r.addLine(&l, from, from+n)
		}
		from += stop + 1
	}
}

// addLine makes the line at [at, end) of the report's text a frame of the current thread.
func (r *lines) addLine(l *line, at, end int) {
	j := &frame{l.m, l.parts}
	for i := range j.parts {
		j.parts[i].start -= l.start
		j.parts[i].end -= l.start
	}
	f := report.Frame{Span: [2]int{at + l.start, end}, Kind: symbol.R8, Managed: &j.Managed, Detail: j}
	if id := report.MapID(j.File); id != "" {
		f.Image = []string{r.b.Intern([]byte(id))}
	}
	r.b.Add(f)
}

// close completes the report before it is handed out.
func (r *lines) close() {
	made := r.b.Report()
	switch {
	case len(r.pending) > 0:
		if len(made.Threads) == 0 {
			r.b.Begin(java)
		}
		r.addNames()
	case r.b.Form() == java && !r.b.InDump() && !r.o.All:
		r.nearNames(len(made.Text), 0)
	}
	nameMapping(made, r.b.Options().Artifacts)
}

// nameMapping gives a mapping to managed frames that name none: the mapping of the nearest frame before
// them, else the first mapping of the report. An app has one.
func nameMapping(s *report.Report, artifacts []string) {
	var image []string
	each := func(visit func(f *report.Frame)) {
		for t := range s.Threads {
			for i := range s.Threads[t].Frames {
				if f := &s.Threads[t].Frames[i]; f.Managed != nil {
					visit(f)
				}
			}
		}
	}
	each(func(f *report.Frame) {
		if len(image) == 0 {
			image = f.Image
		}
	})
	if len(image) == 0 {
		image = artifacts
	}
	each(func(f *report.Frame) {
		if len(f.Image) > 0 {
			image = f.Image
		} else {
			f.Image = image
		}
	})
}
