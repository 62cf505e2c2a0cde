package shape

import (
	"bytes"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// managedDetail is a frame of the JVM with its object.
type managedDetail struct {
	report.Managed
	object
}

// managed makes a frame of the JVM.
func (e *walk) managed(out *report.Frame, f *frame, t *thread, _ *images) bool {
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
		if f := &frames[i]; f.Managed != nil && len(f.Image) > 0 && !sameList(f.Image, artifacts) {
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
		if len(f.Image) > 0 && !sameList(f.Image, artifacts) {
			image = f.Image
		} else {
			f.Image = image
		}
	}
}

func sameList(a, b []string) bool { return slices.Equal(a, b) }

// splitClass parts a class's name into its package and its own name.
func splitClass(full string) (pkg, name string) {
	if dot := strings.LastIndexByte(full, '.'); dot > 0 {
		return full[:dot], full[dot+1:]
	}
	return "", full
}
