// Package sweep settles overlaps: runs ordered by start go in, disjoint
// ascending runs come out. Of the runs that hold a position, the run of the lowest
// order answers it.
//
// It leaves sorting to build/spill and rows to sinks/row. Invariants:
//   - the answer of a position depends on the runs only, never on how they
//     were cut or in which order equal starts came;
//   - the output ascends and is disjoint; a run's ranges are contiguous, and
//     equal neighbors in it are one range;
//   - work grows with runs and ranges, not with overlaps: a run that another
//     run shadows to its end is dropped when it arrives, and a piece carries
//     the scopes it uses only.
package sweep

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// Source hands out runs ordered by start. It reuses the slices of into, which then belong to the sweep
// until it asks with them again. A lower order wins; no two runs have the same.
type Source[O ~uint64] func(into *symbol.Run) (order O, ok bool, err error)

// ScriptSource hands out runs of a script, as Source does with code.
type ScriptSource[O ~uint64] func(into *symbol.Script) (order O, ok bool, err error)

// Counts counts the contents of the resulting runs, for a load's quality.
type Counts struct {
	Runs, Ranges uint64
	Covered      uint64 // bytes with an answer
	WithLine     uint64 // bytes with a line in their innermost frame
	WithInline   uint64 // bytes with more than one frame
}

// maxOpenBytes bounds the runs that overlap at one position. The largest run
// alone (Limits.RunRanges) takes 32 MiB; real objects hold a few KiB.
const maxOpenBytes = 256 << 20

// maxOpenRuns bounds their number: each new run moves the runs behind its place.
const maxOpenRuns = 1 << 16

// open is a run that still has something to say.
type open struct {
	run   *symbol.Script // of code: without marks
	order uint64
	end   uint64
	next  int      // the first range that ends after the emitted ones
	marks []uint32 // by scope: the piece that used it last, from 1
	remap []int32  // by scope: its index in that piece
	piece uint32
	bytes int64
}

type sweeper struct {
	emit   func(*symbol.Script) error
	script bool  // runs have marks
	limit  int64 // of bytes
	counts Counts
	// active is ordered from the highest order to the lowest, so the winner is
	// the last; ends descend the other way round: a run that ends before a
	// winner is shadowed and not kept.
	active []*open
	bytes  int64
	free   []*open

	from, to uint64 // the piece of piece that was won and not emitted
	piece    *open
	cut      symbol.Script // a piece of a run
	used     []int32
}

// Sweep runs src to its end. What emit is given is valid during the call; its
// error comes back unchanged.
func Sweep[O ~uint64](src Source[O], emit func(*symbol.Run) error) (Counts, error) {
	s := &sweeper{emit: func(r *symbol.Script) error { return emit(&r.Run) }, limit: maxOpenBytes}
	err := run(s, func(into *symbol.Script) (O, bool, error) { return src(&into.Run) })
	return s.counts, err
}

// SweepScript does with runs of a script what Sweep does with code.
func SweepScript[O ~uint64](src ScriptSource[O], emit func(*symbol.Script) error) (Counts, error) {
	s := &sweeper{emit: emit, script: true, limit: maxOpenBytes}
	err := run(s, src)
	return s.counts, err
}

func run[O ~uint64](s *sweeper, src ScriptSource[O]) error {
	var last uint64
	for {
		o := s.take()
		order, ok, err := src(o.run)
		if err != nil {
			return err
		}
		if !ok {
			s.free = append(s.free, o)
			break
		}
		start := o.run.Ranges[0].Start
		if start < last {
			return fmt.Errorf("sweep: run at %#x after one at %#x", start, last)
		}
		last = start
		o.order, o.end, o.next, o.piece = uint64(order), o.run.Ranges[len(o.run.Ranges)-1].End, 0, 0
		if err := s.until(start); err != nil {
			return err
		}
		if err := s.insert(o); err != nil {
			return err
		}
	}
	if err := s.until(^uint64(0)); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.end()
	return nil
}

// take gives a run to be filled.
func (s *sweeper) take() *open {
	if n := len(s.free); n > 0 {
		o := s.free[n-1]
		s.free = s.free[:n-1]
		return o
	}
	return opens.Get().(*open)
}

// opens are runs of sweeps that have ended. No more than pooledRanges of one are kept.
var opens = sync.Pool{New: func() any { return &open{run: new(symbol.Script)} }}

const pooledRanges = 2048

// end gives the runs, none of which is active, to later sweeps.
func (s *sweeper) end() {
	for _, o := range s.free {
		if r := o.run; cap(r.Ranges) <= pooledRanges && cap(r.Scopes) <= pooledRanges {
			r.Strings, r.Table = nil, nil
			opens.Put(o)
		}
	}
	s.free = nil
}

