package sourcemap

import (
	"context"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/origin"
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
	of      int32            // the function of the script that stands there
	last    int32            // node of the range added last
	scopes  []scopeAt
	runs    uint32
	index   map[string]uint32   // of strings that are no sources or names
	known   []int32             // nodes of outermost functions by name; 0: none yet
	inlined map[inlinedAt]int32 // nodes of inlined functions
	script  *origin.Script      // the functions of the script; nil: not known
}

// marked is a range with its mark.
type marked struct {
	symbol.Range
	symbol.Mark
}

// inlinedAt is an inlined function in one place.
type inlinedAt struct {
	function uint32
	parent   int32
	call     symbol.Site
}

// scopeAt is the index of a node in the scopes of a run.
type scopeAt struct {
	run uint32
	at  int32
}

func newEmitter(ctx context.Context, lim *formats.Limits, base uint64, emit func(*symbol.Script) error) *emitter {
	e := &emitter{ctx: ctx, emit: emit, most: min(runRanges, lim.RunRanges), base: base, runs: 1, index: map[string]uint32{"": 0},
		inlined: map[inlinedAt]int32{}}
	e.run.Rank, e.run.Strings = symbol.RankScript, []string{""}
	e.nodes = []mapfile.Node{{Parent: -1}}
	return e
}

// firstRanges is the room of a first run: small maps come by the thousand.
const firstRanges = 64

// rooms are ranges and marks of emitters that have ended. No more than pooledRanges are kept of one.
var rooms sync.Pool // of *room

type room struct {
	ranges []symbol.Range
	marks  []symbol.Mark
}

const pooledRanges = 2048

// end gives the room of the run to a later emitter.
func (e *emitter) end() {
	if n := cap(e.run.Ranges); n > 0 && n <= pooledRanges {
		rooms.Put(&room{e.run.Ranges[:0], e.run.Marks[:n]})
	}
	e.run.Ranges, e.run.Marks = nil, nil
}

// grow makes room for more ranges of the run, with a mark for each.
func (e *emitter) grow() {
	n := len(e.run.Ranges)
	if n == 0 {
		if r, is := rooms.Get().(*room); is {
			e.run.Ranges, e.run.Marks = r.ranges, r.marks
			return
		}
	}
	room := min(max(firstRanges, 4*n), e.most)
	ranges, marks := make([]symbol.Range, n, room), make([]symbol.Mark, room)
	copy(ranges, e.run.Ranges)
	copy(marks, e.run.Marks)
	e.run.Ranges, e.run.Marks = ranges, marks
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
func (e *emitter) named(function uint32) int32 {
	if n := len(e.run.Strings); len(e.known) < n {
		e.known = append(e.known, make([]int32, n-len(e.known))...)
	}
	if e.known[function] == 0 && function != 0 {
		e.known[function] = int32(len(e.nodes))
		e.nodes = append(e.nodes, mapfile.Node{Parent: -1, Function: function})
	}
	return e.known[function]
}

// within gives the node of a function that was inlined into the node parent.
func (e *emitter) within(parent int32, function uint32, call symbol.Site) int32 {
	key := inlinedAt{function, parent, call}
	n, ok := e.inlined[key]
	if !ok {
		n = int32(len(e.nodes))
		e.inlined[key] = n
		e.nodes = append(e.nodes, mapfile.Node{Parent: parent, Function: function, Call: call})
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
	if n == cap(e.run.Ranges) {
		e.grow()
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
	e.moveTo(g.Start)
	rest, err := e.cut(g, e.node)
	if err != nil {
		return err
	}
	return e.add(rest, e.node)
}

// moveTo goes to the border at or before a position.
func (e *emitter) moveTo(at uint64) {
	for e.border < len(e.borders) && e.borders[e.border].At <= at {
		e.pass()
	}
}

// pass goes over the next border.
func (e *emitter) pass() {
	e.node, e.of = e.borders[e.border].Node, e.borders[e.border].Of
	e.border++
}

// cut adds the pieces of a range before the last border in it, the first with node, and gives the rest.
func (e *emitter) cut(g marked, node int32) (rest marked, err error) {
	for e.border < len(e.borders) && e.borders[e.border].At < g.End {
		piece := g
		piece.End = e.borders[e.border].At
		if err := e.add(piece, node); err != nil {
			return g, err
		}
		g.At, g.Start = g.Flags.At(g.At, g.Start, piece.End), piece.End
		g.Compiled = 0
		e.pass()
		node = e.node
	}
	return g, nil
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
	e.run.Ranges, e.run.Scopes, e.run.Marks = e.run.Ranges[:0], e.run.Scopes[:0], e.run.Marks[:cap(e.run.Ranges)]
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
func (e *emitter) setBorders(b []mapfile.Border) { e.borders, e.border, e.node, e.of = b, 0, 0, 0 }

// borderAt is the border at or before a position; zero: there is none.
func borderAt(borders []mapfile.Border, at uint64) (b mapfile.Border) {
	if i := sort.Search(len(borders), func(i int) bool { return borders[i].At > at }); i > 0 {
		b = borders[i-1]
	}
	return b
}
