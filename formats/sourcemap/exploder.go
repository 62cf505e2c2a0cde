package sourcemap

import (
	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/origin"
	"github.com/symlake/symlake/formats/symbol"
)

// explodeMap emits the ranges of one layout with mappings, which stands from from to to in the script. t reads the input:
// all maps of an object share its window.
func (e *emitter) explodeMap(t *json.Reader, l *mapfile.Layout, from, to mapfile.Position, under *packed) error {
	s, err := e.readSources(t, l)
	if err != nil {
		return err
	}
	if l.Scopes != (mapfile.Span{}) {
		if err := e.readScopes(t, l, s.words, from); err != nil {
			return err
		}
	}
	r := mapfile.NewMappingReader(t, l, len(s.sources), len(s.names))
	if err := r.ReadRanges(l); err != nil {
		return err
	}
	x := exploder{e: e, s: s, under: under, from: from, stop: uint64(to.Line)<<32 | uint64(to.Column)}
	if under == nil {
		if x.origins, err = e.readOrigins(t, l, s, from, to); err != nil {
			return err
		}
	}
	x.plain = under == nil && len(e.borders) == 0 && s.functions == nil && x.origins == nil
	x.overLines = under == nil && s.functions == nil
	if err := r.Read(l.Mappings, x.line); err != nil {
		return err
	}
	return x.endOpen(x.stop)
}

// exploder makes ranges of the segments of one map.
type exploder struct {
	e     *emitter
	s     *sources
	under *packed
	// origins tells of the functions of the sources; nil: nothing
	origins *origin.Map
	plain   bool // nothing is known of functions
	from    mapfile.Position
	stop    uint64

	overLines bool            // linear segments may answer for several lines: their function does not depend on the place
	open      mapfile.Mapping // the last segment of a line, if that goes on below
	openAt    uint64          // where it begins
	isOpen    bool
}

// endOpen emits the segment that goes on over the ends of lines. It ends where the next one begins.
func (x *exploder) endOpen(until uint64) error {
	if !x.isOpen {
		return nil
	}
	x.isOpen = false
	return x.put(&x.open, x.openAt, until)
}

// line makes ranges of segments of a line.
func (x *exploder) line(line uint32, segments []mapfile.Mapping, more bool) (int, error) {
	at := x.from.Plus(line, 0)
	first := uint64(at.Line)<<32 | uint64(at.Column)
	end := min((uint64(at.Line)+1)<<32, x.stop)
	if err := x.endOpen(min(first+uint64(segments[0].Column), x.stop)); err != nil {
		return 0, err
	}
	for i := 0; i < len(segments); {
		if x.plain {
			n, err := x.simple(segments[i:], first, end)
			if i += n; err != nil {
				return i, err
			}
		}
		next := i + 1
		for next < len(segments) && segments[next].Column == segments[i].Column {
			next++
		}
		if next == len(segments) && more {
			return i, nil
		}
		start, until := first+uint64(segments[i].Column), end
		if next < len(segments) {
			until = min(end, first+uint64(segments[next].Column))
		}
		if start >= until {
			return len(segments), nil // it belongs to the next section
		}
		// Of several segments at one column the first answers for it, and the
		// last for what follows: so do the libraries that others look up with.
		if next > i+1 {
			if err := x.put(&segments[i], start, start+1); err != nil {
				return i, err
			}
			start++
		}
		switch m := &segments[next-1]; {
		case start >= until:
		case next == len(segments) && m.Linear && m.Source >= 0 && x.overLines:
			x.open, x.openAt, x.isOpen = *m, start, true
		default:
			if err := x.put(m, start, until); err != nil {
				return i, err
			}
		}
		i = next
	}
	return len(segments), nil
}

// simple makes the ranges of the segments in front that are alone at their columns, without functions:
// nearly all are so. It says how many they are; one at least is left.
func (x *exploder) simple(segments []mapfile.Mapping, first, end uint64) (int, error) {
	e, s := x.e, x.s
	first, end = first+e.base, end+e.base
	ranges, scope := e.run.Ranges, int32(0)
	if n := len(ranges); n > 0 {
		scope = ranges[n-1].Scope
	}
	for i := range len(segments) - 1 {
		m := &segments[i]
		start, until := first+uint64(m.Column), first+uint64(segments[i+1].Column)
		if start == until || until > end {
			e.run.Ranges = ranges
			return i, nil
		}
		if m.Source < 0 {
			continue
		}
		n := len(ranges)
		if n == 0 || n >= e.most || ranges[n-1].End != start {
			e.run.Ranges = ranges
			if err := e.flush(); err != nil {
				return i, err
			}
			ranges, n, scope, e.last = e.run.Ranges, 0, e.scope(0), 0
		}
		if n == cap(ranges) {
			e.run.Ranges = ranges
			e.grow()
			ranges = e.run.Ranges
		}
		ranges = ranges[:n+1]
		g := &ranges[n]
		g.Start, g.End, g.Scope = start, until, scope
		s.answer(m, &g.At, &e.run.Marks[n])
	}
	e.run.Ranges = ranges
	return len(segments) - 1, nil
}

// put emits the range of a segment.
func (x *exploder) put(m *mapfile.Mapping, start, end uint64) error {
	if m.Source < 0 {
		return nil
	}
	e, s := x.e, x.s
	over := symbol.Flags(0)
	if start>>32 != (end-1)>>32 {
		over = symbol.OverLines
	}
	switch {
	case x.plain:
		g, mark, err := e.next(start, 0)
		if err != nil {
			return err
		}
		g.End = end + e.base
		s.answer(m, &g.At, mark)
		mark.Flags |= over
		return nil
	case x.origins != nil && over == 0: // the source's function may end with a line
		return e.addOrigin(x.origins, s, m, start, end)
	}
	g := marked{Range: symbol.Range{Start: start, End: end}}
	s.answer(m, &g.At, &g.Mark)
	g.Flags |= over
	switch {
	case x.under != nil:
		return x.under.put(e, m, g)
	case len(e.borders) > 0:
		return e.addCut(g)
	}
	return e.add(g, s.node(e, m))
}

// readScopes reads the scopes of a map that stands at from.
func (e *emitter) readScopes(t *json.Reader, l *mapfile.Layout, w *words, from mapfile.Position) error {
	nodes, borders, err := mapfile.ReadScopes(t, l, int32(len(e.nodes)), w.names, w.sources, from)
	if err != nil {
		return err
	}
	e.nodes = append(e.nodes, nodes...)
	e.setBorders(borders)
	return nil
}
