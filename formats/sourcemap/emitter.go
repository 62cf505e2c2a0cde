package sourcemap

import (
	"context"
	"maps"
	"slices"
	"sort"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/symbol"
)

// runRanges is the most ranges of a run.
const runRanges = 512

// emitter makes runs of ranges that come in order.
type emitter struct {
	ctx  context.Context
	emit func(*symbol.Script) error
	most int    // ranges of a run
	base uint64 // added to positions: of the segment
	run  symbol.Script

	nodes   []mapfile.Node
	borders []mapfile.Border // ascending; empty: nothing is known by position
	border  int              // the next one
	node    int32            // that answers before it
	last    int32            // node of the range added last
	scopes  []scopeAt
	runs    uint32
	index   map[string]uint32 // of strings that are no sources or names
}

// marked is a range with its mark.
type marked struct {
	symbol.Range
	symbol.Mark
}

// scopeAt is the index of a node in the scopes of a run.
type scopeAt struct {
	run uint32
	at  int32
}

func newEmitter(ctx context.Context, lim *formats.Limits, base uint64, emit func(*symbol.Script) error) *emitter {
	e := &emitter{ctx: ctx, emit: emit, most: min(runRanges, lim.RunRanges), base: base, runs: 1, index: map[string]uint32{"": 0}}
	e.run.Rank, e.run.Strings = symbol.RankScript, []string{""}
	e.run.Ranges, e.run.Marks = make([]symbol.Range, 0, e.most), make([]symbol.Mark, e.most)
	e.nodes = []mapfile.Node{{Parent: -1}}
	return e
}

// intern gives the index of a string.
func (e *emitter) intern(s string) uint32 {
	i, ok := e.index[s]
	if !ok {
		i = uint32(len(e.run.Strings))
		e.index[s] = i
		e.run.Strings = append(e.run.Strings, s)
	}
	return i
}

// internBytes does the same with bytes that stay the caller's.
func (e *emitter) internBytes(s []byte) uint32 {
	if i, ok := e.index[string(s)]; ok {
		return i
	}
	return e.intern(string(s))
}

// expect makes room for n strings more, where they are most of all.
func (e *emitter) expect(n int) {
	if n < len(e.index) {
		return
	}
	e.run.Strings = slices.Grow(e.run.Strings, n)
	grown := make(map[string]uint32, len(e.index)+n)
	maps.Copy(grown, e.index)
	e.index = grown
}

// named gives the node of an outermost function.
func (e *emitter) named(function uint32, known map[uint32]int32) int32 {
	if function == 0 {
		return 0
	}
	n, ok := known[function]
	if !ok {
		n = int32(len(e.nodes))
		known[function] = n
		e.nodes = append(e.nodes, mapfile.Node{Parent: -1, Function: function})
	}
	return n
}

// scope gives the index of a node in the run's scopes.
func (e *emitter) scope(n int32) int32 {
	if len(e.scopes) < len(e.nodes) {
		e.scopes = append(e.scopes, make([]scopeAt, len(e.nodes)-len(e.scopes))...)
	}
	if s := &e.scopes[n]; s.run == e.runs {
		return s.at
	}
	parent := int32(-1)
	if up := e.nodes[n].Parent; up >= 0 {
		parent = e.scope(up)
	}
	at := int32(len(e.run.Scopes))
	e.scopes[n] = scopeAt{e.runs, at}
	e.run.Scopes = append(e.run.Scopes, symbol.Scope{Parent: parent, Function: e.nodes[n].Function, Call: e.nodes[n].Call})
	return at
}

// add adds a range that answers with node. It follows those before.
func (e *emitter) add(g marked, node int32) error {
	to, mark, err := e.next(g.Start, node)
	if err != nil {
		return err
	}
	to.End, to.At = g.End+e.base, g.At
	*mark = g.Mark
	return nil
}

// next makes a range that begins at start and answers with node. It follows those before; the caller fills what it
// lacks besides.
func (e *emitter) next(start uint64, node int32) (*symbol.Range, *symbol.Mark, error) {
	start += e.base
	n := len(e.run.Ranges)
	if n >= e.most || n > 0 && e.run.Ranges[n-1].End != start {
		if err := e.flush(); err != nil {
			return nil, nil, err
		}
		n = 0
	}
	e.run.Ranges = e.run.Ranges[:n+1]
	g := &e.run.Ranges[n] // it is made where it stays
	g.Start = start
	if n == 0 || node != e.last {
		g.Scope, e.last = e.scope(node), node
	} else {
		g.Scope = e.run.Ranges[n-1].Scope
	}
	return g, &e.run.Marks[n], nil
}

// addCut adds a range, in pieces where the node at its positions changes.
func (e *emitter) addCut(g marked) error {
	for e.border < len(e.borders) && e.borders[e.border].At <= g.Start {
		e.node = e.borders[e.border].Node
		e.border++
	}
	for e.border < len(e.borders) && e.borders[e.border].At < g.End {
		piece := g
		piece.End = e.borders[e.border].At
		if err := e.add(piece, e.node); err != nil {
			return err
		}
		g.At, g.Start = g.Flags.At(g.At, g.Start, piece.End), piece.End
		e.node = e.borders[e.border].Node
		e.border++
	}
	return e.add(g, e.node)
}

func (e *emitter) flush() error {
	if len(e.run.Ranges) == 0 {
		return nil
	}
	if err := e.ctx.Err(); err != nil {
		return err
	}
	e.run.Marks = e.run.Marks[:len(e.run.Ranges)]
	err := e.emit(&e.run)
	e.run.Ranges, e.run.Scopes, e.run.Marks = e.run.Ranges[:0], e.run.Scopes[:0], e.run.Marks[:e.most]
	e.runs++
	return err
}

// addAt adds a range that counts from no segment, and from no function.
func (e *emitter) addAt(g marked) error {
	base := e.base
	e.base = 0
	defer func() { e.base = base }()
	return e.add(g, 0)
}

// setBorders makes positions say which node answers.
func (e *emitter) setBorders(b []mapfile.Border) { e.borders, e.border, e.node = b, 0, 0 }

// nodeAt is the node that answers at a position by borders.
func nodeAt(borders []mapfile.Border, at uint64) int32 {
	i := sort.Search(len(borders), func(i int) bool { return borders[i].At > at })
	if i == 0 {
		return 0
	}
	return borders[i-1].Node
}
