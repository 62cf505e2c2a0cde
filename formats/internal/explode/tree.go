package explode

import (
	"slices"

	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
)

// node is a function, or a function inlined into its parent.
type node struct {
	parent, root int32 // indices in tree.nodes; root is the outermost
	first, count int32 // its intervals; none: of a scattered unit, and what is inside has some
	depth        int32
	name         uint32 // string index, once part.name has run
	scope        int32  // in the run of stamp
	stamp        uint32
	origin       dwarf.Ref
	file         uint32 // raw index
	line, column uint32
}

// interval is code of a node, inside that of its parent; of its root where the
// unit is scattered.
type interval struct {
	native.Span
	node int32
}

// group is an outermost function with all inside it, functions too: its nodes
// and intervals.
type group struct {
	node, interval int32 // the first ones; the next group's end them
}

// groupIntervals bounds the intervals of one group, 24 MiB of them, and its
// nodes; what is inlined beyond that counts as code of what is around it.
const groupIntervals = 1 << 20

// tree holds the functions that have been walked and not yet flattened.
type tree struct {
	nodes     []node
	intervals []interval
	groups    []group
	open      []int32 // nodes that the walk is inside of, -1: no code
	live      int     // length of open when the open group began, -1: none is
	scattered bool    // see dwarf.Unit
	ranges    []native.Span
}

func (t *tree) reset() {
	t.clear()
	t.open, t.live = t.open[:0], -1
}

// clear drops what has been flattened.
func (t *tree) clear() {
	t.nodes, t.intervals, t.groups = t.nodes[:0], t.intervals[:0], t.groups[:0]
}

// piece is that interval of a node which has addr, an empty one if none has.
func (t *tree) piece(node int32, addr uint64) native.Span {
	n := &t.nodes[node]
	all := t.intervals[n.first : n.first+n.count] // ascending
	i, _ := slices.BinarySearchFunc(all, addr, func(v interval, addr uint64) int {
		if v.End <= addr {
			return -1
		}
		return 1
	})
	if i == len(all) || all[i].Start > addr {
		return native.Span{}
	}
	return all[i].Span
}

// flushNodes is how many nodes are collected before they are flattened; few
// units have more (of ceph-osd's, one has 130,000). More are collected when
// more has been covered, so that merging the two stays linear.
const flushNodes = 16 << 10

// walk collects the functions of the unit, and flattens them from time to
// time when they are many.
func (p *part) walk() error {
	t := &p.tree
	var e dwarf.Entry
	for {
		kind, err := p.r.Next(&e)
		if err != nil {
			return err
		}
		switch kind {
		case dwarf.End:
			return nil
		case dwarf.Leave:
			t.open = t.open[:len(t.open)-1]
		default:
			n := int32(-1)
			if kind == dwarf.Function {
				n = p.function(&e)
			} else {
				n = p.inline(&e)
			}
			if !e.Leaf {
				t.open = append(t.open, n)
				if n < 0 {
					p.r.Ignore()
				}
				continue
			}
		}
		if t.live >= 0 && len(t.open) <= t.live {
			t.live = -1
			if len(t.nodes) > max(flushNodes, len(p.covered)) {
				if err := p.flush(); err != nil {
					return err
				}
			}
		}
	}
}

// function adds the function of e, if it has code.
func (p *part) function(e *dwarf.Entry) int32 {
	t := &p.tree
	t.ranges = t.ranges[:0]
	for _, s := range e.Ranges {
		if p.x.img.Thumb && s.Start&1 != 0 {
			// Of a function in assembly GNU as gives the symbol's value, and
			// counts the size from there.
			s.Start, s.End = s.Start&^1, s.End&^1
		}
		if p.x.live(s.Start, s.End) {
			t.ranges = append(t.ranges, s)
		}
	}
	if len(t.ranges) == 0 {
		return -1
	}
	t.ranges = normal(t.ranges)
	if t.live < 0 {
		t.live = len(t.open)
		t.groups = append(t.groups, group{int32(len(t.nodes)), int32(len(t.intervals))})
	}
	n := int32(len(t.nodes))
	return t.add(node{parent: -1, root: n, origin: e.Origin})
}

