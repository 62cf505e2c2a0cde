package explode

import (
	"context"
	"errors"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Exploder explodes the units of one object, one part each. It is safe for
// concurrent use.
type Exploder struct {
	// Split finds where the entries of a split unit are; nil: they are not
	// looked for. A nil Pack means that they are missing: the unit yields its
	// line table and counts as missing. So does an error that rejects, which is
	// noted as a warning. done is called when the unit has been read. Set it
	// before the first part; it is called from several goroutines.
	Split func(ctx context.Context, s *dwarf.Skeleton) (p *dwarf.Pack, done func(), err error)

	// Apart says that the linker puts each function somewhere by itself, so that what stands beside one in the object
	// is not beside it in the image. A row then counts for the function that it begins in alone, and what lies
	// between functions, of a unit that has some, is left to the symbol table: dsymutil keeps no more. Set it
	// before the first part.
	Apart bool

	d     *dwarf.Data
	img   *native.Image
	lim   formats.Limits
	zero  bool // there is code at address 0
	parts sync.Pool
}

// live reports whether [low, high) is code of the image.
func (x *Exploder) live(low, high uint64) bool {
	if low == 0 && !x.zero {
		return false
	}
	s, ok := x.img.Span(low)
	return ok && high <= s.End
}

// part explodes one unit. Its memory is used again for the next one.
type part struct {
	x    *Exploder
	r    *dwarf.Reader
	ctx  context.Context // of the call
	emit func(*symbol.Run) error
	err  error // of emit

	tree    tree
	settle  settle
	flatten flatten
	lines   lines
	strings texts
	run     run
	files   []uint32 // string index+1 of the unit's files, 0: not looked up
	paths   int64    // bytes of their paths
	covered []native.Span
}

func damaged(err error) bool {
	return errors.Is(err, formats.ErrCorrupt) || errors.Is(err, formats.ErrUnsupported)
}

// node is a function, or a function inlined into its parent.
type node struct {
	parent, root int32 // indices in tree.nodes; root is the outermost
	first, count int32 // its intervals; none: of a scattered unit, and nodes inside have some
	depth        int32
	name         uint32 // string index, once part.name has run
	scope        int32  // in the run of stamp
	stamp        uint32
	origin       dwarf.Ref
	file         uint32 // raw index
	line, column uint32
}

// interval is code of a node, inside its parent's; of its root where the
// unit is scattered.
type interval struct {
	native.Span
	node int32
}

// group is an outermost function with all inside it, functions too: its nodes
// and intervals.
type group struct {
	node, interval int32 // the first ones; the next group's end them
}

// tree holds the functions that have been walked and not yet flattened.
type tree struct {
	nodes     []node
	intervals []interval
	groups    []group
	open      []int32 // nodes that the walk is inside of, -1: no code
	live      int     // length of open when the open group began, -1: none is
	scattered bool    // see dwarf.Unit
	ranges    []native.Span
}

// flatten holds what flattening one group needs.
type flatten struct {
	keys  []uint64   // intervals to come: start from the group's lowest, index
	room  []uint64   // for sorting them
	order []int32    // the same, for groups that do not fit keys
	stack []interval // begun: the last one has the code
	own   []native.Span
	clip  bool // emit only code in own
}

// lines is the unit's line table with a position in it: code is mostly asked
// for in the order of its addresses.
type lines struct {
	table *dwarf.Lines // nil: not loaded
	seq   int          // index of the sequence that rows are of, -1: none
	rows  []dwarf.Row
	row   int

	place dwarf.Place // the last one looked up
	site  symbol.Site
	known bool
}

// claim is code that a group of functions claims.
type claim struct {
	native.Span
	group int32
}

// settle decides which group has which code.
type settle struct {
	claims  []claim
	owned   []claim // backs own
	own     []claim // disjoint; ascending, in the end by group
	beaten  []bool  // by group: it does not have all that it claims
	lost    bool    // any group is beaten
	covered []native.Span
	pieces  []native.Span
}

// texts is the string table of the parts that one part explodes. Names are
// used by many units, so it is kept from unit to unit.
type texts struct {
	list    []string
	id      any               // of the table, see symbol.Run
	bytes   int64             // of strings that are copies
	byKey   [16]table         // by the upper 4 bits of the key
	byText  map[string]uint32 // of strings without a key
	origins table             // names of entries: Ref to index+1
	asked   []asked
}

// asked is an entry with a name to be looked up, and in the end its index.
type asked struct {
	origin dwarf.Ref
	text   dwarf.Text
	name   uint32
}

// pending marks numbers in asked among the numbers of strings.
const pending = 1 << 31

// run is the run that is being built: a contiguous piece of one outermost
// function.
type run struct {
	out   symbol.Run
	root  int32  // the outermost node, -1: none, or code of no function
	stamp uint32 // of out: nodes with this stamp are in Scopes
	scope int32  // of the node that entered last
	file  uint32 // that the symbol table names: for outermost code without rows
	next  uint64 // where out ends, unslid
}
