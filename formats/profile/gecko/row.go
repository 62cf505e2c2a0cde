package gecko

import "github.com/symlake/symlake/formats/profile"

// plan is how tables change. Rows keep their numbers, but for stacks: an inlined function becomes a row behind the function
// that has it, and callers stand before what they call.
type plan struct {
	t       *tables
	p       *places
	counts  *profile.Counts
	frames  map[int32]*frameRow // that change
	funcs   map[int32]*funcRow
	framed  []*frameRow // that are added
	funced  []*funcRow
	symbols []symbolRow
	located []location

	fnOf     map[fnKey]int32
	symbolOf map[symbolKey]int32
	answered map[int32]int // frames of a function that have answers
	total    map[int32]int
	paths    map[int32][2]path // of frames that become several, or another one where they are a sample's own
	stacks   *stackPlan
}

// path is rows of the table of frames, outermost first.
type path []int32

// frameRow is the new values of a frame. base is the row that an added one takes all other values from.
type frameRow struct {
	base                   int32
	fn, symbol, original   int32
	location               int32
	line, column           uint32
	depth                  int
	keepPlace, keepSymbol  bool
	withLocation, withFunc bool
}

// funcRow is the new values of a function.
type funcRow struct {
	base, name, file, original int32
	at                         [2]uint32
	keepFile, keepPlace        bool
}

// symbolRow is a row of the table of native symbols.
type symbolRow struct {
	lib     int32
	address uint64
	name    int32
}

// location is a row of the table of places in sources.
type location struct {
	source       int32
	line, column uint32
}

// fnKey tells functions apart: a name in a file of a resource is one function.
type fnKey struct {
	resource   int32
	name, file string
	script     bool
}

// symbolKey is what tells symbols of a library apart.
type symbolKey struct {
	lib  int32
	name string
}

// stackPlan is the new table of stacks.
type stackPlan struct {
	frame, caller []int32
	base          []int32 // rows that are made of an old one begin here; one more at the end
	leaf, other   []int32 // of each old stack: the new one, where a sample ends there, and where it is a caller or taken by the program
}
