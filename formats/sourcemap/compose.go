package sourcemap

import (
	"context"
	"errors"
	"path"
	"sort"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/origin"
)

// packed is a map with its segments in memory, to be asked in any order: the
// packager's map below the map of Hermes' compiler. It takes 24 bytes a segment.
type packed struct {
	*sources
	from     []int32 // by line: its first segment; one more at the end
	segments []mapfile.Mapping
	borders  []mapfile.Border // of the bundle, where the map has no functions
	origins  *origin.Map      // what its sources tell of functions; nil: nothing
}

// packagerNames lists how the packager's map may be called: beside the
// compiler's, and after the bundle that was compiled.
func packagerNames(compilers, bundle string) []string {
	var names []string
	add := func(stem string) {
		for _, name := range []string{stem + ".packager.map", stem + ".map"} {
			if stem != "" && name != compilers {
				names = append(names, name)
			}
		}
	}
	stem := compilers
	for _, end := range []string{".map", ".compiler", ".hbc"} {
		stem = strings.TrimSuffix(stem, end)
	}
	add(stem)
	if bundle = formats.Base(bundle); bundle != stem {
		add(bundle)
		add(strings.TrimSuffix(bundle, path.Ext(bundle)))
	}
	return names
}

// companion finds the first of names; nil: there is none, and missing what to wait for.
func companion(ctx context.Context, in *formats.Input, names []string, fits func(*formats.Input) bool) (*formats.Input, error) {
	if in.Companion == nil {
		return nil, nil
	}
	for _, name := range names {
		c, err := in.Companion(ctx, formats.Ref{Name: name})
		if errors.Is(err, formats.ErrNoCompanion) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if fits(c) {
			return c, nil
		}
		if c.Release != nil {
			if err := c.Release(); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// findPackagers finds the packager's map of a compiler's.
func findPackagers(ctx context.Context, in *formats.Input, l *mapfile.Layout) (*formats.Input, *mapfile.Layout, error) {
	t := json.NewReader(mapfile.Name, in, l.Sources.From)
	bundle := ""
	err := t.Array(0, func(int) (err error) {
		if !t.Null() {
			bundle, err = t.Name()
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var below *mapfile.Layout
	found, err := companion(ctx, in, packagerNames(formats.Base(in.Name), bundle), func(c *formats.Input) bool {
		found, _, err := mapfile.Read(c, 0, 0)
		if err != nil || found.Hermes || found.Mappings == (mapfile.Span{}) {
			return false // no map, or a map of bytecode: its own object tells the fault
		}
		below = found
		return true
	})
	return found, below, err
}

// pack reads a map into memory.
func (e *emitter) pack(in *formats.Input, l *mapfile.Layout) (*packed, error) {
	t := json.NewReader(mapfile.Name, in, 0)
	s, err := e.readSources(t, l)
	if err != nil {
		return nil, err
	}
	p := &packed{sources: s}
	r := mapfile.NewMappingReader(t, l, len(s.sources), len(s.names))
	err = r.Read(l.Mappings, func(line uint32, segments []mapfile.Mapping, _ bool) (int, error) {
		if len(p.segments)+len(segments) > in.Limits.Symbols {
			return 0, mapfile.TooMuch("mappings", l.Mappings.From, "fewer segments")
		}
		for uint32(len(p.from)) <= line {
			p.from = append(p.from, int32(len(p.segments)))
		}
		p.segments = append(p.segments, segments...)
		return len(segments), e.ctx.Err()
	})
	p.from = append(p.from, int32(len(p.segments)))
	return p, err
}

// packOrigins reads what the sources of p tell of its functions. in and l are the map's.
func (e *emitter) packOrigins(in *formats.Input, l *mapfile.Layout, p *packed) (err error) {
	tables, err := e.readTables(json.NewReader(mapfile.Name, in, 0), l, p.sources)
	if err != nil || tables == nil {
		return err
	}
	p.origins = origin.New(tables, e.script)
	p.origins.Fine(p.segments)
	survey := p.origins.Survey(e.script, 0)
	for line := 0; line+1 < len(p.from); line++ {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		for i := p.from[line]; i < p.from[line+1]; i++ {
			survey.Add(uint64(line)<<32|uint64(p.segments[i].Column), &p.segments[i])
		}
	}
	p.origins.Intern(e.internBytes)
	return nil
}

// at is the segment that answers for a place; nil: none does.
func (p *packed) at(line, column uint32) *mapfile.Mapping {
	segments := p.line(line)
	i := sort.Search(len(segments), func(i int) bool { return segments[i].Column >= column })
	if i == len(segments) || segments[i].Column > column {
		i-- // the last one before the column
	}
	if i < 0 {
		return nil
	}
	if segments[i].Source < 0 {
		return nil
	}
	return &segments[i]
}

// line are the segments of a line.
func (p *packed) line(line uint32) []mapfile.Mapping {
	if int(line)+1 >= len(p.from) {
		return nil
	}
	return p.segments[p.from[line]:p.from[line+1]]
}

// upTo are the segments of a line that begin at a column or before.
func (p *packed) upTo(line, column uint32) []mapfile.Mapping {
	segments := p.line(line)
	return segments[:sort.Search(len(segments), func(i int) bool { return segments[i].Column > column })]
}

// put adds the range of a segment of the map above. Its answer is a place in
// this one's script. A place that this one does not know is a hole.
func (p *packed) put(e *emitter, m *mapfile.Mapping, g marked) error {
	to := p.at(m.Line, m.Original)
	if to == nil {
		return nil
	}
	g.At, g.Flags, g.Name = p.site(to), p.ignored[to.Source], 0
	if to.Name >= 0 {
		g.Name = p.names[to.Name]
	}
	if p.functions != nil {
		return e.add(g, p.node(e, to))
	}
	b := borderAt(p.borders, uint64(m.Line)<<32|uint64(m.Original))
	node := b.Node
	if p.origins != nil {
		node, g.Compiled = e.originNode(p.origins.Of(uint64(m.Line)<<32|uint64(to.Column), to, b.Of), p.origins, p.sources, b.Node)
	}
	return e.add(g, node)
}
