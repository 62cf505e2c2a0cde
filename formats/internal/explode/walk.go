package explode

import (
	"github.com/symlake/symlake/formats/internal/dwarf"
)

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
			var n int32
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
