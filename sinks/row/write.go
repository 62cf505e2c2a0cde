package row

import (
	"encoding/binary"
	"math"

	"github.com/symlake/symlake/formats/symbol"
)

const (
	// maxRanges and fullBytes close a block. Twice as many ranges save 6 % of
	// the bytes and double what a cold look-up decodes.
	maxRanges = 2560
	fullBytes = 64 << 10
	// blockSlack is room for a block's head, and for the coding of a block
	// that was full before its last range.
	blockSlack = fullBytes + 4096
	// nodeCost is more than the columns take for one node, or one range; so
	// much more that what fits a row has fewer nodes than 16 bits can number.
	nodeCost = 128
)

// blockWriter gathers the columns of one block.
type blockWriter struct {
	strings  []string
	shared   []uint32 // by string: its number in the dictionary plus 1; 0: not in it
	mostCost int      // of one node or range, whatever its names

	model
	cols   [scriptColumns][]byte
	used   int // of cols
	bytes  int // of all columns
	ranges int
	from   uint64 // first position that the block speaks for
	base   uint64 // start of the first range
	end    uint64 // of the range added last; the first position of the block before that
	nodes  []nodeRef
	prev   int32 // node of the range added last; -1
	head   []byte
	out    []byte

	// What the open block knows, valid where the stamp is its own.
	stamp     uint32
	functions []stamped // by string
	files     []stamped
	nFiles    uint32
	index     siteIndex

	script scriptState
	run    *symbol.Run
	marks  []symbol.Mark // of its ranges, if it is of a script
	runAt  uint32
	small  bool      // no range of the open run, with all that it brings, fills a block
	scopes []stamped // of the open run, by scope: its node
	chain  []int32
}

type nodeRef struct {
	parent   int32
	function uint32
}

type stamped struct{ stamp, at uint32 }

func newBlockWriter(strs []string, picked []sorted, script bool) *blockWriter {
	w := &blockWriter{strings: strs, shared: make([]uint32, len(strs)),
		functions: make([]stamped, len(strs)), files: make([]stamped, len(strs)),
		index: siteIndex{slots: make([]int32, 8192)}}
	clear(w.functions) // the kernel maps a page twice that is read before it is written
	for i, s := range picked {
		w.shared[s.at] = uint32(i) + 1
	}
	if script {
		w.script = newScriptState(w.shared)
	}
	longest := 0
	for i, s := range strs {
		if len(s) > longest && w.shared[i] == 0 {
			longest = len(s)
		}
	}
	w.mostCost = nodeCost + 3*longest
	if w.used = columns; script {
		w.used = scriptColumns
	}
	w.reset()
	return w
}

// reset begins an empty block.
func (w *blockWriter) reset() {
	w.model.reset()
	for i := range w.cols {
		w.cols[i] = w.cols[i][:0]
	}
	w.ranges, w.nodes, w.prev, w.nFiles = 0, w.nodes[:0], -1, 0
	w.index.reset()
	w.bytes = 0
	w.stamp++
	w.script.reset()
}

// open says which position the block's positions begin with.
func (w *blockWriter) open(from uint64) {
	w.head = binary.AppendUvarint(w.head[:0], from)
	w.from, w.end = from, from
}

// begin takes a run with the marks of its ranges, or the open run again after a reset.
func (w *blockWriter) begin(r *symbol.Run, marks []symbol.Mark) {
	w.run, w.marks = r, marks
	w.runAt++
	w.small = (len(r.Scopes)+1)*w.mostCost <= fullBytes
	if len(w.scopes) < len(r.Scopes) {
		w.scopes = append(w.scopes, make([]stamped, len(r.Scopes)-len(w.scopes))...)
	}
}

func (w *blockWriter) put(col int, v uint64) { w.bytes += w.code(col, v) }

// code is put for who counts the bytes of several numbers and adds them to w.bytes at once.
func (w *blockWriter) code(col int, v uint64) int {
	if v < 0x80 {
		w.cols[col] = append(w.cols[col], byte(v))
		return 1
	}
	n := len(w.cols[col])
	w.cols[col] = binary.AppendUvarint(w.cols[col], v)
	return len(w.cols[col]) - n
}

