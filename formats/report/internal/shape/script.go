package shape

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	scripts "github.com/symlake/symlake/formats/report/internal/script"
	"github.com/symlake/symlake/formats/symbol"
)

// scriptKey is a script's URL as frames and lists of images spell it alike: without a query, a host and marks of
// bundlers.
func scriptKey(url string) string {
	url = scripts.Path(url)
	url = strings.TrimPrefix(url, "~")
	return url
}

// scriptFrame makes a frame of JavaScript.
func (e *walk) scriptFrame(out *report.Frame, f *frame, d *object, m *images) bool {
	s := f.shape
	at, _ := e.place(s, &f.facts, line)
	col, _ := e.place(s, &f.facts, column)
	url := e.script(s, &f.facts)
	if f.has(bytecode) {
		return e.hermes(out, f, d, col)
	}
	if at > 1<<32 || col > 1<<32 {
		return false
	}
	out.Kind, out.Script, out.Raw = symbol.SourceMap, &d.Script, at<<32|col
	switch {
	case s.Zero:
		at++
		d.column, d.line = 0, 1
	case s.Columns == FromZero || s.Columns == AsPrinted && scripts.IsBytecode(url):
		d.column = 0
	case col > 0:
		col--
	}
	if at == 0 {
		return false
	}
	if id := e.text(&f.facts, debugID); id != "" {
		out.Image = append(out.Image, strings.ToLower(id))
	} else if id := e.debugOf(f, m); id != "" {
		out.Image = append(out.Image, id)
	}
	scripts.Set(out, url, at, col)
	if f.has(function) {
		d.Function = string(scripts.Name([]byte(e.text(&f.facts, function))))
	}
	return true
}

// script adds the debug id of a script.
func (m *images) script(url, id string) {
	if m.scripts == nil {
		m.scripts = map[string]string{}
	}
	url = scriptKey(url)
	m.scripts[url] = id
	if way := urlPath(url); len(way) > 1 && way != url {
		if was, twice := m.scripts[way]; twice && was != id {
			id = ""
		}
		m.scripts[way] = id
	}
}

// debugOf returns the debug id that the list of images has for a script, by any name that the frame gives it: the
// name itself, else the path of its URL.
func (e *walk) debugOf(f *frame, m *images) string {
	if len(m.scripts) == 0 {
		return ""
	}
	for _, what := range [...]field{location, file, class, module} {
		if name := e.text(&f.facts, what); name != "" {
			if id := m.scripts[scriptKey(name)]; id != "" {
				return id
			}
		}
	}
	for _, what := range [...]field{location, file} {
		if id := m.scripts[urlPath(scriptKey(e.text(&f.facts, what)))]; id != "" {
			return id
		}
	}
	return ""
}

// inString gives a frame in a string the ids that the innermost object around both says: of its script, or of its mapping.
func (e *walk) inString(f *report.Frame) {
	if f.Script == nil && f.Managed == nil {
		return
	}
	m := e.imagesAt(f.Span)
	if f.Managed != nil && m.mapping != "" && (len(f.Image) == 0 || slices.Equal(f.Image, e.o.Artifacts)) {
		f.Image = []string{m.mapping}
	}
	if f.Script == nil || len(m.scripts) == 0 {
		return
	}
	url := scriptKey(f.File)
	if id := cmp.Or(m.scripts[url], m.scripts[urlPath(url)]); id != "" {
		f.Image = append([]string{id}, f.Image...)
	}
}

// urlPath returns a URL without its scheme and host.
func urlPath(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		if slash := strings.IndexByte(rest, '/'); slash >= 0 {
			return rest[slash:]
		}
		return ""
	}
	if strings.HasPrefix(url, "/") {
		return url
	}
	return ""
}

// hermes makes a frame of a crash of Hermes: an offset in a function of bytecode.
func (e *walk) hermes(out *report.Frame, f *frame, d *object, col uint64) bool {
	number, ok := e.place(f.shape, &f.facts, bytecode)
	at, _ := e.place(f.shape, &f.facts, line)
	if !ok || at >= symbol.MaxLine || number >= 1<<32 || col >= 1<<31 {
		return false
	}
	out.Kind, out.Script, out.Raw = symbol.SourceMap, &d.Script, at<<32|col
	scripts.Set(out, e.text(&f.facts, file), at+1, col)
	m := report.Module{Table: report.Functions, Number: uint32(number)}
	if was := d.Module; was != nil {
		m.Segment = was.Segment
	}
	d.Module = &m
	return true
}
