package sourcemap

import (
	"errors"
	"path"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/origin"
	"github.com/symlake/symlake/formats/sourcemap/internal/source"
	"github.com/symlake/symlake/formats/symbol"
)

// readOrigins reads what the sources of a map tell of its functions; nil: nothing. The map stands from from to to in the script.
func (e *emitter) readOrigins(t *json.Reader, l *mapfile.Layout, s *sources, from, to mapfile.Position) (*origin.Map, error) {
	tables, err := e.readTables(t, l, s)
	if err != nil || tables == nil {
		return nil, err
	}
	o := origin.New(tables, e.script)
	r := mapfile.NewMappingReader(t, l, len(s.sources), len(s.names))
	stop := uint64(to.Line)<<32 | uint64(to.Column)
	survey := o.Survey(e.script, uint64(from.Line)<<32|uint64(from.Column))
	err = r.Read(l.Mappings, func(line uint32, segments []mapfile.Mapping, _ bool) (int, error) {
		if !o.IsFine() {
			o.Fine(segments)
		}
		at := from.Plus(line, 0)
		first := uint64(at.Line)<<32 | uint64(at.Column)
		for i := range segments {
			pos := first + uint64(segments[i].Column)
			if pos >= stop {
				break
			}
			survey.Add(pos, &segments[i])
		}
		return len(segments), e.ctx.Err()
	})
	o.Intern(e.internBytes)
	return o, err
}

// readTables finds the functions of the sources that a map carries, or that lie beside it; nil: it names functions itself, or
// has no sources.
func (e *emitter) readTables(t *json.Reader, l *mapfile.Layout, s *sources) ([]*source.Table, error) {
	if l.Scopes != (mapfile.Span{}) || l.Functions != (mapfile.Span{}) || t.In.Limits.NoSourceNames {
		return nil, nil
	}
	r := &tableReader{e: e, s: s, most: t.In.Limits.Symbols, carried: make([]bool, len(s.sources))}
	if l.Content != (mapfile.Span{}) {
		if err := r.content(t, l); err != nil {
			return nil, err
		}
	}
	return r.tables, r.beside(t.In)
}

// tableReader reads the functions of the sources of a map.
type tableReader struct {
	e       *emitter
	s       *sources
	most    int // functions
	tables  []*source.Table
	carried []bool // by source: the map carries it
}

// add reads source i. A fault of a source costs its names alone.
func (r *tableReader) add(i int, text []byte) {
	name := r.e.run.Strings[r.s.sources[i]]
	_ = formats.Guard(mapfile.Name, func() error {
		found := source.New(name, text, r.most, r.e.script != nil)
		if found == nil {
			return nil
		}
		if r.tables == nil {
			r.tables = make([]*source.Table, len(r.s.sources))
		}
		r.tables[i] = found
		r.most -= found.Functions()
		return nil
	})
}

// reads reports whether source i may have functions.
func (r *tableReader) reads(i int) bool {
	return i < len(r.s.sources) && r.s.sources[i] != 0 && source.Reads(r.e.run.Strings[r.s.sources[i]])
}

// content reads the sources in a map.
func (r *tableReader) content(t *json.Reader, l *mapfile.Layout) error {
	t.Section = "sourcesContent"
	t.SeekTo(l.Content.From)
	return t.Array(0, func(i int) error {
		if t.Null() {
			return nil
		}
		if i < len(r.carried) {
			r.carried[i] = true
		}
		if !r.reads(i) {
			return mapfile.SkipText(t, true)
		}
		if err := r.e.ctx.Err(); err != nil {
			return err
		}
		text, err := t.Text(t.In.Limits.SourceBytes)
		if errors.Is(err, formats.ErrLimit) {
			return nil // it was passed over
		}
		if err == nil {
			r.add(i, text)
		}
		return err
	})
}

// mostMissing is how many sources in a row are looked for beside a map in vain before the rest is not looked for.
const mostMissing = 4

// beside reads the sources that a map does not carry, and that lie where it says.
func (r *tableReader) beside(in *formats.Input) error {
	missing := 0
	for i, carried := range r.carried {
		if missing == mostMissing || in.Companion == nil {
			return nil
		}
		if carried || !r.reads(i) {
			continue
		}
		name := r.e.run.Strings[r.s.sources[i]]
		if path.IsAbs(name) || strings.Contains(name, ":") {
			continue // the place of the build, not of the map
		}
		c, err := in.Companion(r.e.ctx, formats.Ref{Name: name, Optional: true})
		if errors.Is(err, formats.ErrNoCompanion) {
			missing++
			continue
		}
		if err != nil {
			return err
		}
		missing = 0
		err = r.file(i, c, path.Join(path.Dir(pathOf(in.Name)), name))
		if c.Release != nil {
			err = errors.Join(err, c.Release())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file reads source i from a file, if that lies at the place that the map says: of that name there may be others.
func (r *tableReader) file(i int, c *formats.Input, at string) error {
	if pathOf(c.Name) != at || c.Size > c.Limits.SourceBytes {
		return nil
	}
	text, err := c.View(0, c.Size)
	if err == nil {
		r.add(i, text)
	}
	return err
}

// addOrigin adds the range of a segment, with the function of its source. What stands behind a border in it
// is the next function's of the script, which the segment does not tell of.
func (e *emitter) addOrigin(o *origin.Map, s *sources, m *mapfile.Mapping, start, end uint64) error {
	e.moveTo(start)
	node, compiled := e.originNode(o.Of(start, m, e.of), o, s, e.node)
	if e.border < len(e.borders) && e.borders[e.border].At < end {
		g := marked{Range: symbol.Range{Start: start, End: end}}
		s.answer(m, &g.At, &g.Mark)
		g.Compiled = compiled
		rest, err := e.cut(g, node)
		if err != nil {
			return err
		}
		return e.add(rest, e.node)
	}
	g, mark, err := e.next(start, node)
	if err != nil {
		return err
	}
	g.End = end + e.base
	s.answer(m, &g.At, mark)
	mark.Compiled = compiled
	return nil
}

// originNode gives the node of an answer where the script's function is the node of, and that function's name if it is another.
func (e *emitter) originNode(a origin.Answer, o *origin.Map, s *sources, of int32) (node int32, compiled uint32) {
	if !a.Function.Known() {
		return of, 0
	}
	function := o.Name(a.Function)
	if is := e.nodes[of].Function; is != function {
		compiled = is
	}
	if !a.Caller.Known() {
		return e.named(function), compiled
	}
	call := symbol.Site{File: s.sources[a.Caller.Source], Line: a.Call.Line, Column: a.Call.Column}
	return e.within(e.named(o.Name(a.Caller)), function, call), compiled
}