// full reports whether the block should close before a range of that cost.
func (w *blockWriter) full(g *symbol.Range, cost int) bool {
	if w.ranges == 0 {
		return false
	}
	return w.ranges >= maxRanges || w.bytes >= fullBytes || cost > fullBytes || !w.script.is && g.Start-w.base > math.MaxUint32
}

// cost returns at least the bytes that range i of the run adds to an empty block, or any number that
// fills none if the range adds less.
func (w *blockWriter) cost(i int) int {
	if w.small {
		return 0 // most are so
	}
	return w.costOf(i)
}

func (w *blockWriter) costOf(i int) int {
	g := &w.run.Ranges[i]
	nodes := 1
	for s := g.Scope; s >= 0 && w.scopes[s].stamp != w.runAt; s = w.run.Scopes[s].Parent {
		nodes++
	}
	if most := nodes * w.mostCost; most <= fullBytes {
		return most // of no consequence: its names need not be looked at
	}
	n := nodeCost + w.text(g.At.File)
	if w.marks != nil {
		n += w.text(w.marks[i].Name)
	}
	for s := g.Scope; s >= 0; s = w.run.Scopes[s].Parent {
		if w.scopes[s].stamp == w.runAt {
			break // it and its parents stand in the block, or were counted
		}
		sc := &w.run.Scopes[s]
		n += nodeCost + w.text(sc.Function) + w.text(sc.Call.File)
	}
	return n
}

func (w *blockWriter) text(s uint32) int {
	if w.shared[s] > 0 {
		return 0
	}
	return len(w.strings[s])
}

// add encodes a range that starts at or after the end of the one before.
func (w *blockWriter) add(g *symbol.Range) {
	if w.ranges == 0 {
		w.base = g.Start
	}
	length := (g.End - g.Start) << 1
	if gap := g.Start - w.end; gap > 0 {
		w.put(colGap, gap)
		length |= 1
	}
	if g.End-g.Start > 1<<62 {
		// Its double does not fit: 0 says that the length follows as a gap.
		w.put(colGap, g.End-g.Start)
		length &= 1
	}
	w.put(colLength, length)
	w.end = g.End
	node := w.node(g.Scope)
	w.prev = node
	w.site(colSite, node, w.nodes[node].function, g.At)
	w.ranges++
}

// node gives the node of a scope, made with those of its parents that are not
// there yet: always a chain.
func (w *blockWriter) node(scope int32) int32 {
	if at := w.scopes[scope]; at.stamp == w.runAt {
		w.existing(int32(at.at))
		return int32(at.at)
	}
	w.chain = w.chain[:0]
	parent := int32(-1)
	for s := scope; s >= 0; s = w.run.Scopes[s].Parent {
		if at := w.scopes[s]; at.stamp == w.runAt {
			parent = int32(at.at)
			break
		}
		w.chain = append(w.chain, s)
	}
	w.put(colNode, uint64(len(w.chain))*2)
	w.hang(parent)
	for i := len(w.chain) - 1; i >= 0; i-- {
		parent = w.newNode(w.chain[i], parent)
	}
	return parent
}

// up counts the steps from the last range's node to one of its ancestors; -1
// if it is none.
func (w *blockWriter) up(to int32) int {
	k := 0
	for n := w.prev; n >= 0; n = w.nodes[n].parent {
		if n == to {
			return k
		}
		k++
	}
	return -1
}

func (w *blockWriter) existing(node int32) {
	if k := w.up(node); k >= 0 {
		w.put(colNode, uint64(k)*2+1)
		return
	}
	w.put(colNode, 0)
	w.put(colBack, uint64(int32(len(w.nodes))-1-node))
}

// hang says what a chain of new nodes hangs from.
func (w *blockWriter) hang(parent int32) {
	if parent < 0 {
		w.put(colParent, 0)
	} else if k := w.up(parent); k >= 0 {
		w.put(colParent, uint64(k)*2+1)
	} else {
		w.put(colParent, uint64(int32(len(w.nodes))-1-parent)*2+2)
	}
}

