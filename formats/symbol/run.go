package symbol

import "strings"

// Rank orders sources of ranges; the lowest wins. Durable: stored in records.
type Rank uint8

// The ranks of native sources.
const (
	RankDWARF Rank = 1 // units of DWARF: functions or line tables
	// RankBreakpad is that of functions in Breakpad's files: made of DWARF, without columns.
	RankBreakpad Rank = 2
	RankSymtab   Rank = 3 // .symtab, also the one inside .gnu_debugdata
	RankDynsym   Rank = 4 // .dynsym
)

// Run is what parsers emit, the sorter sorts and the sweep hands on: ascending,
// disjoint ranges of one rank that share a scope table. A run is one
// contiguous piece of a function (or of what stands between functions); it has
// no gaps inside: Ranges[i].End == Ranges[i+1].Start.
//
// Functions and files are indices into Strings, so ranges and scopes hold no
// pointers and equal strings are handled once. Strings belongs to the part
// (one unit, one symbol table), to several of them (see Table), or downstream of
// the sorter to the whole load: it only grows from run to run, an index keeps
// its meaning, and index 0 is "".
//
// A run and what it points at are valid during the call that hands it over
// only. Strings may alias the object's bytes: clone what is kept, or what outlives
// the object where formats.Artifact has Lasting.
type Run struct {
	Rank    Rank
	Strings []string
	// Table, when not nil, says which table Strings is: runs with equal ones
	// share it from part to part too, so that a consumer need look at each string
	// only once. It is comparable.
	Table  any
	Ranges []Range
	Scopes []Scope // parents before children
	// Class, when not nil, is all that the run holds: one class of a mapping. Its position is
	// made of its name, under the load's key. Its strings are its own, not of Strings.
	Class *Class
	// Packed is a class as sinks/row packs it, in place of Class, and Position where it stands: what the sorter
	// of ingest hands on.
	Packed   []byte
	Position uint64
}

// Range is [Start, End) from the image base, with one answer.
type Range struct {
	Start, End uint64
	Scope      int32 // the innermost scope, an index into Run.Scopes
	At         Site
	Name       uint32 // scripts: the identifier that the map gives here, an index into Run.Strings; 0: none
	Flags      Flags  // scripts
}

// Scope is a function, or a function inlined into its parent.
type Scope struct {
	Parent   int32  // index into Run.Scopes, below the scope's own; -1: outermost
	Function uint32 // linkage name if it has one, else its qualified name; index into Run.Strings, 0: unknown
	Call     Site   // where Parent calls it; zero if outermost
}

// Site is a place in source text. Line and Column count from 1; 0: unknown. In
// a script's sources Column counts from 0, in UTF-16 units, as in the map, and is
// known where Line is.
type Site struct {
	File   uint32 // index into Run.Strings; 0: unknown
	Line   uint32
	Column uint32
}

// Chain appends the answer of Ranges[i] to to, innermost first. Function is
// left empty: demangling is the client's.
func (r *Run) Chain(i int, to []Frame) []Frame {
	at := r.Ranges[i].At
	first := len(to)
	for s := r.Ranges[i].Scope; s >= 0; s = r.Scopes[s].Parent {
		to = append(to, Frame{
			Linkage: r.Strings[r.Scopes[s].Function],
			File:    r.Strings[at.File],
			Line:    at.Line,
			Column:  at.Column,
		})
		at = r.Scopes[s].Call
	}
	if r.Rank == RankScript && first < len(to) {
		to[first].Name = r.Strings[r.Ranges[i].Name]
		to[first].Ignored = r.Ranges[i].Flags&Ignored != 0
	}
	return to
}

// Frame is one line of an answer.
type Frame struct {
	Function string // demangled; filled by the lookup client
	Linkage  string // as stored
	File     string // "": unknown
	Line     uint32 // 0: unknown
	Column   uint32 // 0: unknown; see Site
	Name     string // scripts: the identifier that the map gives at this place, as the source spells it; "": none
	Ignored  bool   // scripts: the source is none of the application's own
}

// Readable returns the function's name for people: demangled, or as stored where the client filled in no other.
func (f *Frame) Readable() string {
	if f.Function != "" {
		return f.Function
	}
	return f.Linkage
}

// Quality says how much of an artifact a load explains. Parsers fill Units,
// UnitsBroken, LinesBroken, Text and Split per part, ingest sums them and adds the rest
// from the swept ranges.
type Quality struct {
	Units       uint32 `json:"units"`
	UnitsBroken uint32 `json:"units_broken"`
	LinesBroken uint32 `json:"lines_broken"` // line number programs, or sequences of them, that were dropped

	Text       uint64 `json:"text"`        // bytes of executable segments (reported once, by part 0)
	Covered    uint64 `json:"covered"`     // bytes with an answer
	WithLine   uint64 `json:"with_line"`   // bytes whose innermost frame has a line
	WithInline uint64 `json:"with_inline"` // bytes with more than one frame

	// Of mappings: lines that say something, those among them that do not parse, and what a
	// person should know ("line 12, column 5: want …"), without the text itself. Parsers give
	// the first few of a part.
	Lines    uint64   `json:"lines,omitempty"`
	BadLines uint64   `json:"bad_lines,omitempty"`
	Warnings []string `json:"warnings,omitempty"`

	// Missing names what the object refers to and this load could not read:
	// "dwo:ID" (16 hex digits; "dwo:NAME" of units without), "dwz:BUILD-ID". Sorted, without repeats.
	Missing []string `json:"missing,omitempty"`
}

// Add adds what a parser says of another part: sums, and copies of the names of
// what is missing. Warnings stay the caller's, who knows the order of parts.
func (q *Quality) Add(part Quality) {
	q.Units += part.Units
	q.UnitsBroken += part.UnitsBroken
	q.LinesBroken += part.LinesBroken
	q.Text += part.Text
	q.Lines += part.Lines
	q.BadLines += part.BadLines
	for _, m := range part.Missing {
		q.Missing = append(q.Missing, strings.Clone(m))
	}
}
