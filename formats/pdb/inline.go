package pdb

import (
	"cmp"
	"slices"

	"github.com/symlake/symlake/formats/internal/codeview"
	"github.com/symlake/symlake/formats/symbol"
)

// tree is the functions that are inlined into a procedure.
type tree struct {
	nodes  []node
	rows   []row
	at     int32 // the node that records belong to; -1: the procedure
	events []uint64
	active []int32 // by level: the row that has the code; -1: none. Level 0 is the procedure.
	chain  []int32 // scopes by level
	found  []codeview.Inlined
}

// node is an inlined function.
type node struct {
	parent int32 // -1: the procedure
	level  int32 // from 1
	name   uint32
	scope  int32 // the last one made for it; -1: none
}

// row is code of a node with one place.
type row struct {
	node       int32
	start, end uint32
	at         symbol.Site
}

func (t *tree) reset() { t.nodes, t.rows, t.at = t.nodes[:0], t.rows[:0], -1 }

// leave ends the records of a node.
func (t *tree) leave() {
	if t.at >= 0 && int(t.at) < len(t.nodes) {
		t.at = t.nodes[t.at].parent
	}
}

// inline reads an inline site of a procedure.
func (p *part) inline(at *proc, id uint32, annotations []byte) error {
	t := &p.tree
	n := node{parent: t.at, level: 1, scope: -1}
	if t.at >= 0 {
		n.level = t.nodes[t.at].level + 1
	}
	var err error
	if n.name, err = p.inlinee(id); err != nil {
		return err
	}
	t.nodes = append(t.nodes, n)
	t.at = int32(len(t.nodes) - 1)
	if int(n.level) >= p.o.in.Limits.InlineDepth {
		return nil
	}
	from := p.findInlinee(id)
	t.found = codeview.Annotations(annotations, from.File, from.Line, t.found[:0])
	size := at.end - at.start
	file, text := ^uint32(0), uint32(0)
	for i := range t.found {
		v := &t.found[i]
		if v.Start >= size {
			continue
		}
		if v.File != file {
			file, text = v.File, p.fileName(v.File)
		}
		t.rows = append(t.rows, row{t.at, at.start + v.Start, at.start + min(v.End, size), symbol.Site{File: text, Line: v.Line, Column: v.Column}})
	}
	return nil
}

// findInlinee returns where the text of an inlined function begins.
func (p *part) findInlinee(id uint32) codeview.Inlinee {
	byID := func(a, b codeview.Inlinee) int { return cmp.Compare(a.ID, b.ID) }
	if !p.sorted {
		slices.SortStableFunc(p.inlinees, byID)
		p.sorted = true
	}
	i, ok := slices.BinarySearchFunc(p.inlinees, id, func(a codeview.Inlinee, id uint32) int { return cmp.Compare(a.ID, id) })
	if !ok {
		return codeview.Inlinee{File: ^uint32(0)}
	}
	return p.inlinees[i]
}

// procedure emits a procedure, with the functions inlined into it.
func (p *part) procedure(at *proc) error {
	p.procs = append(p.procs, *at)
	p.begin(at.rank)
	p.run.Scopes = append(p.run.Scopes, symbol.Scope{Parent: -1, Function: at.name})
	lines := p.linesOf(at.start)
	if len(p.tree.rows) == 0 {
		if err := p.plain(at.start, at.end, lines); err != nil {
			return err
		}
		return p.flush()
	}
	if err := p.flatten(at, lines); err != nil {
		return err
	}
	return p.flush()
}

// plain emits code of the procedure alone.
func (p *part) plain(start, end uint32, lines []line) error {
	for i := 0; i < len(lines) && start < end && lines[i].start < end; i++ {
		l := &lines[i]
		if l.start > start { // before the first line
			if err := p.leaf(start, l.start, 0, l.at); err != nil {
				return err
			}
			start = l.start
		}
		if to := min(l.end, end); start < to {
			if err := p.leaf(start, to, 0, l.at); err != nil {
				return err
			}
			start = to
		}
	}
	if start < end {
		return p.leaf(start, end, 0, symbol.Site{})
	}
	return nil
}

// flatten sweeps the rows of all levels: at each place the deepest node counts that has all its parents there.
func (p *part) flatten(at *proc, lines []line) error {
	t := &p.tree
	levels := 1
	t.events = t.events[:0]
	for i := range t.rows { // ends of rows come before beginnings, at one place
		r := &t.rows[i]
		levels = max(levels, int(t.nodes[r.node].level)+1)
		t.events = append(t.events, uint64(r.start)<<32|1<<31|uint64(i), uint64(r.end)<<32|uint64(i))
	}
	slices.Sort(t.events)
	t.active, t.chain = t.active[:0], append(t.chain[:0], 0)
	for range levels {
		t.active = append(t.active, -1)
	}
	budget := scopesPerRow*len(t.rows) + scopesPerRow*len(lines)
	budget = min(budget, maxScopes)

	pos, site, event := at.start, symbol.Site{}, 0
	for pos < at.end {
		changed, next := levels, at.end
		// The procedure's own line.
		for len(lines) > 0 && lines[0].end <= pos {
			lines = lines[1:]
		}
		own := symbol.Site{}
		if len(lines) > 0 {
			if l := &lines[0]; l.start <= pos {
				own, next = l.at, min(next, l.end)
			} else if l.start < at.end { // before the first line
				own, next = l.at, min(next, l.start)
			}
		}
		if own != site || pos == at.start {
			site, changed = own, 0
		}
		for ; event < len(t.events); event++ {
			e := t.events[event]
			if where := uint32(e >> 32); where > pos {
				next = min(next, where)
				break
			}
			i := int32(e & (1<<31 - 1))
			level := int(t.nodes[t.rows[i].node].level)
			switch {
			case e&(1<<31) != 0:
				t.active[level] = i
			case t.active[level] == i:
				t.active[level] = -1
			default:
				continue
			}
			changed = min(changed, level)
		}
		p.descend(max(changed, 1), site, budget)
		leaf := site
		if n := len(t.chain); n > 1 {
			leaf = t.rows[t.active[n-1]].at
		}
		if err := p.leaf(pos, next, t.chain[len(t.chain)-1], leaf); err != nil {
			return err
		}
		pos = next
	}
	return nil
}

// Scopes of a procedure are bounded: of damaged nests each line could need a scope for each level.
const (
	scopesPerRow = 8
	maxScopes    = 1 << 22
)

// descend makes the chain of scopes anew from a level on. site is the place in the procedure.
func (p *part) descend(from int, site symbol.Site, budget int) {
	t := &p.tree
	if from > len(t.chain) {
		return
	}
	t.chain = t.chain[:from]
	for level := from; level < len(t.active); level++ {
		i := t.active[level]
		if i < 0 {
			return
		}
		n := &t.nodes[t.rows[i].node]
		call := site
		if level > 1 {
			above := &t.rows[t.active[level-1]]
			if n.parent != above.node {
				return
			}
			call = above.at
		} else if n.parent >= 0 {
			return
		}
		s := symbol.Scope{Parent: t.chain[level-1], Function: n.name, Call: call}
		if n.scope < 0 || p.run.Scopes[n.scope] != s && len(p.run.Scopes) < budget {
			n.scope = int32(len(p.run.Scopes))
			p.run.Scopes = append(p.run.Scopes, s)
		}
		t.chain = append(t.chain, n.scope)
	}
}
