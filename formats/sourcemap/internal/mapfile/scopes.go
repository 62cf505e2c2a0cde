package mapfile

import (
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/symbol"
)

// Items of scopes begin with one of these (ECMA-426, scopes proposal).
const (
	itemNone       = 0 // a source without scopes
	itemScope      = 1 // an original scope begins
	itemScopeEnd   = 2
	itemRange      = 4 // a generated range begins
	itemRangeEnd   = 5
	itemCallSite   = 8
	scopeHasName   = 1
	scopeHasKind   = 2
	scopeIsFrame   = 4
	rangeHasLine   = 1
	rangeHasScope  = 2
	rangeIsFrame   = 4
	maxScopesDepth = 1 << 12
)

// Node is a function in one place of the inline tree, as symbol.Scope.
type Node struct {
	Parent   int32
	Function uint32
	Call     symbol.Site
}

// Border is where another node begins to answer.
type Border struct {
	At   uint64 // position
	Node int32
	Of   int32 // the function of the script; 0: outside all, or not known
}

// scopeReader reads the scopes of a map: original scopes name functions, and
// generated ranges say where they stand in the script, inlined or not.
type scopeReader struct {
	numbers
	names  func(i int64) (index uint32, ok bool) // of the map
	source func(i uint64) (index uint32, ok bool)
	most   int // scopes, and ranges
	depth  int // of inlined functions

	functions []uint32 // by original scope: the function around it
	open      []int    // original scopes
	name      int64
	line      int64 // of original scopes, in the tree that is read
	column    int64

	where  Position // of generated ranges
	start  Position // of the map in the script
	def    int64
	ranges []int32 // open ones: their nodes

	nodes   []Node
	borders []Border
}

// ReadScopes reads the scopes of a map that stands at start in the script. It returns nodes, numbered
// from base on, and the borders between their answers. names and sources are the map's, as indices into
// a run's strings.
func ReadScopes(t *json.Reader, l *Layout, base int32, names, sources []uint32, start Position) ([]Node, []Border, error) {
	b, err := stringAt(t, l.Scopes)
	if err != nil {
		return nil, nil, err
	}
	r := scopeReader{
		numbers: numbers{b: b, from: l.Scopes.From + 1, section: "scopes"},
		names: func(i int64) (uint32, bool) {
			if i < 0 || i >= int64(len(names)) {
				return 0, false
			}
			return names[i], true
		},
		source: func(i uint64) (uint32, bool) {
			if i >= uint64(len(sources)) {
				return 0, false
			}
			return sources[i], true
		},
		most: t.In.Limits.Symbols, depth: t.In.Limits.InlineDepth, start: start,
	}
	err = r.read(base)
	return r.nodes, r.borders, err
}

// read decodes all items. Nodes are numbered from base on.
func (r *scopeReader) read(base int32) error {
	r.where = r.start
	for r.numbers.at < len(r.b) {
		start := r.numbers.at
		if r.b[start] == ',' {
			r.numbers.at++
			continue
		}
		tag, err := r.unsigned()
		if err != nil {
			return err
		}
		switch tag {
		case itemScope:
			err = r.scope(start)
		case itemScopeEnd:
			err = r.scopeEnd(start)
		case itemRange:
			err = r.generated(start, base)
		case itemRangeEnd:
			err = r.generatedEnd(start)
		case itemCallSite:
			err = r.callSite(start, base)
		}
		if err != nil {
			return err
		}
		for !r.ends() { // what this reader has no use for
			if _, err := r.unsigned(); err != nil {
				return err
			}
		}
		if r.numbers.at < len(r.b) && r.b[r.numbers.at] != ',' {
			return r.fault(r.numbers.at, "',' behind an item")
		}
	}
	if len(r.open) > 0 || len(r.ranges) > 0 {
		return r.fault(len(r.b), "the end of every scope and range")
	}
	return nil
}

// step reads a line and a column, told against the ones before.
func (r *scopeReader) step(line, column *int64) error {
	l, err := r.unsigned()
	if err != nil {
		return err
	}
	start := r.numbers.at
	c, err := r.unsigned()
	if err != nil {
		return err
	}
	if *line += int64(l); l > 0 {
		*column = 0
	}
	if *column += int64(c); *line > MostNumber || *column > MostNumber {
		return r.fault(start, "lines and columns up to "+strconv.Itoa(MostNumber))
	}
	return nil
}

