package pclntab

import (
	"sort"
	"strings"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// lines emits the run of a function that begins at a position.
func (p *part) lines(start uint64, name uint32) error {
	f, r := &p.f, &p.run
	clear(f.scopes)
	clear(f.depth)
	r.Ranges, r.Scopes = r.Ranges[:0], append(r.Scopes[:0], symbol.Scope{Parent: -1, Function: name})

	end := f.size // of a function without lines; else nothing is known of what the linker filled in behind it
	if len(f.line)+len(f.file) > 0 {
		end = max(last(f.line), last(f.file))
	} else if strings.HasPrefix(r.Strings[name], "go:") { // a mark of the linker's
		return nil
	}
	file, line, inlined := cursor{of: f.file}, cursor{of: f.line}, cursor{of: f.inlined}
	for at := uint64(0); at < end; {
		to := min(end, file.to(at), line.to(at), inlined.to(at))
		g := symbol.Range{Start: start + at, End: start + to}
		var err error
		if g.At, err = p.site(file.value(), line.value()); err != nil {
			return err
		}
		if g.Scope, err = p.scope(inlined.value()); err != nil {
			return err
		}
		at = to
		if n := len(r.Ranges); n > 0 && r.Ranges[n-1].Scope == g.Scope && r.Ranges[n-1].At == g.At {
			r.Ranges[n-1].End = g.End
			continue
		}
		if len(r.Ranges) >= p.lim.RunRanges {
			if err := p.emit(r); err != nil {
				return err
			}
			r.Ranges = r.Ranges[:0]
		}
		r.Ranges = append(r.Ranges, g)
	}
	if len(r.Ranges) == 0 {
		return nil
	}
	return p.emit(r)
}

// site makes a place of a file's number and a line.
func (p *part) site(file, line int32) (symbol.Site, error) {
	i, err := p.file(file)
	return symbol.Site{File: i, Line: uint32(max(line, 0))}, err
}

// scope returns the scope of an inlined call, by its number in the function; a negative one is the function itself. A
// damaged call, and a call nested too deeply, counts as the call around it.
func (p *part) scope(call int32) (int32, error) {
	if call < 0 {
		return 0, nil
	}
	f := &p.f
	if s, ok := f.scopes[call]; ok {
		return max(s, 0), nil
	}

	// Callers first: a list of calls up to a known one.
	var chain []inline
	known := int32(0)
	for call >= 0 {
		s, ok := f.scopes[call]
		if ok {
			known = max(s, 0)
			break
		}
		in, ok := p.inline(call)
		if !ok {
			f.scopes[call] = 0
			break
		}
		f.scopes[call] = pending
		chain = append(chain, in)
		call = in.parent
	}
	for i := len(chain) - 1; i >= 0; i-- {
		in := &chain[i]
		depth := f.depth[known] + 1
		if depth < p.lim.InlineDepth {
			site, err := p.site(in.file, in.line)
			if err != nil {
				return 0, err
			}
			name, err := p.name(in.name)
			if err != nil {
				return 0, err
			}
			p.run.Scopes = append(p.run.Scopes, symbol.Scope{Parent: known, Function: name, Call: site})
			known = int32(len(p.run.Scopes) - 1)
			f.depth[known] = depth
		}
		f.scopes[in.number] = known
	}
	return known, nil
}

// inline is an inlined call.
type inline struct {
	number, parent int32 // parent: the call around it, negative: the function
	name           uint32
	file, line     int32 // of the call
}

// inline reads an inlined call.
func (p *part) inline(number int32) (inline, bool) {
	f := &p.f
	in := inline{number: number, parent: -1}
	size := uint64(20)
	if p.t.version == go120 {
		size = 16
	}
	at := uint64(number) * size
	if at+size > uint64(len(f.tree)) {
		return in, false
	}
	r := native.Fields{B: f.tree[at:], Order: p.t.mem.Order}
	if p.t.version == go120 {
		in.name = r.U32(4)
		from := uint64(r.U32(8))
		if from >= f.size {
			return in, false
		}
		in.file, in.line, in.parent = value(f.file, from), value(f.line, from), value(f.inlined, from)
	} else {
		in.parent = int32(int16(r.U16(0)))
		in.file, in.line, in.name = int32(r.U32(4)), int32(r.U32(8)), r.U32(12)
	}
	return in, uint64(in.name) < uint64(len(p.names.B))
}

// last returns where steps end.
func last(steps []step) uint64 {
	if len(steps) == 0 {
		return 0
	}
	return steps[len(steps)-1].end
}

// value returns the value at an address, -1 if there is none.
func value(steps []step, at uint64) int32 {
	i := sort.Search(len(steps), func(i int) bool { return steps[i].end > at })
	if i == len(steps) {
		return -1
	}
	return steps[i].value
}

// cursor walks along steps by ascending addresses.
type cursor struct {
	of []step
	i  int
}

// to returns where the value at an address ends.
func (c *cursor) to(at uint64) uint64 {
	for c.i < len(c.of) && c.of[c.i].end <= at {
		c.i++
	}
	if c.i == len(c.of) {
		return ^uint64(0)
	}
	return c.of[c.i].end
}

// value returns the value that to found, -1 if there is none.
func (c *cursor) value() int32 {
	if c.i == len(c.of) {
		return -1
	}
	return c.of[c.i].value
}
