package explode

import (
	"slices"

	"github.com/symlake/symlake/formats/internal/native"
)

// groupIntervals bounds the intervals of one group, 24 MiB of them, and its
// nodes; functions inlined beyond that count as code of the function around them.
const groupIntervals = 1 << 20

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

// reserve makes room for the lists of a unit of so many bytes, should the room of other units be far too little: to make lists
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

// add appends a node with the intervals t.ranges.
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

// normal sorts spans and joins overlapping and touching ones.
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

// flushNodes is how many nodes are collected before they are flattened; few
// units have more (of ceph-osd's, one has 130,000). More are collected when
// more has been covered, so that merging the two stays linear.
const flushNodes = 16 << 10
