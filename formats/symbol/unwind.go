package symbol

// Unwind is call frame information: how a caller's registers follow from its callee's registers, at each place of some
// code. Parsers emit pieces of it in any order; ingest sorts them and makes them disjoint: of two that overlap the one of
// the lower rank counts, of equal ranks the earlier piece; a range with rules 0 says nothing. A piece has at least one range and at most
// formats.Limits.RunRanges; the pieces of many functions in one save much work.
//
// An Unwind and all that it points at are valid during the call that hands it over.
type Unwind struct {
	Rank   UnwindRank
	Rules  []string // in the form of package formats/unwind; index 0 is "": nothing is known there
	Ranges []UnwindRange
}

// UnwindRange is [Start, End) from the image base, with one set of rules. Start < End < 2^64 - 1.
type UnwindRange struct {
	Start, End uint64
	Rules      uint32 // index into Unwind.Rules
}

// UnwindRank orders sources of call frame information; the lowest wins. It is not stored.
type UnwindRank uint8

// The ranks of call frame information.
const (
	UnwindDebug   UnwindRank = 1 // .debug_frame, STACK CFI and STACK WIN: made for debuggers
	UnwindRuntime UnwindRank = 2 // .eh_frame, .pdata: made for exceptions, exact at calls
	UnwindCompact UnwindRank = 3 // compact unwind, .ARM.exidx: one rule a function
)
