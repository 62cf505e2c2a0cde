package symbol

// Rank orders sources of ranges; the lowest wins. Durable: stored in records.
type Rank uint8

// The ranks of native sources.
const (
	RankDWARF Rank = 1 // units of DWARF: functions or line tables
	// RankBreakpad ranks the functions of Breakpad's files: made of DWARF, without columns.
	RankBreakpad Rank = 2
	RankSymtab   Rank = 3 // .symtab, also the one inside .gnu_debugdata
	RankDynsym   Rank = 4 // .dynsym
)

// Run is code: a contiguous piece of a function, or of the code between functions. Parsers emit runs,
// the sorter sorts them and the sweep makes them disjoint. The ranges of a run ascend without gaps
// (Ranges[i].End == Ranges[i+1].Start), have one rank and share a table of scopes.
//
// Functions and files are indices into Strings, so ranges and scopes hold no pointers and equal
// strings are handled once. Strings belongs to one part (a unit, a symbol table), to several parts
// (see Table), or after the sorter to the whole load. It only grows from run to run, an index keeps
// its meaning, and index 0 is "".
//
// A run and all that it points at are valid during the call that hands it over. Strings may alias
// the object's bytes: clone a string to keep it, or to use it after the object is closed where
// formats.Artifact has Lasting.
type Run struct {
	Rank    Rank
	Strings []string
	// Table, when not nil, identifies the table in Strings. Runs with equal tables share it, also
	// from part to part, so a consumer looks at each string only once. It is comparable.
	Table  any
	Ranges []Range
	Scopes []Scope // parents before children
}

// Range is [Start, End) from the image base, with one answer.
type Range struct {
	Start, End uint64
	Scope      int32 // the innermost scope, an index into Run.Scopes
	At         Site
}

// Scope is a function, or a function inlined into its parent.
type Scope struct {
	Parent   int32  // index into Run.Scopes, below the scope's own; -1: outermost
	Function uint32 // linkage name if it has one, else its qualified name; index into Run.Strings, 0: unknown
	Call     Site   // where Parent calls it; zero if outermost
}

// Site is a place in source text. Line and Column count from 1; 0: unknown. In a script's sources
// Column counts from 0, in UTF-16 units, as in the map, and is known where Line is.
type Site struct {
	File   uint32 // index into Run.Strings; 0: unknown
	Line   uint32
	Column uint32
}

// Chain appends the answer of Ranges[i] to to, innermost first. Function stays empty: the client
// demangles.
func (r *Run) Chain(i int, to []Frame) []Frame {
	at := r.Ranges[i].At
	for s := r.Ranges[i].Scope; s >= 0; s = r.Scopes[s].Parent {
		to = append(to, Frame{
			Linkage: r.Strings[r.Scopes[s].Function],
			File:    r.Strings[at.File],
			Line:    at.Line,
			Column:  at.Column,
		})
		at = r.Scopes[s].Call
	}
	return to
}
