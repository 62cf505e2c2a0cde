package breakpad

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// function is a FUNC record with what follows it. Its memory is used again.
type function struct {
	start, end uint64 // [start, end)
	name       []byte // of the record, as far as it is at hand, until the next is read
	lines      []row
	levels     [][]inlined // by level, in the file's order
	cuts       []uint64
}

// row is a line record.
type row struct {
	start, end uint64
	line, file uint32
}

// inlined is one range of an INLINE record.
type inlined struct {
	start, end         uint64
	line, file, origin uint32
	scope              int32 // in the run, once parent is the scope of the cell at hand
	parent             int32
}

// parseFunc reads "FUNC [m] ADDRESS SIZE PARAMETERS NAME".
func parseFunc(line []byte) (f function, ok bool) {
	r := fields{line[len(funcWord):], true}
	r.marked()
	f.start = r.number(16)
	size := r.number(16)
	r.number(16)
	f.end = f.start + size
	f.name = r.rest()
	return f, r.ok && f.end >= f.start
}

// explodePart emits the functions with records that begin in the part at off.
func (o *object) explodePart(ctx context.Context, t *tables, off int64, emit func(*symbol.Run) error) (q symbol.Quality, err error) {
	from := max(off-1, 0) // a record begins behind a line end
	s := newScanner(ctx, o.in, from)
	more, err := s.skipTo(off, off+partBytes)
	x := exploder{tables: t, lim: o.in.Limits, q: &q, emit: emit}
	x.run = symbol.Run{Rank: symbol.RankBreakpad, Strings: o.takeStrings(t)}
	defer func() { o.giveStrings(x.run.Strings) }()
	open := false // x.f is a function of this part
	for ; more && err == nil; more, err = s.next() {
		if len(s.line) == 0 {
			continue
		}
		switch {
		case bytes.HasPrefix(s.line, funcWord):
			if open {
				if err := x.function(); err != nil {
					return q, err
				}
				open = false
			}
			if s.from >= off+partBytes {
				return q, nil
			}
			q.Lines++
			q.Units++
			f, ok := parseFunc(s.line)
			if !ok {
				bad(&q, s.from, "FUNC, address, size, size of parameters and a name")
				q.UnitsBroken++
				continue
			}
			name, err := s.name(f.name)
			if err != nil {
				return q, err
			}
			open = true
			x.begin(&f, name)
		case bytes.HasPrefix(s.line, inlineWord):
			if open {
				q.Lines++
				if !x.inline(s.wholePairs()) {
					bad(&q, s.from, "INLINE, level, line, file, origin and pairs of address and size")
				}
			}
		case isLine(s.line):
			if open {
				q.Lines++
				if !x.line(s.line) {
					bad(&q, s.from, "address, size, line and file")
				}
			}
		case bytes.HasPrefix(s.line, publicWord), bytes.HasPrefix(s.line, stackWord):
			if open {
				if err := x.function(); err != nil {
					return q, err
				}
				open = false
			}
			if s.from >= off+partBytes {
				return q, nil
			}
		}
	}
	if err == nil && open {
		err = x.function()
	}
	return q, err
}

// isLine reports whether a record is of a line: it begins with an address.
func isLine(record []byte) bool {
	c := record[0]
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' && !bytes.HasPrefix(record, fileWord)
}

// exploder makes runs of functions.
type exploder struct {
	*tables
	lim  *formats.Limits
	q    *symbol.Quality
	emit func(*symbol.Run) error
	run  symbol.Run
	f    function
	name uint32 // of f, in run.Strings
}

func (x *exploder) begin(f *function, name string) {
	x.f.start, x.f.end = f.start, f.end
	x.f.lines, x.f.cuts = x.f.lines[:0], x.f.cuts[:0]
	for i := range x.f.levels {
		x.f.levels[i] = x.f.levels[i][:0]
	}
	x.name = uint32(len(x.run.Strings))
	x.run.Strings = append(x.run.Strings, name)
}

// maxRanges bounds the lines and inlines of one function.
const maxRanges = 1 << 22

func (x *exploder) line(b []byte) bool {
	f := fields{b, true}
	r := row{start: f.number(16)}
	r.end = r.start + f.number(16)
	r.line = f.small()
	file := f.small()
	r.start, r.end = max(r.start, x.f.start), min(r.end, x.f.end)
	if !f.ok {
		return false
	}
	r.file = x.files[file]
	if r.start < r.end && len(x.f.lines) < maxRanges {
		x.f.lines = append(x.f.lines, r)
	}
	return true
}

