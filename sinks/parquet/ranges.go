package parquet

import (
	"math"

	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/formats/symbol"
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
	g        *rowGroup
	full     func() error // writes the row group out
	artifact string
	load     string
	// number + 1 of the word that a string of the load is, in each column of texts; 0: none yet
	linkage, file, inlineLinkage, inlineFile, name []uint32
	script                                         bool     // of which no name is mangled, whatever it looks like
	shown, older                                   []string // readable names, by string: of this row group, and of the one before
	left                                           uint64   // out, since their positions are no BIGINT
	rows                                           uint64   // of the load
}

func newRanges(g *rowGroup, full func() error) *ranges {
	r := &ranges{g: g, full: full}
	v := g.vectors
	v[atFunction].alike, v[atInlineFunction].alike = &v[atLinkage], &v[atInlineLinkage]
	return r
}

// begin begins the rows of a load.
func (w *ranges) begin(id symbol.ID, k symbol.Kind, load string) {
	w.artifact, w.script, w.load, w.left, w.rows = id.String(), k == symbol.SourceMap, load, 0, 0
	w.forget()
	clear(w.older)
}

// forget makes the words of the row group known to nobody: it, or the load, is another one.
func (w *ranges) forget() {
	clear(w.linkage)
	clear(w.file)
	clear(w.inlineLinkage)
	clear(w.inlineFile)
	clear(w.name)
	w.shown, w.older = w.older, w.shown
	clear(w.shown)
}

func grown(s []uint32, n int) []uint32 {
	if len(s) >= n {
		return s
	}
	return append(s, make([]uint32, n-len(s))...)
}

// checkRows is how often a row group is looked at for being full.
const checkRows = 1024

// add takes a run.
func (w *ranges) add(r *symbol.Run) error {
	n := len(r.Strings)
	w.linkage, w.file = grown(w.linkage, n), grown(w.file, n)
	w.inlineLinkage, w.inlineFile, w.name = grown(w.inlineLinkage, n), grown(w.inlineFile, n), grown(w.name, n)
	if len(w.shown) < n {
		w.shown, w.older = append(w.shown, make([]string, n-len(w.shown))...), append(w.older, make([]string, n-len(w.older))...)
	}
	for i := range r.Ranges {
		if w.g.rows%checkRows == 0 && (w.g.rows >= groupRows || w.g.bytes() >= groupBytes) {
			if err := w.full(); err != nil {
				return err
			}
			w.forget()
		}
		w.row(r, &r.Ranges[i])
	}
	return nil
}

func (w *ranges) row(r *symbol.Run, g *symbol.Range) {
	if g.End > math.MaxInt64 {
		w.left++
		return
	}
	v := w.g.vectors
	v[atArtifact].numbers = append(v[atArtifact].numbers, v[atArtifact].words.add(w.artifact))
	v[atLoad].numbers = append(v[atLoad].numbers, v[atLoad].words.add(w.load))
	v[atStart].longs = append(v[atStart].longs, int64(g.Start))
	v[atEnd].longs = append(v[atEnd].longs, int64(g.End))
	s := &r.Scopes[g.Scope]
	v[atLinkage].numbers = append(v[atLinkage].numbers, w.function(r, s.Function, w.linkage, &v[atLinkage], &v[atFunction]))
	v[atFile].numbers = append(v[atFile].numbers, named(r, g.At.File, w.file, &v[atFile]))
	v[atLine].ints = append(v[atLine].ints, number(g.At.Line))
	v[atCol].ints = append(v[atCol].ints, number(g.At.Column))
	name, ignored := uint32(0), int32(0)
	if r.Rank == symbol.RankScript {
		if name = g.Name; g.Flags&symbol.Ignored != 0 {
			ignored = 1
		}
	}
	v[atName].numbers = append(v[atName].numbers, named(r, name, w.name, &v[atName]))
	v[atIgnored].ints = append(v[atIgnored].ints, ignored)
	callers := 0
	for s.Parent >= 0 {
		call := s.Call
		s = &r.Scopes[s.Parent]
		v[atInlineLinkage].numbers = append(v[atInlineLinkage].numbers, w.function(r, s.Function, w.inlineLinkage, &v[atInlineLinkage], &v[atInlineFunction]))
		v[atInlineFile].numbers = append(v[atInlineFile].numbers, named(r, call.File, w.inlineFile, &v[atInlineFile]))
		v[atInlineLine].ints = append(v[atInlineLine].ints, number(call.Line))
		v[atInlineCol].ints = append(v[atInlineCol].ints, number(call.Column))
		callers++
	}
	v[atDepth].ints = append(v[atDepth].ints, int32(1+callers))
	w.g.lengths = append(w.g.lengths, uint32(callers))
	w.g.rows++
	w.rows++
}

// named gives the number of the word that string i of a run is.
func named(r *symbol.Run, i uint32, known []uint32, v *vector) uint32 {
	if n := known[i]; n > 0 {
		return n - 1
	}
	n := v.words.add(printable(r.Strings[i]))
	known[i] = n + 1
	return n
}

// function is named for the name of a function; to each word of v belongs its readable form, a word of shown.
func (w *ranges) function(r *symbol.Run, i uint32, known []uint32, v, shown *vector) uint32 {
	if n := known[i]; n > 0 {
		return n - 1
	}
	n := named(r, i, known, v)
	if int(n) < len(shown.to) {
		return n // another string with the same text
	}
	name := w.shown[i]
	if name == "" {
		switch name = w.older[i]; {
		case w.script:
			name = v.words.list[n]
		case name == "":
			name = demangle.Name(v.words.list[n])
		}
		w.shown[i] = name
	}
	shown.to = append(shown.to, shown.words.keep(name))
	return n
}

// number is a line or column as the tables have it: what is no INTEGER is unknown.
func number(n uint32) int32 {
	if n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}
