// Package ranges turns runs into blocks of ranges, and opened blocks into answers. The package doc of
// sinks/row specifies the form.
//
// Blocks of code and blocks of scripts are two forms of one block: they share the tree of functions,
// the sites and the names, so one [Writer] writes both and one [Block] answers for both. A script's
// positions are lines and columns, and its parts are coded as steps between them (script.go).
//
// Invariants:
//   - A block depends on the runs that were added and on nothing else.
//   - A block speaks for (after, last]: every position of it is in one range or one hole.
//   - Find allocates nothing but the room for its frames.
package ranges

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
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

// Emit takes a full block. It returns a block for the writer to fill next: the same, or another one
// without a reader.
type Emit func(b *Full) (next *Full, err error)

// Writer turns the swept runs of a load into blocks. One goroutine.
type Writer struct {
	Ranges  uint64      // added to blocks
	Dropped row.Dropped // left out: no row could hold them

	emit     Emit
	key      func(last uint64) []byte // of a row, for errors
	next     uint64                   // first position that no block speaks for yet
	closed   uint64                   // end of the range added or dropped last
	strings  []string
	shared   []uint32 // by string: its number in the dictionary plus 1; 0: not in it
	mostCost int      // of one node or range, with any names

	model
	cols   [scriptColumns][]byte
	bytes  int // of all columns
	ranges int
	from   uint64 // first position that the block speaks for
	base   uint64 // start of the first range
	end    uint64 // of the range added last; the first position of the block before that
	nodes  []nodeRef
	prev   int32 // node of the range added last; -1
	block  *Full // what the open block becomes

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

// NewWriter returns a writer of blocks that refer to strs. numbers are, by string, its number in
// the dictionary plus 1; 0: the string is not in it. script says that the runs are of a script. key names rows in errors.
func NewWriter(strs []string, numbers []uint32, script bool, key func(last uint64) []byte, emit Emit) *Writer {
	w := &Writer{emit: emit, key: key, block: new(Full), strings: strs, shared: numbers,
		functions: make([]stamped, len(strs)), files: make([]stamped, len(strs)),
		index: siteIndex{slots: make([]int32, firstSlots)}}
	clear(w.functions) // the kernel maps a page twice that is read before it is written
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
	w.reset()
	return w
}

// Add encodes a run of code: swept, so after and apart from the runs before. Its Strings are the
// writer's.
func (w *Writer) Add(r *symbol.Run) error { return w.addRun(r, nil) }

// AddScript encodes a run of a script, as Add does with code.
func (w *Writer) AddScript(s *symbol.Script) error {
	if len(s.Marks) != len(s.Ranges) {
		return fmt.Errorf("a script's run of %d ranges has %d marks", len(s.Ranges), len(s.Marks))
	}
	for i := range s.Marks {
		if m := &s.Marks[i]; m.Name >= uint32(len(w.strings)) || m.Compiled >= uint32(len(w.strings)) {
			return fmt.Errorf("range %d of a script refers to names %d and %d", i, m.Name, m.Compiled)
		}
	}
	return w.addRun(&s.Run, s.Marks)
}

// addRun encodes a run, of a script with the marks of its ranges.
func (w *Writer) addRun(r *symbol.Run, marks []symbol.Mark) error {
	if err := w.check(r); err != nil {
		return err
	}
	w.begin(r, marks)
	strings := uint32(len(w.strings))
	for i := range r.Ranges {
		g := &r.Ranges[i]
		if g.Scope < 0 || int(g.Scope) >= len(r.Scopes) || g.At.File >= strings {
			return fmt.Errorf("range %d of a run refers to scope %d, file %d", i, g.Scope, g.At.File)
		}
		if g.Start < w.closed || g.End <= g.Start {
			return fmt.Errorf("range [%#x, %#x) with key %x after one that ends at %#x with key %x",
				g.Start, g.End, w.key(g.End-1), w.closed, w.key(w.closed-1))
		}
		if w.script.is && g.Start>>32 != (g.End-1)>>32 && marks[i].Flags&symbol.OverLines == 0 {
			return fmt.Errorf("range [%#x, %#x) of a script goes over the end of its line", g.Start, g.End)
		}
		cost := w.cost(i)
		if w.full(g, cost) {
			if err := w.flush(w.end - 1); err != nil {
				return err
			}
			w.begin(r, marks)
			cost = w.cost(i)
		}
		w.closed = g.End
		if cost > column.MaxRowBytes-blockSlack {
			// No reader would take the row: the range is left a hole, counted.
			if w.Dropped.Ranges++; w.Dropped.Ranges == 1 {
				w.Dropped.First = g.Start
			}
			continue
		}
		if w.ranges == 0 {
			w.open(w.next)
		}
		if w.script.is {
			w.addPart(g, &marks[i])
		} else {
			w.add(g)
		}
		w.Ranges++
	}
	return nil
}

// check refuses a run whose scopes do not refer to each other as they must: a mistake of ours, not of an object.
func (w *Writer) check(r *symbol.Run) error {
	n := uint32(len(w.strings))
	for i := range r.Scopes {
		s := &r.Scopes[i]
		if s.Parent < -1 || int(s.Parent) >= i || s.Function >= n || s.Call.File >= n {
			return fmt.Errorf("scope %d of a run refers to parent %d, function %d, file %d", i, s.Parent, s.Function, s.Call.File)
		}
	}
	return nil
}

// Close emits the last block. It speaks for the positions up to end, or to the last range's end if
// that is later. Without such positions there is none.
func (w *Writer) Close(end uint64) error {
	if end = max(end, w.closed); end <= w.next {
		return nil
	}
	if w.ranges == 0 {
		w.open(w.next)
	}
	return w.flush(end - 1)
}

// flush emits the open block, which speaks for the positions up to last.
func (w *Writer) flush(last uint64) error {
	if w.script.is {
		w.endParts(last)
	}
	b := w.block
	*b = Full{From: w.next, Last: last, ranges: w.ranges, nodes: len(w.nodes), script: w.script.is, cols: w.cols, body: b.body}
	w.next = last + 1
	next, err := w.emit(b)
	if err != nil {
		return err
	}
	w.block, w.cols = next, next.cols
	w.reset()
	return nil
}

// reset begins an empty block.
func (w *Writer) reset() {
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
func (w *Writer) open(from uint64) {
	w.from, w.end = from, from
}

// begin takes a run with the marks of its ranges, or the open run again after a reset.
func (w *Writer) begin(r *symbol.Run, marks []symbol.Mark) {
	w.run, w.marks = r, marks
	w.runAt++
	w.small = (len(r.Scopes)+1)*w.mostCost <= fullBytes
	if len(w.scopes) < len(r.Scopes) {
		w.scopes = append(w.scopes, make([]stamped, len(r.Scopes)-len(w.scopes))...)
	}
}

func (w *Writer) put(col int, v uint64) { w.bytes += w.code(col, v) }

// code does as put, but leaves it to the caller to add the bytes of several numbers to w.bytes at once.
func (w *Writer) code(col int, v uint64) int {
	if v < 0x80 {
		w.cols[col] = append(w.cols[col], byte(v))
		return 1
	}
	n := len(w.cols[col])
	w.cols[col] = binary.AppendUvarint(w.cols[col], v)
	return len(w.cols[col]) - n
}

// full reports whether the block should close before a range of that cost.
func (w *Writer) full(g *symbol.Range, cost int) bool {
	if w.ranges == 0 {
		return false
	}
	return w.ranges >= maxRanges || w.bytes >= fullBytes || cost > fullBytes || !w.script.is && g.Start-w.base > math.MaxUint32
}

// cost returns at least the bytes that range i of the run adds to an empty block, or any number that
// fills none if the range adds less.
func (w *Writer) cost(i int) int {
	if w.small {
		return 0 // most are so
	}
	return w.costOf(i)
}

func (w *Writer) costOf(i int) int {
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
		n += w.text(w.marks[i].Name) + w.text(w.marks[i].Compiled)
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

func (w *Writer) text(s uint32) int {
	if w.shared[s] > 0 {
		return 0
	}
	return len(w.strings[s])
}

// add encodes a range that starts at or after the end of the one before.
func (w *Writer) add(g *symbol.Range) {
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
