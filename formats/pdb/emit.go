package pdb

import "github.com/symlake/symlake/formats/symbol"

// begin begins a run.
func (p *part) begin(rank symbol.Rank) {
	p.run.Rank, p.run.Ranges, p.run.Scopes = rank, p.run.Ranges[:0], p.run.Scopes[:0]
}

// leaf adds code with one answer. Code that does not go on where the last one ends begins another run.
func (p *part) leaf(start, end uint32, scope int32, at symbol.Site) error {
	r := &p.run
	if n := len(r.Ranges); n > 0 {
		last := &r.Ranges[n-1]
		switch {
		case last.End != uint64(start) || n >= p.o.in.Limits.RunRanges:
			if err := p.ranges(); err != nil {
				return err
			}
		case last.Scope == scope && last.At == at:
			last.End = uint64(end)
			return nil
		}
	}
	r.Ranges = append(r.Ranges, symbol.Range{Start: uint64(start), End: uint64(end), Scope: scope, At: at})
	return nil
}

// joined is how many functions without lines share a run.
const joined = 1 << 10

// alone adds code of a function without lines.
func (p *part) alone(start, end, function uint32) error {
	if len(p.run.Scopes) >= joined {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if n := len(p.run.Ranges); n > 0 && p.run.Ranges[n-1].End != uint64(start) {
		if err := p.flush(); err != nil {
			return err
		}
	}
	p.run.Scopes = append(p.run.Scopes, symbol.Scope{Parent: -1, Function: function})
	return p.leaf(start, end, int32(len(p.run.Scopes)-1), symbol.Site{})
}

// flush emits the run, which then is empty.
func (p *part) flush() error {
	err := p.ranges()
	p.run.Scopes = p.run.Scopes[:0]
	return err
}

// ranges emits the ranges of the run. The run keeps its scopes.
func (p *part) ranges() error {
	r := &p.run
	if len(r.Ranges) == 0 {
		return nil
	}
	r.Strings, r.Table = p.table.list, p.table
	if len(p.o.layout.moved) == 0 {
		p.failed = p.emit(r)
	} else {
		p.failed = p.moved()
	}
	r.Ranges = r.Ranges[:0]
	return p.failed
}

// moved emits the ranges of the run where an optimizer moved them.
func (p *part) moved() error {
	all := p.run.Ranges
	var err error
	one := p.run
	one.Ranges = make([]symbol.Range, 1)
	for _, v := range all {
		p.o.layout.pieces(uint32(v.Start), uint32(v.End), func(start, end, to uint32) {
			if err == nil {
				one.Ranges[0] = symbol.Range{Start: uint64(to), End: uint64(to) + uint64(end-start), Scope: v.Scope, At: v.At}
				err = p.emit(&one)
			}
		})
	}
	return err
}
