package shape

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// object is the Frame.Detail of a frame that is an object.
type object struct {
	report.Script
	shape  *Shape
	kind   kind
	column uint32 // added to a source's column in print
	line   uint32 // taken from a source's line
	alone  bool   // it stands in no list: it has room for one function
}

// class is the Frame.Detail of the name of an exception's class, or of its package.
type thrown struct {
	report.Managed
	split  bool // class and package stand in members of their own
	module bool // the frame is the package
}

// report makes the report of all that the walk found; nil if that is nothing.
func (e *walk) report() *report.Report {
	if e.Broken() {
		return nil
	}
	out := &report.Report{Text: e.Bytes}
	if e.over > 0 {
		e.unread = report.AddUnread(e.unread, report.Unread{Why: report.WhyFrames, Frames: e.over})
	}
	if e.deep {
		e.unread = report.AddUnread(e.unread, report.Unread{Why: report.WhyDeep})
	}
	slices.SortStableFunc(e.threads, func(a, b thread) int { return cmp.Compare(e.begins(&a), e.begins(&b)) })
	for i := range e.threads {
		t := &e.threads[i]
		if len(t.frames) == 0 {
			continue
		}
		if !e.o.Takes(len(t.frames) * 2 * report.FrameRoom) {
			return nil
		}
		made := e.thread(t, out)
		if out.Form == nil && len(made.Frames) > 0 {
			out.Form = t.shape.form
		}
		out.AddThread(made)
	}
	out.Unread = e.unread
	if len(e.holders) > 0 {
		out.InString = e.inString
	}
	if len(out.Threads) == 0 && len(out.Unread) == 0 && out.InString == nil {
		return nil
	}
	return out
}

// begins returns where a list's first frame stands.
func (e *walk) begins(t *thread) int {
	if len(t.frames) == 0 {
		return len(e.Bytes)
	}
	return e.frames[t.frames[0]].span[0]
}

// thread makes a thread of a list of frames.
func (e *walk) thread(t *thread, made *report.Report) report.Thread {
	s := t.shape
	out := report.Thread{ID: e.number(&t.facts, id), Name: e.text(&t.facts, title), Crashed: e.isTrue(&t.facts, crashed)}
	if s.Oldest {
		slices.Reverse(t.frames)
	}
	where := e.imagesOf(t)
	if made.Arch == "" {
		made.Arch = where.arch
	}
	objects := make([]object, len(t.frames))
	above, number, java := 0, 0, false
	for i, at := range t.frames {
		f := &e.frames[at]
		if e.isTrue(&f.facts, inline) {
			above++
			continue
		}
		d := &objects[i]
		*d = object{shape: f.shape, kind: f.kind, column: 1, alone: f.alone}
		frame := report.Frame{Span: f.span, Detail: d, Layout: report.Layout{Above: above}}
		above = 0
		ok := false
		switch f.kind {
		case native:
			ok = e.native(&frame, f, t, where, number)
		case script:
			ok = e.scriptFrame(&frame, f, d, where)
		case managed:
			ok = e.managed(&frame, f, t)
			java = java || ok
		}
		if !ok {
			continue
		}
		number++
		if len(frame.Image) == 0 {
			frame.Image = e.o.Artifacts
		}
		out.Frames = append(out.Frames, frame)
	}
	if t.exception != nil && !t.exception.used && len(out.Frames) > 0 {
		t.exception.used = true
		switch {
		case java:
			out.Frames = append(e.thrown(t.exception, out.Frames), out.Frames...)
		case s.Dart || where.stepped:
			if w, ok := e.word(t.exception); ok {
				made.Words = append(made.Words, w)
			}
		}
	}
	if java {
		nameMapping(out.Frames, where.mapping, e.o.Artifacts)
	}
	return out
}