// insert puts o, which starts at or after all that is active, in its place.
func (s *sweeper) insert(o *open) error {
	at, _ := slices.BinarySearchFunc(s.active, o, func(a, b *open) int {
		if a.order > b.order {
			return -1
		}
		return 1
	})
	if at < len(s.active) && s.active[at].end >= o.end { // the next better one outlasts it
		s.free = append(s.free, o)
		return nil
	}
	worse := at // those it outlasts
	for worse > 0 && s.active[worse-1].end <= o.end {
		worse--
		s.drop(s.active[worse])
	}
	s.active = slices.Replace(s.active, worse, at, o)
	o.bytes = int64(len(o.run.Ranges))*int64(unsafe.Sizeof(symbol.Range{})) + int64(len(o.run.Scopes))*int64(unsafe.Sizeof(symbol.Scope{})+8)
	s.bytes += o.bytes
	if s.bytes > s.limit || len(s.active) > maxOpenRuns {
		return &formats.Error{Format: "run", Section: "ranges", Offset: int64(o.run.Ranges[0].Start), Want: "fewer functions at one address", Err: formats.ErrLimit}
	}
	return nil
}

// drop gives up a run that is no longer active, unless its piece is still held.
func (s *sweeper) drop(o *open) {
	s.bytes -= o.bytes
	if s.piece != o {
		s.free = append(s.free, o)
	}
	o.bytes = -1
}

// until settles every position below limit.
func (s *sweeper) until(limit uint64) error {
	for len(s.active) > 0 {
		best := s.active[len(s.active)-1]
		at := max(s.to, best.run.Ranges[0].Start)
		if best.end <= at {
			s.active = s.active[:len(s.active)-1]
			s.drop(best)
			continue
		}
		if at >= limit {
			return nil
		}
		if err := s.win(best, at, min(best.end, limit)); err != nil {
			return err
		}
	}
	return nil
}

// win notes that o answers [from, to), which follows all that was won before.
func (s *sweeper) win(o *open, from, to uint64) error {
	if s.piece == o && s.to == from {
		s.to = to
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.piece, s.from, s.to = o, from, to
	return nil
}

// flush emits the piece that was won.
func (s *sweeper) flush() error {
	o := s.piece
	if o == nil {
		return nil
	}
	s.piece = nil
	r := o.run
	if s.from > r.Ranges[0].Start || s.to < o.end {
		r = s.slice(o)
	}
	r.Ranges = s.count(&r.Run)
	err := s.emit(r)
	if o.bytes < 0 {
		s.free = append(s.free, o)
	}
	return err
}

// slice is [from, to) of o as a run of its own.
func (s *sweeper) slice(o *open) *symbol.Script {
	r, c := o.run, &s.cut
	if o.piece == 0 {
		o.marks, o.remap = slices.Grow(o.marks[:0], len(r.Scopes))[:len(r.Scopes)], slices.Grow(o.remap[:0], len(r.Scopes))[:len(r.Scopes)]
		clear(o.marks)
	}
	o.piece++
	c.Rank, c.Strings = r.Rank, r.Strings
	c.Ranges, c.Marks, c.Scopes, s.used = c.Ranges[:0], c.Marks[:0], c.Scopes[:0], s.used[:0]
	for r.Ranges[o.next].End <= s.from {
		o.next++
	}
	for i := o.next; i < len(r.Ranges) && r.Ranges[i].Start < s.to; i++ {
		g := r.Ranges[i]
		if s.script {
			mark := r.Marks[i]
			g.At = mark.Flags.At(g.At, g.Start, max(g.Start, s.from))
			c.Marks = append(c.Marks, mark)
		}
		g.Start, g.End = max(g.Start, s.from), min(g.End, s.to)
		c.Ranges = append(c.Ranges, g)
		for p := g.Scope; p >= 0 && o.marks[p] != o.piece; p = r.Scopes[p].Parent {
			o.marks[p] = o.piece
			s.used = append(s.used, p)
		}
		if g.End < r.Ranges[i].End {
			break
		}
		o.next = i
	}
	slices.Sort(s.used)
	for i, p := range s.used {
		o.remap[p] = int32(i)
		sc := r.Scopes[p]
		if sc.Parent >= 0 {
			sc.Parent = o.remap[sc.Parent]
		}
		c.Scopes = append(c.Scopes, sc)
	}
	for i := range c.Ranges {
		if sc := &c.Ranges[i].Scope; *sc >= 0 {
			*sc = o.remap[*sc]
		}
	}
	return c
}

// count adds r to the counts and joins equal neighbors, in place. Which ranges have a line or are inlined is chance: no
// branch depends on it.
func (s *sweeper) count(r *symbol.Run) []symbol.Range {
	n := 0
	var covered, withLine, withInline uint64
	for i := range r.Ranges {
		g := &r.Ranges[i]
		size := g.End - g.Start
		lined, inlined := size, size
		if g.At.Line == 0 {
			lined = 0
		}
		if r.Scopes[g.Scope].Parent < 0 {
			inlined = 0
		}
		covered += size
		withLine += lined
		withInline += inlined
		if n > 0 && !s.script { // ranges of a script end with their lines
			b := &r.Ranges[n-1]
			if uint32(b.Scope^g.Scope)|(b.At.File^g.At.File)|(b.At.Line^g.At.Line)|(b.At.Column^g.At.Column) == 0 {
				b.End = g.End
				continue
			}
		}
		if n != i {
			r.Ranges[n] = *g
		}
		n++
	}
	s.counts.Covered += covered
	s.counts.WithLine += withLine
	s.counts.WithInline += withInline
	s.counts.Runs++
	s.counts.Ranges += uint64(n)
	return r.Ranges[:n]
}
