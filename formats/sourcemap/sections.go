package sourcemap

import (
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
)

// readSections reads the parts of an index map.
func (l *layout) readSections(t *text, parents int) error {
	return t.array(0, func(i int) error {
		if i >= t.in.Limits.Units {
			return tooMuch("sections", t.offset(), "fewer sections")
		}
		s := section{at: t.offset()}
		placed := false
		err := t.object(1, func(key string) error {
			switch key {
			case "offset":
				var have int
				err := t.object(2, func(key string) error {
					var to *uint32
					switch key {
					case "line":
						to = &s.line
					case "column":
						to = &s.column
					default:
						return t.skip(2)
					}
					have++
					v, err := t.number(most)
					*to = uint32(v)
					return err
				})
				placed = have == 2
				return err
			case "map":
				s.layout = &layout{}
				return s.layout.read(t, parents+1)
			}
			return t.skip(1)
		})
		switch {
		case err != nil:
			return err
		case !placed:
			return t.failAt(s.at, "an offset with line and column")
		case s.layout == nil:
			return t.failAt(s.at, "a map")
		}
		if i > 0 {
			last := &l.sections[i-1]
			if s.line < last.line || s.line == last.line && s.column <= last.column {
				return t.failAt(s.at, "a section behind the one before")
			}
		}
		lines := uint64(s.line) + uint64(s.layout.lines)
		if lines > symbol.MaxLine {
			return tooMuch("sections", s.at, "at most "+strconv.Itoa(symbol.MaxLine)+" lines")
		}
		l.lines = max(l.lines, uint32(lines))
		l.sections = append(l.sections, s)
		return nil
	})
}

// readSegments reads the maps of a program's further scripts, by their numbers.
func (l *layout) readSegments(t *text, parents int) error {
	return t.object(0, func(key string) error {
		at := t.offset()
		n, err := strconv.ParseUint(key, 10, 32)
		if err != nil || n == 0 || n >= symbol.MaxSegments || parents > 0 {
			return tooMuch("x_facebook_segments", at, "segments from 1 to "+strconv.Itoa(symbol.MaxSegments-1))
		}
		s := segment{number: uint32(n), at: at, layout: &layout{}}
		if err := s.layout.read(t, parents+1); err != nil {
			return err
		}
		l.segments = append(l.segments, s)
		return nil
	})
}

// each visits a map and all maps in it that have mappings, in order: with the
// position at which it begins and that at which the next one does.
func (l *layout) each(from, to position, visit func(l *layout, from, to position) error) error {
	if l.sections == nil {
		if l.mappings == (span{}) {
			return nil // an index map without sections
		}
		return visit(l, from, to)
	}
	for i := range l.sections {
		s := &l.sections[i]
		begin := from.plus(s.line, s.column)
		end := to
		if i+1 < len(l.sections) {
			if next := from.plus(l.sections[i+1].line, l.sections[i+1].column); next.before(end) {
				end = next
			}
		}
		if err := s.layout.each(begin, end, visit); err != nil {
			return err
		}
	}
	return nil
}

// position is a place in a script, both numbers from 0.
type position struct{ line, column uint32 }

// plus is the position line and column behind p: the column counts from p's in
// p's own line only.
func (p position) plus(line, column uint32) position {
	if line == 0 {
		return position{p.line, p.column + column}
	}
	return position{p.line + line, column}
}

func (p position) before(q position) bool {
	return p.line < q.line || p.line == q.line && p.column < q.column
}