// inline adds the inlined function of e, as far as it lies in the function
// around it.
func (p *part) inline(e *dwarf.Entry) int32 {
	t := &p.tree
	if len(t.open) == 0 {
		return -1
	}
	up := t.open[len(t.open)-1]
	if up < 0 {
		return -1
	}
	parent := &t.nodes[up]
	outer := parent
	if t.scattered {
		outer = &t.nodes[parent.root]
	}
	around := t.intervals[outer.first : outer.first+outer.count]
	t.ranges = t.ranges[:0]
	if depth := int(parent.depth) + 1; depth > p.x.lim.InlineDepth {
		return -1
	}
	for _, s := range e.Ranges {
		t.ranges = clip(t.ranges, s, around)
	}
	if len(t.ranges) == 0 && (!t.scattered || e.Leaf) {
		return -1
	}
	if g := &t.groups[len(t.groups)-1]; len(t.intervals)-int(g.interval)+len(t.ranges) > groupIntervals || len(t.nodes)-int(g.node) >= groupIntervals {
		return -1
	}
	t.ranges = normal(t.ranges)
	return t.add(node{
		parent: up, root: parent.root, depth: parent.depth + 1, origin: e.Origin,
		file: e.CallFile, line: e.CallLine, column: e.CallColumn,
	})
}

// reserve makes room for what a unit of so many bytes has, should what is left of other units be far too little: to make lists
// longer takes as much memory again. Room that stays empty is never in memory.
func (t *tree) reserve(bytes uint64) {
	n := int(min(bytes/bytesPerNode, mostNodes))
	if n > 2*cap(t.nodes) {
		t.nodes = make([]node, 0, n)
	}
	if n *= 2; n > 2*cap(t.intervals) {
		t.intervals = make([]interval, 0, n)
	}
}

const (
	// bytesPerNode is about the least that compilers take for a function or inlined function with code, with all that
	// is said of it: clang 49 bytes, gcc 98.
	bytesPerNode = 48
	// mostNodes is what flush leaves of most units.
	mostNodes = flushNodes + flushNodes/4
)

// add appends a node whose intervals are t.ranges.
func (t *tree) add(n node) int32 {
	i := int32(len(t.nodes))
	n.first, n.count = int32(len(t.intervals)), int32(len(t.ranges))
	if len(t.intervals)+len(t.ranges) > cap(t.intervals) {
		t.intervals = grown(t.intervals, len(t.ranges))
	}
	if len(t.nodes) == cap(t.nodes) {
		t.nodes = grown(t.nodes, 1)
	}
	for _, s := range t.ranges {
		t.intervals = append(t.intervals, interval{s, i})
	}
	t.nodes = append(t.nodes, n)
	return i
}

// grown is a list with room for least more: for four times as many up to mostNodes, then for twice as many. As append has it,
// more would be left behind than is used; and it writes to all of the room, which is not in memory before.
func grown[T any](list []T, least int) []T {
	n := len(list)
	room := max(4*n, 1024)
	if room > mostNodes {
		room = max(2*n, mostNodes)
	}
	return append(make([]T, 0, max(room, n+least)), list...)
}

// clip appends the pieces of s that lie in one of around, which ascend.
func clip(to []native.Span, s native.Span, around []interval) []native.Span {
	i := 0
	if len(around) > 8 {
		i, _ = slices.BinarySearchFunc(around, s.Start, func(a interval, start uint64) int {
			if a.End <= start {
				return -1
			}
			return 1
		})
	}
	for ; i < len(around) && around[i].Start < s.End; i++ {
		if low, high := max(s.Start, around[i].Start), min(s.End, around[i].End); low < high {
			to = append(to, native.Span{Start: low, End: high})
		}
	}
	return to
}

// normal sorts spans and joins those that overlap or touch.
func normal(s []native.Span) []native.Span {
	sorted := true
	for i := 1; i < len(s); i++ {
		if s[i].Start <= s[i-1].End {
			sorted = false
			break
		}
	}
	if sorted {
		return s
	}
	slices.SortFunc(s, func(a, b native.Span) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	n := 0
	for _, x := range s {
		if n > 0 && x.Start <= s[n-1].End {
			s[n-1].End = max(s[n-1].End, x.End)
			continue
		}
		s[n] = x
		n++
	}
	return s[:n]
}