// inside returns the inside of a field that is a string without escapes.
func (e *walk) inside(f *facts, what field) (span [2]int, ok bool) {
	if !f.has(what) || e.Bytes[f[what][0]] != '"' {
		return span, false
	}
	span = [2]int{int(f[what][0]) + 1, int(f[what][1]) - 1}
	return span, span[1] > span[0] && !strings.Contains(string(e.Bytes[span[0]:span[1]]), `\`)
}

// word returns the class of an exception as a name that Dart's compiler may have replaced.
func (e *walk) word(x *exception) (w report.Word, ok bool) {
	w.Span, ok = e.inside(&x.facts, class)
	w.Name = e.text(&x.facts, class)
	return w, ok
}

// thrown makes frames of an exception's class, and of its package where that stands in a member of its own.
func (e *walk) thrown(x *exception, near []report.Frame) (frames []report.Frame) {
	name := e.text(&x.facts, class)
	pkg := e.text(&x.facts, module)
	if pkg != "" && strings.HasPrefix(name, pkg+".") {
		pkg = ""
	}
	full := name
	if pkg != "" {
		full = pkg + "." + name
	}
	if full == "" || strings.ContainsAny(full, " \t:/\\") {
		return nil
	}
	add := func(what field) {
		if span, ok := e.inside(&x.facts, what); ok {
			d := &thrown{Managed: report.Managed{Class: full, Thrown: full, Line: -1}, split: pkg != "", module: what == module}
			frames = append(frames, report.Frame{Span: span, Kind: symbol.R8, Managed: &d.Managed, Detail: d, Image: near[0].Image[:0:0]})
		}
	}
	add(class)
	if pkg != "" && len(frames) > 0 {
		add(module)
	}
	return frames
}

// managedDetail is a frame of the JVM with its object.
type managedDetail struct {
	report.Managed
	object
}

// managed makes a frame of the JVM.
func (e *walk) managed(out *report.Frame, f *frame, t *thread) bool {
	if !f.has(platform) && t.platform[1] != 0 && !onJVM(string(bytes.Trim(e.Bytes[t.platform[0]:t.platform[1]], `"`))) {
		e.unread = report.AddUnread(e.unread, report.Unread{Why: report.WhyNamed, Frames: 1, Named: true})
		return false
	}
	className, method := e.method(f.shape, &f.facts)
	d := &managedDetail{object: object{shape: f.shape, kind: managed, alone: f.alone}}
	d.Class, d.Method = className, method
	d.Line, d.Lined, d.Filed = -1, true, true
	d.File = e.text(&f.facts, file)
	if n, ok := e.place(f.shape, &f.facts, line); ok && n > 0 && n <= symbol.MaxLine {
		d.Line = int(n)
	}
	out.Kind, out.Managed, out.Detail = symbol.R8, &d.Managed, d
	if id := report.MapID(d.File); id != "" {
		out.Image = []string{id}
	}
	return true
}

// onJVM reports whether a program's platform may be the JVM: it is one, or says nothing of languages.
func onJVM(platform string) bool {
	switch strings.ToLower(platform) {
	case "", "null", "java", "android", "kotlin", "scala", "groovy", "clojure", "jvm", "other", "unknown", "mobile":
		return true
	}
	return false
}

// nameMapping gives a mapping to frames that name none: the mapping of the frames around them, else of the event.
func nameMapping(frames []report.Frame, mapping string, artifacts []string) {
	var image []string
	for i := range frames {
		if f := &frames[i]; f.Managed != nil && len(f.Image) > 0 && !slices.Equal(f.Image, artifacts) {
			image = f.Image
			break
		}
	}
	if image == nil && mapping != "" {
		image = []string{mapping}
	}
	if image == nil {
		image = artifacts
	}
	for i := range frames {
		f := &frames[i]
		if f.Managed == nil {
			continue
		}
		if len(f.Image) > 0 && !slices.Equal(f.Image, artifacts) {
			image = f.Image
		} else {
			f.Image = image
		}
	}
}

// splitClass parts a class's name into its package and its own name.
func splitClass(full string) (pkg, name string) {
	if dot := strings.LastIndexByte(full, '.'); dot > 0 {
		return full[:dot], full[dot+1:]
	}
	return "", full
}
