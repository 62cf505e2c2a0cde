package lake

import (
	"math"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Leaves of the table ranges, in its order.
const (
	atArtifact = iota
	atLoad
	atStart
	atEnd
	atFunction
	atLinkage
	atFile
	atLine
	atCol
	atName
	atIgnored
	atLinear
	atDepth
	atInlineFunction
	atInlineLinkage
	atInlineFile
	atInlineLine
	atInlineCol
)

// ranges turns runs into rows. Names are looked at once a row group: a run refers to
// them by number.
type ranges struct {
	o        *output
	artifact string
	load     string
	script   bool // names of scripts are never mangled
	// What a string of the load is in the row group, by its number in the runs.
	outer, inline    []function
	file, inlineFile []uint32 // number + 1 of the column's word; 0: none yet
	name             []uint32
	linkage          []uint32 // number + 1 among the row group's linkage names; 0: none yet
	readable         []uint32 // by linkage name of the row group: its readable form + 1; 0: none yet
	forms            readable
	artifactN, loadN int32 // numbers in the row group, if named
	named            bool
	printable        []bool  // strings of the load that are UTF-8
	chains           []chain // by scope of the run
	mark             uint64  // of the run and the slice
	left             uint64  // out, since their positions are no BIGINT
	rows             uint64  // of the load
}

// function is a function's name in two columns: number + 1 of its words; 0: none yet.
type function struct{ linkage, readable uint32 }

// chain is where the callers of a scope stand in the slice, if they do.
type chain struct {
	mark     uint64
	from, to int
}

func newRanges(o *output) *ranges { return &ranges{o: o} }

// begin begins the rows of a load.
func (w *ranges) begin(id symbol.ID, k symbol.Kind, load string) {
	if script := k == symbol.SourceMap; script != w.script {
		w.script = script
		clear(w.readable)
	}
	w.artifact, w.load, w.left, w.rows = id.String(), load, 0, 0
	w.forget()
	clear(w.printable)
	w.forms.begin()
}

// forget forgets the words of the row group, because it or the load changes.
func (w *ranges) forget() {
	clear(w.outer)
	clear(w.inline)
	clear(w.file)
	clear(w.inlineFile)
	clear(w.name)
	clear(w.linkage)
	w.named = false
}

// flush writes the row group out.
func (w *ranges) flush() error {
	w.forget()
	clear(w.readable)
	w.forms.turn(w.o.g.Dicts[atFunction].Texts)
	return w.o.flush()
}

// add takes a run, of a script with the marks of its ranges.
func (w *ranges) add(r *symbol.Run, marks []symbol.Mark) error {
	n := len(r.Strings)
	w.outer, w.inline = grown(w.outer, n), grown(w.inline, n)
	w.file, w.inlineFile, w.name = grown(w.file, n), grown(w.inlineFile, n), grown(w.name, n)
	w.linkage, w.printable, w.chains = grown(w.linkage, n), grown(w.printable, n), grown(w.chains, len(r.Scopes))
	w.forms.grow(n)
	w.mark++

	all := len(r.Ranges) // they ascend
	for all > 0 && r.Ranges[all-1].End > math.MaxInt64 {
		all--
		w.left++
	}
	for done := 0; done < all; {
		if w.o.g.Rows%checkRows == 0 && w.o.g.Full() {
			if err := w.flush(); err != nil {
				return err
			}
			w.mark++
		}
		if marks == nil {
			done += w.put(r, r.Ranges[done:all], nil)
		} else {
			done += w.put(r, r.Ranges[done:all], marks[done:])
		}
		if w.o.g.Open.Full() {
			if err := w.o.page(); err != nil {
				return err
			}
			w.mark++
		}
	}
	return nil
}

// put appends rows of the first ranges, column by column, and returns how many. It stops where the slice is full, or where
// the row group is to be checked.
func (w *ranges) put(r *symbol.Run, ranges []symbol.Range, marks []symbol.Mark) int {
	g := w.o.g
	s, d := g.Open, g.Dicts
	if !w.named {
		w.artifactN, w.loadN = d[atArtifact].Add(d[atArtifact].Texts.Add(w.artifact)), d[atLoad].Add(d[atLoad].Texts.Add(w.load))
		w.named = true
	}
	ranges = ranges[:min(len(ranges), checkRows-g.Rows%checkRows, g.Room())]
	before := s.Rows
	for i := range ranges {
		s.Lengths = append(s.Lengths, w.callers(r, ranges[i].Scope))
		if s.Rows++; s.Full() {
			break
		}
	}
	n := s.Rows - before
	g.Rows += n
	w.rows += uint64(n)

	ranges = ranges[:n]
	v := s.Columns
	depths := more(&v[atDepth].Ints, n)
	for i, callers := range s.Lengths[before:] {
		depths[i] = int32(1 + callers)
	}
	starts, ends := more(&v[atStart].Longs, n), more(&v[atEnd].Longs, n)
	for i := range ranges {
		starts[i], ends[i] = int64(ranges[i].Start), int64(ranges[i].End)
	}
	functions, linkages := more(&v[atFunction].Ints, n), more(&v[atLinkage].Ints, n)
	for i := range ranges {
		at := r.Scopes[ranges[i].Scope].Function
		f := w.outer[at]
		if f.linkage == 0 {
			f = w.function(r, at, &w.outer[at], &d[atLinkage], &d[atFunction])
		}
		functions[i], linkages[i] = int32(f.readable-1), int32(f.linkage-1)
	}
	files, lines, cols := more(&v[atFile].Ints, n), more(&v[atLine].Ints, n), more(&v[atCol].Ints, n)
	for i := range ranges {
		at := &ranges[i].At
		files[i], lines[i], cols[i] = word(r, at.File, w.file, &d[atFile]), pqfile.LineNumber(at.Line), pqfile.LineNumber(at.Column)
	}
	fill(more(&v[atArtifact].Ints, n), w.artifactN)
	fill(more(&v[atLoad].Ints, n), w.loadN)
	names, ignored, linear := more(&v[atName].Ints, n), more(&v[atIgnored].Ints, n), more(&v[atLinear].Ints, n)
	if marks == nil {
		fill(names, word(r, 0, w.name, &d[atName]))
		clear(ignored)
		clear(linear)
		return n
	}
	for i := range ranges {
		m := &marks[i]
		names[i], ignored[i], linear[i] = word(r, m.Name, w.name, &d[atName]), one(m.Flags&symbol.Ignored != 0), one(m.Flags&symbol.Linear != 0)
	}
	return n
}

// more lengthens a column by n values, which the caller sets, and returns them.
func more[T any](column *[]T, n int) []T {
	all := slices.Grow(*column, n)[:len(*column)+n]
	*column = all
	return all[len(all)-n:]
}

func fill(to []int32, n int32) {
	for i := range to {
		to[i] = n
	}
}

func one(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}

// callers appends the callers of a scope of a run to the slice and returns their number. The callers of an inner scope end
// with those of its parent, so what the slice has is copied.
func (w *ranges) callers(r *symbol.Run, scope int32) uint32 {
	to, d := w.o.g.Open, w.o.g.Dicts
	from := len(to.Elements)
	inner := scope
	for w.chains[inner].mark != w.mark && r.Scopes[inner].Parent >= 0 {
		call := &r.Scopes[inner].Call
		inner = r.Scopes[inner].Parent
		at := r.Scopes[inner].Function
		f := w.inline[at]
		if f.linkage == 0 {
			f = w.function(r, at, &w.inline[at], &d[atInlineLinkage], &d[atInlineFunction])
		}
		to.Lengthen(1)
		to.Elements = append(to.Elements, pqfile.Element{int32(f.readable - 1), int32(f.linkage - 1),
			word(r, call.File, w.inlineFile, &d[atInlineFile]), pqfile.LineNumber(call.Line), pqfile.LineNumber(call.Column)})
	}
	if c := &w.chains[inner]; c.mark == w.mark {
		to.Lengthen(c.to - c.from)
		to.Elements = append(to.Elements, to.Elements[c.from:c.to]...)
	}
	end := len(to.Elements)
	for at := from; w.chains[scope].mark != w.mark; at++ {
		w.chains[scope] = chain{w.mark, at, end}
		if scope = r.Scopes[scope].Parent; scope < 0 {
			break
		}
	}
	to.List += end - from
	return uint32(end - from)
}

// word gives the number in a column of string i of a run.
func word(r *symbol.Run, i uint32, known []uint32, d *pqfile.Dictionary) int32 {
	if n := known[i]; n > 0 {
		return int32(n - 1)
	}
	n := d.Add(d.Texts.Add(pqfile.Printable(r.Strings[i])))
	known[i] = uint32(n + 1)
	return n
}

// function makes a function's name, string i of a run, known in the columns of linkage names and of readable ones.
func (w *ranges) function(r *symbol.Run, i uint32, known *function, linkage, readable *pqfile.Dictionary) function {
	n := w.linkage[i] - 1
	if w.linkage[i] == 0 {
		s := r.Strings[i]
		if !w.printable[i] {
			s = pqfile.Printable(s)
			w.printable[i] = len(s) == len(r.Strings[i]) // else it became longer
		}
		n = linkage.Texts.Add(s)
		w.linkage[i] = n + 1
		w.readable = grown(w.readable, int(n)+1)
		if w.readable[n] == 0 {
			if w.script {
				w.readable[n] = readable.Texts.Add(s) + 1
			} else {
				w.readable[n] = w.forms.add(readable.Texts, i, s) + 1
			}
		}
	}
	*known = function{uint32(linkage.Add(n)) + 1, uint32(readable.Add(w.readable[n]-1)) + 1}
	return *known
}
