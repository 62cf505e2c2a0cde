package gsym

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

func isFault(err error) bool { return errors.Is(err, formats.ErrCorrupt) }

// window reads pieces of the file that ascend.
type window struct {
	f    *file
	from int64
	data []byte
}

// windowBytes is how much a window reads at once.
const windowBytes = 1 << 20

// at returns n bytes at a place. They are valid until the next call.
func (w *window) at(place uint64, n int64) ([]byte, error) {
	in := w.f.in
	if place > uint64(in.Size) || n > in.Size-int64(place) {
		return nil, fault(int64(min(place, 1<<63-1)), "a function inside of the file")
	}
	at := int64(place)
	if in.Mapped != nil || n > windowBytes {
		return in.View(at, n)
	}
	if at < w.from || at+n > w.from+int64(len(w.data)) {
		data, err := in.View(at, min(windowBytes, in.Size-at))
		if err != nil {
			return nil, err
		}
		w.from, w.data = at, data
	}
	return w.data[at-w.from : at-w.from+n], nil
}

// row says where code from an address on comes from.
type row struct {
	addr uint64
	file uint32 // in the file's table
	line uint32
}

// node is an inlined function, node 0 the function itself.
type node struct {
	parent int32
	scope  int32
}

// span is a piece of a node's code.
type span struct {
	start, end uint64
	node       int32
}

// exploder makes runs of functions. Its memory is used again.
type exploder struct {
	*file
	q     *symbol.Quality
	emit  func(*symbol.Run) error
	run   symbol.Run
	names map[uint64]uint32 // offset → index in run.Strings
	paths map[uint32]uint32 // number of the file → index in run.Strings
	left  int64             // bytes of strings that the part may still have
	rows  []row
	nodes []node
	spans []span
	above []span // the nodes that hold the position at hand, the innermost last
}

// maxTextBytes bounds the strings of a part, which in a sound file share no bytes; maxInfoBytes the description of a function.
const (
	maxTextBytes = 64 << 20
	maxInfoBytes = 64 << 20
)

func (f *file) explode(ctx context.Context, part int, emit func(*symbol.Run) error) (q symbol.Quality, err error) {
	x := exploder{file: f, q: &q, emit: emit, names: map[uint64]uint32{0: 0}, paths: map[uint32]uint32{0: 0}, left: min(maxTextBytes, 4*int64(len(f.strings))+64*int64(len(f.files))+64<<10)}
	x.run = symbol.Run{Rank: symbol.RankBreakpad, Strings: []string{""}}
	if part == 0 {
		q.Text = f.code
	}
	w := window{f: f}
	first, stop := part*partFunctions, min((part+1)*partFunctions, f.count)
	taken, next := f.borders[part].taken, uint64(0)
	for i := first; i < stop; i++ {
		if i%256 == 0 && ctx.Err() != nil {
			return q, ctx.Err()
		}
		q.Units++
		start := f.start(i)
		if i == first || f.offset(i) != f.offset(i-1) {
			next = f.next(i, part)
			if i > first {
				taken = start
			}
		}
		info, err := f.info(&w, i)
		if err == nil {
			end := min(sized(start, uint64(f.order.Uint32(info))), next)
			from := max(start, taken)
			taken = max(taken, end)
			if from >= end {
				continue
			}
			err = x.function(info, start, from, end)
		}
		switch {
		case err == nil:
		case isFault(err):
			q.UnitsBroken++
			if len(q.Warnings) < 4 {
				q.Warnings = append(q.Warnings, fmt.Sprintf("function %d: %v", i, err))
			}
		default:
			return q, err
		}
	}
	return q, nil
}

// next returns the first address above a function's where one begins. Behind the last it is the end of the page, or of the code.
func (f *file) next(i, part int) uint64 {
	stop := min((part+1)*partFunctions, f.count)
	for next := i + 1; next < stop; next++ {
		if f.offset(next) != f.offset(i) {
			return f.start(next)
		}
	}
	switch {
	case stop < f.count && f.offset(stop) != f.offset(i):
		return f.start(stop)
	case stop < f.count && f.borders[part].next > 0:
		return f.borders[part].next
	}
	return f.end
}

// info returns the description of a function. Descriptions ascend with their functions: it ends where the next one begins.
func (f *file) info(w *window, i int) ([]byte, error) {
	from, to := f.place(i), uint64(f.in.Size)
	if i+1 < f.count {
		to = f.place(i + 1)
	}
	if to <= from || to-from > maxInfoBytes || to-from < uint64(4+f.text) {
		return nil, fault(int64(min(from, 1<<63-1)), "descriptions of functions that ascend")
	}
	return w.at(from, int64(to-from))
}

// Kinds of what describes a function.
const (
	infoEnd = iota
	infoLines
	infoInlines
)

