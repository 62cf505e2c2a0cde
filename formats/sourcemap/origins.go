package sourcemap

import (
	"errors"
	"unsafe"

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

// readTables finds the functions of the sources that a map carries; nil: it names functions itself, or carries none.
func (e *emitter) readTables(t *json.Reader, l *mapfile.Layout, s *sources) ([]*source.Table, error) {
	if l.Content == (mapfile.Span{}) || l.Scopes != (mapfile.Span{}) || l.Functions != (mapfile.Span{}) || t.In.Limits.NoSourceNames {
		return nil, nil
	}
	var tables []*source.Table
	most := t.In.Limits.Symbols
	t.Section = "sourcesContent"
	t.SeekTo(l.Content.From)
	err := t.Array(0, func(i int) error {
		if t.Null() {
			return nil
		}
		if i >= len(s.sources) || s.sources[i] == 0 || !source.Reads(e.run.Strings[s.sources[i]]) {
			return mapfile.SkipText(t, true)
		}
		if err := e.ctx.Err(); err != nil {
			return err
		}
		text, err := t.String(t.In.Limits.SourceBytes)
		if errors.Is(err, formats.ErrLimit) {
			return nil // it was passed over
		}
		if err != nil {
			return err
		}
		// A fault of a source costs its names alone.
		_ = formats.Guard(mapfile.Name, func() error {
			found := source.New(e.run.Strings[s.sources[i]], unsafe.Slice(unsafe.StringData(text), len(text)), most)
			if found == nil {
				return nil
			}
			if tables == nil {
				tables = make([]*source.Table, len(s.sources))
			}
			tables[i] = found
			most -= found.Functions()
			return nil
		})
		return nil
	})
	return tables, err
}

// addOrigin adds the range of a segment, with the function of its source. What stands behind a border in it
// is the next function's of the script, which the segment does not tell of.
func (e *emitter) addOrigin(o *origin.Map, s *sources, m *mapfile.Mapping, g marked) error {
	e.moveTo(g.Start)
	node := e.originNode(o.Of(g.Start, m, e.of), o, s, &g.Mark, e.node)
	before := e.border
	rest, err := e.cut(g, node)
	if err != nil {
		return err
	}
	if e.border != before {
		node = e.node
	}
	return e.add(rest, node)
}

// originNode gives the node of an answer where the script's function is compiled, and notes that in mark.
func (e *emitter) originNode(a origin.Answer, o *origin.Map, s *sources, mark *symbol.Mark, compiled int32) int32 {
	if !a.Function.Known() {
		return compiled
	}
	function := o.Name(a.Function)
	if of := e.nodes[compiled].Function; of != function {
		mark.Compiled = of
	}
	if !a.Caller.Known() {
		return e.named(function)
	}
	call := symbol.Site{File: s.sources[a.Caller.Source], Line: a.Call.Line, Column: a.Call.Column}
	return e.within(e.named(o.Name(a.Caller)), function, call)
}
