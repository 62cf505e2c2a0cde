package mapfile

import (
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/symbol"
)

// readSections reads the parts of an index map.
func (l *Layout) readSections(t *json.Reader, parents int) error {
	return t.Array(0, func(i int) error {
		if i >= t.In.Limits.Units {
			return TooMuch("sections", t.Offset(), "fewer sections")
		}
		s := section{at: t.Offset()}
		placed := false
		err := t.Object(1, func(key string) error {
			switch key {
			case "offset":
				var have int
				err := t.Object(2, func(key string) error {
					var to *uint32
					switch key {
					case "line":
						to = &s.line
					case "column":
						to = &s.column
					default:
						return t.Skip(2)
					}
					have++
					v, err := t.Number(MostNumber)
					*to = uint32(v)
					return err
				})
				placed = have == 2
				return err
			case "map":
				s.layout = &Layout{}
				return s.layout.read(t, parents+1)
			}
			return t.Skip(1)
		})
		switch {
		case err != nil:
			return err
		case !placed:
			return t.FailAt(s.at, "an offset with line and column")
		case s.layout == nil:
			return t.FailAt(s.at, "a map")
		}
		if i > 0 {
			last := &l.Sections[i-1]
			if s.line < last.line || s.line == last.line && s.column <= last.column {
				return t.FailAt(s.at, "a section behind the one before")
			}
		}
		// No position is behind MaxLine: what a section says of lines there is left out.
		l.Lines = max(l.Lines, uint32(min(uint64(s.line)+uint64(s.layout.Lines), symbol.MaxLine)))
		l.Sections = append(l.Sections, s)
		return nil
	})
}

// readSegments reads the maps of a program's further scripts, by their numbers.
func (l *Layout) readSegments(t *json.Reader, parents int) error {
	return t.Object(0, func(key string) error {
		at := t.Offset()
		n, err := strconv.ParseUint(key, 10, 32)
		if err != nil || n == 0 || n >= symbol.MaxSegments || parents > 0 {
			return TooMuch("x_facebook_segments", at, "segments from 1 to "+strconv.Itoa(symbol.MaxSegments-1))
		}
		s := segment{Number: uint32(n), at: at, Layout: &Layout{}}
		if err := s.Layout.read(t, parents+1); err != nil {
			return err
		}
		l.Segments = append(l.Segments, s)
		return nil
	})
}

// Each visits a map and all maps in it that have mappings, in order: with the
// position at which it begins and that at which the next one does.
func (l *Layout) Each(from, to Position, visit func(l *Layout, from, to Position) error) error {
	if l.Sections == nil {
		if l.Mappings == (Span{}) {
			return nil // an index map without sections
		}
		return visit(l, from, to)
	}
	for i := range l.Sections {
		s := &l.Sections[i]
		begin := from.Plus(s.line, s.column)
		if begin.Line >= symbol.MaxLine {
			return nil
		}
		end := to
		if i+1 < len(l.Sections) {
			if next := from.Plus(l.Sections[i+1].line, l.Sections[i+1].column); next.before(end) {
				end = next
			}
		}
		if err := s.layout.Each(begin, end, visit); err != nil {
			return err
		}
	}
	return nil
}

// Position is a place in a script, both numbers from 0.
type Position struct{ Line, Column uint32 }

// Plus is the position line and column behind p: the column counts from p's in
// p's own line only.
func (p Position) Plus(line, column uint32) Position {
	if line == 0 {
		return Position{p.Line, p.Column + column}
	}
	return Position{p.Line + line, column}
}

func (p Position) before(q Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column
}