func (r *scopeReader) scope(start int) error {
	flags, err := r.unsigned()
	if err != nil {
		return err
	}
	if len(r.open) == 0 { // the tree of another source
		r.line, r.column = 0, 0
	}
	if err := r.step(&r.line, &r.column); err != nil {
		return err
	}
	function := uint32(0)
	if flags&scopeHasName != 0 {
		d, err := r.signed()
		if err != nil {
			return err
		}
		r.name += d
		i, ok := r.names(r.name)
		if !ok {
			return r.fault(start, "a name of the map, not "+strconv.FormatInt(r.name, 10))
		}
		function = i
	}
	if flags&scopeIsFrame == 0 {
		if function = 0; len(r.open) > 0 {
			function = r.functions[r.open[len(r.open)-1]]
		}
	}
	if len(r.functions) >= r.most || len(r.open) >= maxScopesDepth {
		return TooMuch(r.section, r.from+int64(start), "fewer scopes")
	}
	r.open = append(r.open, len(r.functions))
	r.functions = append(r.functions, function)
	return nil
}

func (r *scopeReader) scopeEnd(start int) error {
	if len(r.open) == 0 {
		return r.fault(start, "an open scope")
	}
	r.open = r.open[:len(r.open)-1]
	return r.step(&r.line, &r.column)
}

// place reads where a generated range begins or ends.
func (r *scopeReader) place(start int, hasLine bool) error {
	line := uint64(0)
	if hasLine {
		var err error
		if line, err = r.unsigned(); err != nil {
			return err
		}
	}
	column, err := r.unsigned()
	if err != nil {
		return err
	}
	if line >= symbol.MaxLine || column > MostNumber || uint64(r.where.Line)+line >= symbol.MaxLine || uint64(r.where.Column)+column > MostNumber {
		return r.fault(start, "lines and columns of a script")
	}
	r.where = r.where.Plus(uint32(line), uint32(column))
	return nil
}

func (r *scopeReader) generated(start int, base int32) error {
	flags, err := r.unsigned()
	if err != nil {
		return err
	}
	if err := r.place(start, flags&rangeHasLine != 0); err != nil {
		return err
	}
	n := Node{Parent: -1}
	if k := len(r.ranges); k > 0 && flags&rangeIsFrame == 0 {
		if up := r.ranges[k-1]; up >= base {
			n = r.nodes[up-base]
		}
	}
	if flags&rangeHasScope != 0 {
		d, err := r.signed()
		if err != nil {
			return err
		}
		if r.def += d; r.def < 0 || r.def >= int64(len(r.functions)) {
			return r.fault(start, "a scope below "+strconv.Itoa(len(r.functions))+", not "+strconv.FormatInt(r.def, 10))
		}
		n.Function = r.functions[r.def]
	}
	if len(r.nodes) >= r.most || len(r.ranges) >= maxScopesDepth {
		return TooMuch(r.section, r.from+int64(start), "fewer ranges")
	}
	r.ranges = append(r.ranges, base+int32(len(r.nodes)))
	r.nodes = append(r.nodes, n)
	r.border(r.ranges[len(r.ranges)-1])
	return nil
}

func (r *scopeReader) generatedEnd(start int) error {
	if len(r.ranges) == 0 {
		return r.fault(start, "an open range")
	}
	first := r.numbers.at // one number is a column, two are line and column
	if _, err := r.unsigned(); err != nil {
		return err
	}
	two := !r.ends()
	r.numbers.at = first
	if err := r.place(start, two); err != nil {
		return err
	}
	r.ranges = r.ranges[:len(r.ranges)-1]
	outer := int32(0)
	if k := len(r.ranges); k > 0 {
		outer = r.ranges[k-1]
	}
	r.border(outer)
	return nil
}

// callSite makes the range that was begun last one inlined into that around it.
func (r *scopeReader) callSite(start int, base int32) error {
	var v [3]uint64
	for i := range v {
		var err error
		if v[i], err = r.unsigned(); err != nil {
			return err
		}
	}
	k := len(r.ranges)
	file, ok := r.source(v[0])
	if k == 0 || !ok || v[1] >= MostNumber || v[2] > MostNumber {
		return r.fault(start, "a source, line and column inside a range")
	}
	n := &r.nodes[r.ranges[k-1]-base]
	if n.Parent = 0; k > 1 {
		n.Parent = r.ranges[k-2]
	}
	for depth, up := 0, n.Parent; up >= base; depth, up = depth+1, r.nodes[up-base].Parent {
		if depth >= r.depth {
			return TooMuch(r.section, r.from+int64(start), "functions less deeply inlined")
		}
	}
	n.Call = symbol.Site{File: file, Line: uint32(v[1]) + 1, Column: uint32(v[2])}
	return nil
}

// border notes that node answers from here on. Of several at one position the last counts.
func (r *scopeReader) border(node int32) {
	at := uint64(r.where.Line)<<32 | uint64(r.where.Column)
	if k := len(r.borders); k > 0 && r.borders[k-1].At == at {
		r.borders[k-1].Node = node
		return
	}
	r.borders = append(r.borders, Border{At: at, Node: node})
}