func (w *blockWriter) newNode(scope, parent int32) int32 {
	s := &w.run.Scopes[scope]
	callee := int32(-1)
	call := int32(-1)
	if parent >= 0 {
		call = w.site(colCall, parent, w.nodes[parent].function, s.Call)
		callee = w.sites[call].callee
	}
	at := int32(len(w.nodes))
	f := w.function(s.Function, callee)
	if call >= 0 {
		w.sites[call].callee = int32(f)
	}
	w.nodes = append(w.nodes, nodeRef{parent, f})
	w.addNode()
	w.scopes[scope] = stamped{w.runAt, uint32(at)}
	return at
}

// function codes a function, callee being the expected one.
func (w *blockWriter) function(s uint32, callee int32) uint32 {
	at := &w.functions[s]
	if at.stamp != w.stamp {
		*at = stamped{w.stamp, uint32(len(w.model.functions))}
		w.addFunction()
		w.put(colFunction, 1)
		w.name(colFunctionLo, s)
		return at.at
	}
	if int32(at.at) == callee {
		w.put(colFunction, 0)
	} else {
		w.put(colFunction, uint64(len(w.model.functions)-1)-uint64(at.at)+2)
	}
	return at.at
}

// name codes which string a new function or file is.
func (w *blockWriter) name(lo int, s uint32) {
	n := w.shared[s]
	w.cols[lo] = append(w.cols[lo], byte(n))
	w.bytes++
	w.put(lo+1, uint64(n>>8))
	if n == 0 {
		w.put(colTextLength, uint64(len(w.strings[s])))
		w.cols[colText] = append(w.cols[colText], w.strings[s]...)
		w.bytes += len(w.strings[s])
	}
}

// site codes a place in a function and gives its number.
func (w *blockWriter) site(col int, node int32, function uint32, at symbol.Site) int32 {
	file, isNew := w.file(at.File)
	i := w.predicted(node, function)
	if i >= 0 && w.sites[i].is(file, at.Line, at.Column) {
		w.put(col, 0)
		w.last[node] = i // what comes next is what it was
		return i
	}
	i, slot := w.index.find(w.sites, function, file, at.Line, at.Column)
	if i >= 0 {
		w.put(col, uint64(w.model.functions[function].sites-1-w.sites[i].ordinal)+2)
	} else {
		w.put(col, 1)
		f := &w.model.functions[function]
		w.newFile(f, file, isNew, at.File)
		base := w.baseLine(node, f, file)
		line := colNextLine
		if f.sites == 0 {
			line = colFirstLine
		}
		w.put(line, zigzag(int64(at.Line)-int64(base)))
		w.put(colColumn, uint64(at.Column))
		i = w.addSite(function, site{file, at.Line, at.Column})
		w.index.add(w.sites, slot)
	}
	w.went(node, function, i)
	return i
}

// file gives a file's number in the block, and whether it was just made.
func (w *blockWriter) file(s uint32) (file uint32, isNew bool) {
	at := &w.files[s]
	if at.stamp == w.stamp {
		return at.at, false
	}
	*at = stamped{w.stamp, w.nFiles}
	w.nFiles++
	return at.at, true
}

// newFile codes the file of a new site.
func (w *blockWriter) newFile(f *functionState, file uint32, isNew bool, s uint32) {
	col, code := colFirstFile, uint64(0)
	if f.sites > 0 {
		col, code = colNextFile, 1
	}
	switch {
	case isNew:
		w.put(col, code)
		w.name(colFileLo, s)
		w.addFile()
	case f.sites > 0 && f.file == file:
		w.put(col, 0)
	default:
		rank := 0
		for i := len(w.recent) - 1; w.recent[i] != file; i-- {
			rank++
		}
		w.put(col, code+1+uint64(rank))
		w.touch(rank)
	}
}

// body gives the block's plaintext: the first position it speaks for, its
// numbers of ranges and nodes, and its columns.
func (w *blockWriter) body(c *compressor) []byte {
	w.out = append(w.out[:0], w.head...)
	w.out = binary.AppendUvarint(w.out, uint64(w.ranges))
	w.out = binary.AppendUvarint(w.out, uint64(len(w.nodes)))
	try := &coders
	if w.script.is {
		try = &scriptCoders
	}
	for i := range w.used {
		w.out = c.column(w.out, w.cols[i], try[i])
	}
	return w.out
}