// function reads a function and emits its code from from to end.
func (x *exploder) function(info []byte, start, from, end uint64) error {
	r := reader{b: info, order: x.order}
	r.u32() // its size
	name, ok := x.name(r.word(x.text))
	if !ok || name == 0 {
		return fault(0, "the name of a function")
	}
	x.rows, x.nodes, x.spans = x.rows[:0], append(x.nodes[:0], node{parent: -1}), x.spans[:0]
	x.run.Scopes = append(x.run.Scopes[:0], symbol.Scope{Parent: -1, Function: name})
	for {
		kind, size := r.u32(), r.u32()
		if r.failed || uint64(size) > uint64(len(r.b)) {
			return fault(0, "a list of descriptions that ends")
		}
		piece := reader{b: r.b[:size], order: x.order}
		r.b = r.b[size:]
		switch kind {
		case infoEnd:
			return x.write(from, end)
		case infoLines:
			if !x.lines(&piece, start, end) {
				return fault(0, "a table of lines")
			}
		case infoInlines:
			if !x.inlines(&piece, start) {
				return fault(0, "inlined functions")
			}
		}
	}
}

// name returns the index of a string; false if it is none.
func (x *exploder) name(at uint64) (uint32, bool) {
	if i, ok := x.names[at]; ok {
		return i, true
	}
	if x.left <= 0 {
		return 0, false
	}
	s, ok := x.textAt(at)
	x.left -= int64(len(s)) + 1
	if !ok {
		return 0, false
	}
	i := uint32(0)
	if s != "" {
		i = uint32(len(x.run.Strings))
		x.run.Strings = append(x.run.Strings, s)
	}
	x.names[at] = i
	return i, true
}

// path returns the index of a file's path; 0 if it is not known.
func (x *exploder) path(number uint32) uint32 {
	if i, ok := x.paths[number]; ok {
		return i
	}
	at := int64(number) * 2 * int64(x.text)
	if at >= int64(len(x.files)) || x.left <= 0 {
		return 0
	}
	folder, ok1 := x.textAt(x.word(x.files[at:]))
	base, ok2 := x.textAt(x.word(x.files[at+int64(x.text):]))
	x.left -= int64(len(folder)+len(base)) + 1
	i := uint32(0)
	if path := join(folder, base); ok1 && ok2 && path != "" {
		i = uint32(len(x.run.Strings))
		x.run.Strings = append(x.run.Strings, symbol.ShortName(path, x.in.Limits.NameBytes))
	}
	x.paths[number] = i
	return i
}

// write emits the function's code from from to end.
func (x *exploder) write(from, end uint64) error {
	slices.SortFunc(x.spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.node, b.node))
	})
	x.above = append(x.above[:0], span{start: 0, end: end, node: -1})
	x.run.Ranges = x.run.Ranges[:0]
	spans, rows := x.spans, x.rows
	at := row{}
	for pos := from; pos < end; {
		for len(rows) > 0 && rows[0].addr <= pos {
			at, rows = rows[0], rows[1:]
		}
		x.leave(pos)
		for len(spans) > 0 && spans[0].start <= pos {
			x.leave(spans[0].start)
			s, top := spans[0], x.above[len(x.above)-1]
			spans = spans[1:]
			if x.nodes[s.node].parent == top.node { // a part of the function around it
				s.end = min(s.end, top.end)
				x.above = append(x.above, s)
			}
		}
		x.leave(pos)
		top := x.above[len(x.above)-1]
		next := top.end
		if len(rows) > 0 {
			next = min(next, rows[0].addr)
		}
		if len(spans) > 0 {
			next = min(next, spans[0].start)
		}
		g := symbol.Range{Start: pos, End: next, Scope: 0}
		if top.node > 0 {
			g.Scope = x.nodes[top.node].scope
		}
		if at.file != 0 {
			g.At = symbol.Site{File: x.path(at.file), Line: at.line}
		}
		if err := x.add(g); err != nil {
			return err
		}
		pos = next
	}
	return x.emit(&x.run)
}

// leave leaves the nodes that end before a position, or there.
func (x *exploder) leave(pos uint64) {
	for len(x.above) > 1 && x.above[len(x.above)-1].end <= pos {
		x.above = x.above[:len(x.above)-1]
	}
}

// add adds a range to the run.
func (x *exploder) add(g symbol.Range) error {
	r := &x.run
	if n := len(r.Ranges); n > 0 && r.Ranges[n-1].Scope == g.Scope && r.Ranges[n-1].At == g.At {
		r.Ranges[n-1].End = g.End - x.image
		return nil
	}
	if len(r.Ranges) >= x.in.Limits.RunRanges {
		if err := x.emit(r); err != nil {
			return err
		}
		r.Ranges = r.Ranges[:0]
	}
	g.Start -= x.image
	g.End -= x.image
	r.Ranges = append(r.Ranges, g)
	return nil
}
