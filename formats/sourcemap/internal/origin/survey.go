package origin

import (
	"sort"

	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/source"
)

// Survey looks at all segments of a map, in the order of their positions, before they are answered.
type Survey struct {
	m      *Map
	script *Script
	border int // the last one at or before the segment
	head   int // the next one
	of     int32

	last   place // the segment before, if it is its function's own
	inside place // the last such segment before inlined code; ok while that goes on
}

// place is a segment of a function of the script, and where it maps to.
type place struct {
	ok           bool
	of           int32
	line, column uint32
}

// Survey begins to look at the segments of m from position from on. script may be nil.
func (m *Map) Survey(script *Script, from uint64) *Survey {
	s := &Survey{m: m, script: script, border: -1}
	if script != nil {
		s.border = sort.Search(len(script.Borders), func(i int) bool { return script.Borders[i].At > from }) - 1
		s.head = sort.Search(len(script.Heads), func(i int) bool { return script.Heads[i].At >= from })
	}
	return s
}

// Fine notes whether segments have columns: without, they map to the beginnings of lines.
func (m *Map) Fine(segments []mapfile.Mapping) {
	for i := range segments {
		if segments[i].Original > 0 && segments[i].Source >= 0 {
			m.fine = true
			return
		}
	}
}

// IsFine reports whether Fine saw a column.
func (m *Map) IsFine() bool { return m.fine }

// Add looks at a segment at pos.
func (s *Survey) Add(pos uint64, g *mapfile.Mapping) {
	if s.script != nil {
		s.move(pos)
		s.homes(pos, g)
	}
	m := s.m
	f := m.at(g)
	if !f.Known() {
		s.last.ok = false
		return
	}
	if m.use(f); s.script == nil {
		return
	}
	switch m.relation(f, s.of) {
	case own:
		if s.inside.ok && s.inside.of == s.of && s.inside.line == g.Line {
			c := &m.calls[len(m.calls)-1]
			c.Line, c.Column = g.Line+1, s.inside.column
		}
		s.inside.ok = false
		s.last = place{true, s.of, g.Line, g.Original}
		return
	case inlined:
		m.use(m.homes[s.of])
		if !s.inside.ok || s.inside.of != s.of {
			m.calls = append(m.calls, Call{at: pos})
			s.inside = s.last
			s.inside.ok = s.last.ok && s.last.of == s.of
			if !s.inside.ok {
				s.inside = place{true, s.of, ^uint32(0), 0} // no line is that
			}
		}
	case moved:
		m.use(m.homes[s.of])
		s.inside.ok = false
	default:
		s.inside.ok = false
	}
	s.last.ok = false
}

// move goes to the border at or before pos.
func (s *Survey) move(pos uint64) {
	b := s.script.Borders
	for s.border+1 < len(b) && b[s.border+1].At <= pos {
		s.border++
	}
	if s.of = 0; s.border >= 0 {
		s.of = b[s.border].Of
	}
}

// homes notes the home of a function if a segment begins in its head.
func (s *Survey) homes(pos uint64, g *mapfile.Mapping) {
	heads := s.script.Heads
	for s.head < len(heads) && heads[s.head].At < pos {
		s.head++
	}
	for ; s.head < len(heads) && heads[s.head].At == pos; s.head++ {
		if g.Source < 0 || int(g.Source) >= len(s.m.tables) || s.m.tables[g.Source] == nil || !s.m.fine {
			continue
		}
		n := s.m.tables[g.Source].HeadAt(g.Line, g.Original)
		if n == source.Unknown {
			continue
		}
		home := &s.m.homes[heads[s.head].Of]
		switch f := (Function{g.Source, n}); {
		case !home.Known() && home.Source >= 0:
			*home = f
		case *home != f:
			*home = Function{-1, source.Unknown} // its heads disagree
		}
	}
}
