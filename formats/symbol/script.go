package symbol

// SourceMap is the kind of every map from the positions of a script, or of
// Hermes bytecode, to its sources. Canonical is the map's debug id, else
// "sha256:…" of what formats/sourcemap documents.
const SourceMap Kind = "sourcemap"

// NamePath is the kind of a script's path, as far as it is known, with
// slashes: where several scripts have one file name, the URL that a frame gives
// chooses by the longest common end.
const NamePath NameKind = "path"

// RankScript is the rank of a source map's ranges.
const RankScript Rank = 8

// Script is what a source map says of positions in a script (see ScriptPosition): a run of
// RankScript, and a mark of each of its ranges. The rules of Run hold for it.
type Script struct {
	Run
	Marks []Mark // Marks[i] is of Ranges[i]
}

// Mark is what a map says of a range besides its place.
type Mark struct {
	Name uint32 // the identifier that the map gives here, an index into Run.Strings; 0: none
	// Compiled is the function of the script around the range, an index into Run.Strings; 0: unknown, or called as the
	// function of the innermost frame.
	Compiled uint32
	Flags    Flags
}

// Chain appends the answer of Ranges[i] to to, innermost first. The innermost frame carries the mark.
func (s *Script) Chain(i int, to []Frame) []Frame {
	first := len(to)
	if to = s.Run.Chain(i, to); first < len(to) {
		to[first].Name, to[first].Compiled = s.Strings[s.Marks[i].Name], s.Strings[s.Marks[i].Compiled]
		to[first].Ignored = s.Marks[i].Flags&Ignored != 0
	}
	return to
}

// Flags say more of a range of a script.
type Flags uint8

const (
	// Ignored says that the map lists the source as none of the application's own.
	Ignored Flags = 1 << iota
	// Linear says that the answer moves with the position: see Flags.At.
	Linear
	// OverLines says that a linear range may go over the ends of lines. Other ranges of a script lie in one line.
	OverLines
)

// At returns the answer for pos, in a range that begins at start and says at for it. A linear range's column grows by
// one with each position of the line that it begins in. In each line below, the answer's line grows by one, and its
// column is the script's.
func (f Flags) At(at Site, start, pos uint64) Site {
	switch lines := uint32(pos>>32 - start>>32); {
	case f&Linear == 0:
	case lines == 0:
		at.Column += uint32(pos - start)
	default:
		at.Line, at.Column = at.Line+lines, uint32(pos)
	}
	return at
}

// A position of a script is its line and column, both from 0, columns in
// UTF-16 units: what source maps count. Lines from tableLine on are none of the script's:
// there stand the tables that runtimes count by.
const (
	// MaxLine is the number of lines of a script that have a position.
	MaxLine = 1 << 24
	// MaxSegments is how many scripts may share one map (React Native's
	// segments); script n has the lines from n * MaxLine on.
	MaxSegments = 1 << 6
	// TablesEnd is behind the last position of a table.
	TablesEnd = (tableLine + 2*MaxSegments) << 32

	tableLine   = 1 << 30
	hermesTable = 0
	moduleTable = 1
)

// ScriptPosition is the position of a line and column; ok is false for a line
// that has none.
func ScriptPosition(segment, line, column uint32) (pos uint64, ok bool) {
	return uint64(segment*MaxLine+line)<<32 | uint64(column), segment < MaxSegments && line < MaxLine
}

// HermesFunction is the position that answers where a function of a unit of a
// segment's bytecode begins: in the answer's Column. A unit is a line of the map.
func HermesFunction(segment, unit, function uint32) (pos uint64, ok bool) {
	return uint64(tableLine+hermesTable*MaxSegments+segment)<<32 | uint64(unit<<24|function),
		segment < MaxSegments && unit < 1<<8 && function < 1<<24
}

// ModuleOffset is the position that answers at which line of the segment a
// module of a RAM bundle begins: in the answer's Line.
func ModuleOffset(segment, module uint32) uint64 {
	return uint64(tableLine+moduleTable*MaxSegments+segment)<<32 | uint64(module)
}
