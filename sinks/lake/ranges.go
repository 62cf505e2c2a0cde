package lake

import (
	"math"

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
	for i := range r.Ranges {
		if w.o.g.Rows%checkRows == 0 && w.o.g.Full() {
			if err := w.flush(); err != nil {
				return err
			}
			w.mark++
		}
		var mark symbol.Mark
		if marks != nil {
			mark = marks[i]
		}
		w.row(r, &r.Ranges[i], mark)
		if w.o.g.Open.Full() {
			if err := w.o.page(); err != nil {
				return err
			}
			w.mark++
		}
	}
	return nil
}

func (w *ranges) row(r *symbol.Run, g *symbol.Range, mark symbol.Mark) {
	if g.End > math.MaxInt64 {
		w.left++
		return
	}
	to := w.o.g
	v, d := to.Open.Columns, to.Dicts
	if to.Open.Rows == cap(v[atStart].Longs) {
		to.Widen()
	}
	if !w.named {
		w.artifactN, w.loadN = d[atArtifact].Add(d[atArtifact].Texts.Add(w.artifact)), d[atLoad].Add(d[atLoad].Texts.Add(w.load))
		w.named = true
	}
	v[atArtifact].Ints = append(v[atArtifact].Ints, w.artifactN)
	v[atLoad].Ints = append(v[atLoad].Ints, w.loadN)
	v[atStart].Longs = append(v[atStart].Longs, int64(g.Start))
	v[atEnd].Longs = append(v[atEnd].Longs, int64(g.End))
	s := &r.Scopes[g.Scope]
	f := w.outer[s.Function]
	if f.linkage == 0 {
		f = w.function(r, s.Function, &w.outer[s.Function], &d[atLinkage], &d[atFunction])
	}
	v[atFunction].Ints = append(v[atFunction].Ints, int32(f.readable-1))
	v[atLinkage].Ints = append(v[atLinkage].Ints, int32(f.linkage-1))
	v[atFile].Ints = append(v[atFile].Ints, word(r, g.At.File, w.file, &d[atFile]))
	v[atLine].Ints = append(v[atLine].Ints, pqfile.LineNumber(g.At.Line))
	v[atCol].Ints = append(v[atCol].Ints, pqfile.LineNumber(g.At.Column))
	v[atName].Ints = append(v[atName].Ints, word(r, mark.Name, w.name, &d[atName]))
	v[atIgnored].Ints = append(v[atIgnored].Ints, one(mark.Flags&symbol.Ignored != 0))
	v[atLinear].Ints = append(v[atLinear].Ints, one(mark.Flags&symbol.Linear != 0))
	callers := w.callers(r, g.Scope)
	v[atDepth].Ints = append(v[atDepth].Ints, int32(1+callers))
	to.Open.Lengths = append(to.Open.Lengths, uint32(callers))
	to.Open.List += callers
	to.Open.Rows++
	to.Rows++
	w.rows++
}

func one(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}

// callers appends the callers of a scope of a run and returns their number.
func (w *ranges) callers(r *symbol.Run, scope int32) int {
	to, d := w.o.g.Open, w.o.g.Dicts
	from := len(to.Elements)
	if c := &w.chains[scope]; c.mark == w.mark {
		to.Lengthen(c.to - c.from)
		to.Elements = append(to.Elements, to.Elements[c.from:c.to]...)
		return c.to - c.from
	}
	for s := &r.Scopes[scope]; s.Parent >= 0; {
		call := &s.Call
		s = &r.Scopes[s.Parent]
		f := w.inline[s.Function]
		if f.linkage == 0 {
			f = w.function(r, s.Function, &w.inline[s.Function], &d[atInlineLinkage], &d[atInlineFunction])
		}
		to.Lengthen(1)
		to.Elements = append(to.Elements, pqfile.Element{int32(f.readable - 1), int32(f.linkage - 1),
			word(r, call.File, w.inlineFile, &d[atInlineFile]), pqfile.LineNumber(call.Line), pqfile.LineNumber(call.Column)})
	}
	w.chains[scope] = chain{w.mark, from, len(to.Elements)}
	return len(to.Elements) - from
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
