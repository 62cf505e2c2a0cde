package explode

import (
	"github.com/symlake/symlake/formats/symbol"
)

func (r *run) reset() {
	r.out.Ranges, r.out.Scopes = r.out.Ranges[:0], r.out.Scopes[:0]
	r.root, r.stamp, r.next = -1, 1, 0
}

// end emits the run.
func (r *run) end(p *part) error {
	if len(r.out.Ranges) > 0 {
		r.out.Rank, r.out.Strings, r.out.Table = symbol.RankDWARF, p.strings.list, p.strings.id
		err := p.emit(&r.out)
		r.out.Ranges = r.out.Ranges[:0]
		if err != nil {
			p.err = err
			return err
		}
	}
	r.out.Ranges, r.out.Scopes = r.out.Ranges[:0], r.out.Scopes[:0]
	r.stamp++
	return nil
}

// begin begins a run with the only scope f, for code of no function.
func (r *run) begin(p *part, f uint32) error {
	if err := r.end(p); err != nil {
		return err
	}
	r.root, r.scope, r.file = -1, 0, 0
	r.out.Scopes = append(r.out.Scopes, symbol.Scope{Parent: -1, Function: f})
	return nil
}

// enter makes the node, with code that goes on at low, the scope of ranges added
// next. A new run begins where the code does not go on or another function
// begins.
func (r *run) enter(p *part, low uint64, node int32) error {
	if node < 0 {
		r.next = low
		return nil
	}
	n := &p.tree.nodes[node]
	if n.root != r.root || low != r.next || len(r.out.Ranges) == 0 {
		if err := r.end(p); err != nil {
			return err
		}
		r.root, r.next = n.root, low
	}
	var err error
	r.scope, err = r.scopeOf(p, node, low)
	return err
}

// scopeOf is the scope of a node in the run, and of all around it.
func (r *run) scopeOf(p *part, node int32, low uint64) (int32, error) {
	n := &p.tree.nodes[node]
	if n.stamp == r.stamp {
		return n.scope, nil
	}
	s := symbol.Scope{Parent: -1}
	var err error
	if n.parent >= 0 {
		if s.Parent, err = r.scopeOf(p, n.parent, low); err != nil {
			return 0, err
		}
		if s.Call, err = p.site(n.file, n.line, n.column); err != nil {
			return 0, err
		}
		if s.Call == (symbol.Site{}) && p.tree.nodes[n.parent].parent < 0 {
			s.Call.File = r.file // a call is as much of the function as code without rows
		}
		s.Function = n.name
	} else {
		s.Function = p.outermost(n, low)
	}
	n.scope, n.stamp = int32(len(r.out.Scopes)), r.stamp
	if len(r.out.Scopes) == cap(r.out.Scopes) {
		r.out.Scopes = grown(r.out.Scopes, 1)
	}
	r.out.Scopes = append(r.out.Scopes, s)
	return n.scope, nil
}

// unknown is the place of code without rows.
func (r *run) unknown() symbol.Site {
	if r.out.Scopes[r.scope].Parent >= 0 {
		return symbol.Site{}
	}
	return symbol.Site{File: r.file}
}

// add appends [low, high) with the scope that was entered last, or makes the
// last range longer if it says the same.
func (r *run) add(p *part, low, high uint64, at symbol.Site) error {
	base := p.x.img.Base
	r.next = high
	if n := len(r.out.Ranges); n > 0 {
		if last := &r.out.Ranges[n-1]; last.Scope == r.scope && last.At == at {
			last.End = high - base
			return nil
		}
		if n >= p.x.lim.RunRanges {
			return r.cut(p, low, high, at)
		}
	}
	if len(r.out.Ranges) == cap(r.out.Ranges) {
		r.out.Ranges = grown(r.out.Ranges, 1)
	}
	r.out.Ranges = append(r.out.Ranges, symbol.Range{Start: low - base, End: high - base, Scope: r.scope, At: at})
	return nil
}

// cut ends the run, which is too long, and goes on in another with the same
// scopes.
func (r *run) cut(p *part, low, high uint64, at symbol.Site) error {
	r.out.Rank, r.out.Strings, r.out.Table = symbol.RankDWARF, p.strings.list, p.strings.id
	if err := p.emit(&r.out); err != nil {
		r.out.Ranges = r.out.Ranges[:0]
		p.err = err
		return err
	}
	r.out.Ranges = r.out.Ranges[:0]
	return r.add(p, low, high, at)
}
