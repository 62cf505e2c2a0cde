// Package origin tells of each segment of a map in which function of its original source it stands, and whether the minifier
// inlined that function into another one.
//
// It knows the functions of the sources (package source) and, where the script is at hand, the script's own. A function
// of the script has a home: the function of a source that its head maps to. A segment in it that maps into another function was
// inlined. Without a home nothing is said to be inlined.
package origin

import (
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/source"
)

// Head is a place of the script in the head of one of its functions.
type Head struct {
	At uint64 // position
	Of int32  // the function, as in mapfile.Border
}

// Script is the functions of a script: where each begins and ends to answer, and their heads. Both ascend.
type Script struct {
	Borders []mapfile.Border
	Heads   []Head
	Count   int // of functions, with the code outside all of them, which is 0
}

// Function is a function of a source.
type Function struct {
	Source int32
	Number int32 // in the source's table
}

var unknown = Function{Number: source.Unknown}

// Known reports whether it is one.
func (f Function) Known() bool { return f.Number != source.Unknown }

// Call is where an inlined function was called.
type Call struct {
	at           uint64 // the first segment of the inlined code
	Line, Column uint32 // the line from 1; 0: unknown
}

// Map is what the sources of a map tell of its segments. Tables are by source; nil: nothing is known of it.
type Map struct {
	tables []*source.Table
	hints  []int
	names  [][]uint32 // by source and function: index of its name plus 1; 1: it is used, and not named yet
	homes  []Function // by function of the script
	fine   bool       // segments have columns
	calls  []Call
	call   int
}

// New returns a map of these tables. script may be nil.
func New(tables []*source.Table, script *Script) *Map {
	m := &Map{tables: tables, hints: make([]int, len(tables)), names: make([][]uint32, len(tables))}
	for i, t := range tables {
		if t != nil {
			m.names[i] = make([]uint32, t.Functions())
		}
	}
	if script != nil {
		m.homes = make([]Function, script.Count)
		for i := range m.homes {
			m.homes[i] = unknown
		}
	}
	return m
}

// at gives the function that a segment maps into.
func (m *Map) at(g *mapfile.Mapping) Function {
	if g.Source < 0 || int(g.Source) >= len(m.tables) || m.tables[g.Source] == nil {
		return unknown
	}
	t := m.tables[g.Source]
	if !m.fine {
		return Function{g.Source, t.OfLine(g.Line)}
	}
	return Function{g.Source, t.At(g.Line, g.Original, &m.hints[g.Source])}
}

func (m *Map) use(f Function) {
	if n := &m.names[f.Source][f.Number]; *n == 0 {
		*n = 1
	}
}

// Name gives the name of a function that the survey met, as intern numbered it.
func (m *Map) Name(f Function) uint32 { return m.names[f.Source][f.Number] - 1 }

// Intern gives each function that the survey met a number for its name.
func (m *Map) Intern(intern func(name []byte) uint32) {
	for i, names := range m.names {
		for n := range names {
			if names[n] != 0 {
				names[n] = intern(m.tables[i].Name(int32(n))) + 1
			}
		}
	}
}

// Answer tells of a segment.
type Answer struct {
	Function Function // not Known: nothing is known
	Caller   Function // Known: Function was inlined into it
	Call     Call     // where, if Caller is known
}

// Of answers for a segment at pos that stands in function of of the script; 0 where the script is not known. Segments come in
// the order of their positions.
func (m *Map) Of(pos uint64, g *mapfile.Mapping, of int32) Answer {
	f := m.at(g)
	if !f.Known() || m.names[f.Source][f.Number] == 0 {
		return Answer{Function: unknown, Caller: unknown}
	}
	switch m.relation(f, of) {
	case moved:
		return Answer{Function: m.homes[of], Caller: unknown}
	case inlined:
		for m.call+1 < len(m.calls) && m.calls[m.call+1].at <= pos {
			m.call++
		}
		a := Answer{Function: f, Caller: m.homes[of]}
		if m.call < len(m.calls) && m.calls[m.call].at <= pos {
			a.Call = m.calls[m.call]
		}
		return a
	}
	return Answer{Function: f, Caller: unknown}
}

// How the function that a segment maps into relates to the script's function around the segment.
const (
	unrelated = iota // nothing is known of that
	own              // it is that function
	inlined
	moved // the code was moved into it from around the functions of the source
)

func (m *Map) relation(f Function, of int32) int {
	if int(of) >= len(m.homes) || !m.homes[of].Known() {
		return unrelated
	}
	home := m.homes[of]
	if f == home {
		return own
	}
	if f.Number == source.Outside {
		return moved
	}
	if f.Source == home.Source {
		t := m.tables[f.Source]
		if string(t.Name(f.Number)) == string(t.Name(home.Number)) {
			return own // a class and its constructor
		}
		for up := t.Parent(home.Number); up > source.Outside; up = t.Parent(up) {
			if up == f.Number {
				return moved
			}
		}
	}
	return inlined
}