func (x *exploder) inline(b []byte) bool {
	f := fields{b[len(inlineWord):], true}
	level := f.small()
	in := inlined{line: f.small()}
	if countFields(b)%2 != 0 { // the form of 2021 names no file of the call
		in.file = x.files[f.small()]
	}
	in.origin = x.origins[f.small()]
	if !f.ok {
		return false
	}
	if int64(level) >= int64(x.lim.InlineDepth) {
		return true // cut, as all that is deeper
	}
	for len(f.rest()) > 0 {
		in.start = f.number(16)
		in.end = in.start + f.number(16)
		if !f.ok {
			return false
		}
		in.start, in.end = max(in.start, x.f.start), min(in.end, x.f.end)
		if in.start >= in.end {
			continue
		}
		for len(x.f.levels) <= int(level) {
			x.f.levels = append(x.f.levels, nil)
		}
		if len(x.f.levels[level]) < maxRanges {
			x.f.levels[level] = append(x.f.levels[level], in)
		}
	}
	return true
}

// function emits the gathered function.
func (x *exploder) function() error {
	f := &x.f
	if f.start >= f.end {
		return nil
	}
	f.cuts = append(f.cuts, f.start, f.end)
	slices.SortStableFunc(f.lines, func(a, b row) int { return cmp.Compare(a.start, b.start) })
	for _, l := range f.lines {
		f.cuts = append(f.cuts, l.start, l.end)
	}
	for _, level := range f.levels {
		slices.SortStableFunc(level, func(a, b inlined) int { return cmp.Compare(a.start, b.start) })
		for i := range level {
			level[i].parent = -1
			f.cuts = append(f.cuts, level[i].start, level[i].end)
		}
	}
	slices.Sort(f.cuts)
	f.cuts = slices.Compact(f.cuts)
	r := &x.run
	r.Ranges, r.Scopes = r.Ranges[:0], append(r.Scopes[:0], symbol.Scope{Parent: -1, Function: x.name})
	lines := cursor[row]{of: f.lines}
	levels := make([]cursor[inlined], len(f.levels))
	for i := range levels {
		levels[i].of = f.levels[i]
	}
	for i := 0; i+1 < len(f.cuts); i++ {
		at, end := f.cuts[i], f.cuts[i+1]
		scope := int32(0)
		for k := range levels {
			in := levels[k].at(at)
			if in == nil {
				break
			}
			if in.parent != scope {
				in.parent, in.scope = scope, int32(len(r.Scopes))
				r.Scopes = append(r.Scopes, symbol.Scope{Parent: scope, Function: in.origin, Call: symbol.Site{File: in.file, Line: in.line}})
			}
			scope = in.scope
		}
		g := symbol.Range{Start: at, End: end, Scope: scope}
		if l := lines.at(at); l != nil {
			g.At = symbol.Site{File: l.file, Line: l.line}
		}
		if n := len(r.Ranges); n > 0 && r.Ranges[n-1].Scope == g.Scope && r.Ranges[n-1].At == g.At {
			r.Ranges[n-1].End = end
			continue
		}
		if len(r.Ranges) >= x.lim.RunRanges {
			if err := x.emit(r); err != nil {
				return err
			}
			r.Ranges = r.Ranges[:0]
		}
		r.Ranges = append(r.Ranges, g)
	}
	return x.emit(r)
}

// cursor finds the range that holds ascending positions: of overlapping ranges
// the last to begin.
type cursor[T interface{ span() (uint64, uint64) }] struct {
	of   []T
	next int
	open []int // begun; the last one has the position unless it has ended
}

func (r row) span() (uint64, uint64)      { return r.start, r.end }
func (in inlined) span() (uint64, uint64) { return in.start, in.end }

func (c *cursor[T]) at(pos uint64) *T {
	for c.next < len(c.of) {
		if start, _ := c.of[c.next].span(); start > pos {
			break
		}
		c.open = append(c.open, c.next)
		c.next++
	}
	for len(c.open) > 0 {
		i := c.open[len(c.open)-1]
		if _, end := c.of[i].span(); end > pos {
			return &c.of[i]
		}
		c.open = c.open[:len(c.open)-1]
	}
	return nil
}
