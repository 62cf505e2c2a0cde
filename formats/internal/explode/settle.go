package explode

import (
	"slices"

	"github.com/symlake/symlake/formats/internal/native"
)

// settleClaims gives each address to one group: that which begins first, of those
// that begin together the first, and none if a group flattened before has it.
func (p *part) settleClaims() {
	t, s := &p.tree, &p.settle
	s.claims, s.own, s.lost = s.claims[:0], s.owned[:0], false
	s.beaten = append(s.beaten[:0], make([]bool, len(t.groups))...)
	for g := range t.groups {
		nodes := t.nodes[t.groups[g].node:]
		if g+1 < len(t.groups) {
			nodes = t.nodes[t.groups[g].node:t.groups[g+1].node]
		}
		for i := range nodes {
			if n := &nodes[i]; n.parent < 0 {
				for _, v := range t.intervals[n.first : n.first+n.count] {
					s.claims = append(s.claims, claim{v.Span, int32(g)})
				}
			}
		}
	}
	order := func(a, b claim) int {
		switch {
		case a.Start != b.Start:
			if a.Start < b.Start {
				return -1
			}
			return 1
		default:
			return int(a.group) - int(b.group)
		}
	}
	if !slices.IsSortedFunc(s.claims, order) {
		slices.SortFunc(s.claims, order)
	}
	end, owner := uint64(0), int32(-1)
	for _, c := range s.claims {
		if c.Start < end && c.group != owner {
			s.beaten[c.group], s.lost = true, true
		}
		if c.Start = max(c.Start, end); c.Start < c.End {
			s.own = append(s.own, c)
			end, owner = c.End, c.group
		}
	}
	s.owned = s.own
	p.cover()
	if s.lost {
		slices.SortStableFunc(s.own, func(a, b claim) int { return int(a.group) - int(b.group) })
	}
}

// cover takes from own what earlier groups have, and adds own to it.
func (p *part) cover() {
	s := &p.settle
	if len(p.covered) > 0 && len(s.own) > 0 {
		if last := p.covered[len(p.covered)-1].End; s.own[0].Start < last {
			s.own = s.subtract(s.own, p.covered)
		}
	}
	// Merge two ascending lists, joining what touches.
	a, b := p.covered, s.own
	out := s.covered[:0]
	for len(a) > 0 || len(b) > 0 {
		var next native.Span
		if len(b) == 0 || len(a) > 0 && a[0].Start <= b[0].Start {
			next, a = a[0], a[1:]
		} else {
			next, b = b[0].Span, b[1:]
		}
		if n := len(out); n > 0 && out[n-1].End == next.Start {
			out[n-1].End = next.End
		} else {
			out = append(out, next)
		}
	}
	p.covered, s.covered = out, p.covered
}

func (s *settle) subtract(own []claim, covered []native.Span) []claim {
	var out []claim
	i := 0
	for _, c := range own {
		for i < len(covered) && covered[i].End <= c.Start {
			i++
		}
		for j := i; j < len(covered) && covered[j].Start < c.End; j++ {
			s.beaten[c.group], s.lost = true, true
			if c.Start < covered[j].Start {
				out = append(out, claim{native.Span{Start: c.Start, End: covered[j].Start}, c.group})
			}
			c.Start = max(c.Start, covered[j].End)
		}
		if c.Start < c.End {
			out = append(out, c)
		}
	}
	return out
}

// of are the pieces that a group has. It is asked for ascending groups.
func (s *settle) of(group int32) []native.Span {
	s.pieces = s.pieces[:0]
	for len(s.own) > 0 && s.own[0].group < group {
		s.own = s.own[1:]
	}
	for _, c := range s.own {
		if c.group != group {
			break
		}
		s.pieces = append(s.pieces, c.Span)
	}
	return s.pieces
}
