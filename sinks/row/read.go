package row

import (
	"encoding/binary"
	"fmt"
	"math"
)

// blockReader decodes the columns of one block.
type blockReader struct {
	model
	col    [scriptColumns]reader
	nodes  []blockNode
	names  []uint32 // by function: number in the dictionary plus 1, or here and number among the names that stand here
	files  []uint32 // by file
	tokens []uint32 // by name of a script
	starts []uint64 // of a script's parts
	inline int      // names that stand here
	dict   *dictionary
	prev   int32 // node of the range before; -1
}

// head reads the numbers that stand before the columns.
func blockHead(body []byte) (from uint64, ranges, nodes int, rest []byte, err error) {
	var v [3]uint64
	for i := range v {
		var n int
		if v[i], n = binary.Uvarint(body); n <= 0 || i > 0 && v[i] > maxBodyBytes {
			return 0, 0, 0, nil, fmt.Errorf("%w: want the head of a block", errColumn)
		}
		body = body[n:]
	}
	return v[0], int(v[1]), int(v[2]), body, nil
}

// columnsOf is how many columns a block of that form has.
func columnsOf(form byte) int {
	if form == bodyScript {
		return scriptColumns
	}
	return columns
}

// columnsOf decodes all n columns of a block into d's buffers.
func (d *decompressor) columnsOf(body []byte, n int) error {
	d.budget = maxBodyBytes
	for i := range n {
		raw, rest, err := d.column(d.bufs[i], body)
		if err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
		d.bufs[i], body = raw, rest
	}
	if len(body) > 0 {
		return fmt.Errorf("%w: %d bytes after the last column", errColumn, len(body))
	}
	return nil
}

// decodeBlock makes a block of a body whose last position is last. Counts are
// checked against the bytes that carry them before anything is made of them.
func decodeBlock(d *decompressor, dict *dictionary, body []byte, last uint64, form byte) (*Block, error) {
	from, ranges, nodes, rest, err := blockHead(body)
	if err != nil {
		return nil, err
	}
	if err := d.columnsOf(rest, columnsOf(form)); err != nil {
		return nil, err
	}
	c := &d.bufs
	switch functions, files := len(c[colFunctionLo]), len(c[colFileLo]); {
	case from > last:
		return nil, fmt.Errorf("%w: it begins at %#x and ends at %#x", errColumn, from, last)
	case ranges > min(len(c[colLength]), maxParts/2), nodes > min(len(c[colFunction]), hole):
		return nil, fmt.Errorf("%w: want %d ranges and %d nodes", errColumn, ranges, nodes)
	case functions > min(len(c[colFunctionHi]), hole), files > min(len(c[colFileHi]), hole):
		return nil, fmt.Errorf("%w: want %d functions and %d files", errColumn, functions, files)
	}
	r := &d.reading
	r.reset()
	r.dict, r.prev, r.inline = dict, -1, 0
	r.names, r.files, r.tokens = r.names[:0], r.files[:0], r.tokens[:0]
	for i := range r.col {
		if r.col[i] = (reader{}); i < columnsOf(form) {
			r.col[i].b = c[i]
		}
	}
	b := &Block{from: from, last: last, parts: make([]part, 0, ranges+min(ranges, len(c[colGap])))}
	r.nodes = make([]blockNode, 0, nodes)
	read := r.ranges
	if form == bodyScript {
		if len(c[colNameLo]) > min(len(c[colNameHi]), hole) {
			return nil, fmt.Errorf("%w: want %d names", errColumn, len(c[colNameLo]))
		}
		read = r.parts
	}
	if err := read(b, ranges); err != nil {
		return nil, err
	}
	b.nodes, r.nodes = r.nodes, nil
	if len(b.nodes) != nodes {
		return nil, fmt.Errorf("%w: %d nodes, want %d", errColumn, len(b.nodes), nodes)
	}
	text, err := r.strings(b)
	if err != nil {
		return nil, err
	}
	for i := range r.col {
		if i != colTextLength && i != colText && !r.col[i].done() {
			return nil, fmt.Errorf("%w: column %d is not used up", errColumn, i)
		}
	}
	if len(b.parts) > 0 && b.script == nil {
		b.by.build(b.parts, b.end-b.base)
	}
	b.measure(text)
	return b, nil
}

func (r *blockReader) fail(want string) error { return fmt.Errorf("%w: want %s", errColumn, want) }

func (r *blockReader) ranges(b *Block, n int) error {
	at, left := b.from, b.last-b.from // left: positions after at
	b.base, b.end = at, at
	for i := range n {
		code := r.col[colLength].next()
		if i > 0 && b.end == 0 {
			return r.fail("no range after the last position")
		}
		if code&1 == 1 {
			gap := r.col[colGap].next()
			if gap == 0 || gap > left {
				return r.fail("a hole within the block")
			}
			if i > 0 {
				b.parts = append(b.parts, part{start: uint32(at - b.base), node: hole})
			}
			at += gap
			left -= gap
		}
		if i == 0 {
			b.base = at
		}
		length := code >> 1
		if length == 0 {
			length = r.col[colGap].next()
		}
		if length == 0 || length-1 > left || at-b.base > math.MaxUint32 {
			return r.fail("a range within the block")
		}
		node, err := r.node()
		if err != nil {
			return err
		}
		s, err := r.site(colSite, node)
		if err != nil {
			return err
		}
		r.prev = node
		b.parts = append(b.parts, part{uint32(at - b.base), uint16(node), uint16(s.file), s.line, s.column})
		if r.col[colLength].bad || r.col[colGap].bad {
			return r.fail(fmt.Sprintf("range %d", i))
		}
		at += length // 0 after the last position there is
		left -= min(left, length)
		b.end = at
	}
	return nil
}

// climb gives the ancestor of the last range's node, k steps up; -1: none.
func (r *blockReader) climb(k uint64) int32 {
	n := r.prev
	for ; k > 0 && n >= 0; k-- {
		n = r.parent(n)
	}
	return n
}

func (r *blockReader) parent(n int32) int32 {
	if p := r.nodes[n].parent; p != hole {
		return int32(p)
	}
	return -1
}

// back gives the node at a distance from the newest; -1: none.
func (r *blockReader) back(k uint64) int32 {
	if k >= uint64(len(r.nodes)) {
		return -1
	}
	return int32(uint64(len(r.nodes)) - 1 - k)
}

func (r *blockReader) node() (int32, error) {
	code := r.col[colNode].next()
	node := int32(-1)
	switch {
	case code&1 == 1:
		node = r.climb(code >> 1)
	case code == 0:
		node = r.back(r.col[colBack].next())
	default:
		return r.newNodes(code >> 1)
	}
	if node < 0 || r.col[colNode].bad || r.col[colBack].bad {
		return -1, r.fail("a node of the block")
	}
	return node, nil
}

// newNodes makes a chain of n nodes and gives the innermost.
func (r *blockReader) newNodes(n uint64) (int32, error) {
	if n > uint64(cap(r.nodes)-len(r.nodes)) {
		return -1, r.fail("as many nodes as announced")
	}
	parent := int32(-1)
	if code := r.col[colParent].next(); code > 0 {
		if code&1 == 1 {
			parent = r.climb(code >> 1)
		} else {
			parent = r.back(code>>1 - 1)
		}
		if parent < 0 {
			return -1, r.fail("a parent of the block")
		}
	}
	if r.col[colParent].bad {
		return -1, r.fail("a parent")
	}
	for range n {
		d := blockNode{parent: uint16(parent)} // -1 is hole
		call := int32(-1)
		if parent >= 0 {
			s, err := r.site(colCall, parent)
			if err != nil {
				return -1, err
			}
			d.file, d.line, d.column = uint16(s.file), s.line, s.column
			call = r.last[parent]
		}
		f, err := r.function(call)
		if err != nil {
			return -1, err
		}
		d.function = uint16(f)
		if call >= 0 {
			r.sites[call].callee = int32(f)
		}
		parent = int32(len(r.nodes))
		r.nodes = append(r.nodes, d)
		r.addNode()
	}
	return parent, nil
}

// function reads a function; call is the site it is called from, or -1.
func (r *blockReader) function(call int32) (uint32, error) {
	f := int32(-1)
	switch code := r.col[colFunction].next(); {
	case code == 1:
		name, err := r.name(colFunctionLo)
		if err != nil {
			return 0, err
		}
		r.names = append(r.names, name)
		r.addFunction()
		return uint32(len(r.functions) - 1), nil
	case code > 1 && code-2 < uint64(len(r.functions)):
		f = int32(uint64(len(r.functions)) - 1 - (code - 2))
	case code == 0 && call >= 0:
		f = r.sites[call].callee
	}
	if f < 0 || r.col[colFunction].bad {
		return 0, r.fail("a function of the block")
	}
	return uint32(f), nil
}

// name reads which string a new function or file is.
func (r *blockReader) name(lo int) (uint32, error) {
	n := uint64(r.col[lo].byte())
	hi := r.col[lo+1].next()
	if r.col[lo].bad || r.col[lo+1].bad || hi > maxShared>>8 {
		return 0, r.fail("a name")
	}
	n |= hi << 8
	if n == 0 {
		r.inline++
		return here | uint32(r.inline-1), nil
	}
	if r.dict == nil || n > uint64(r.dict.count) {
		return 0, r.fail("a name of the dictionary")
	}
	return uint32(n), nil
}

// site reads a place in the function of a node.
func (r *blockReader) site(col int, node int32) (site, error) {
	function := uint32(r.nodes[node].function)
	f := &r.functions[function]
	i := int32(-1)
	switch code := r.col[col].next(); {
	case r.col[col].bad:
	case code == 0:
		i = r.predicted(node, function)
	case code == 1:
		s, err := r.newSite(node, f)
		if err != nil {
			return site{}, err
		}
		i = r.addSite(function, s)
	case code-2 < uint64(f.sites):
		i = f.newest
		for range code - 2 {
			i = r.sites[i].older
		}
	}
	if i < 0 {
		return site{}, r.fail("a site of the function")
	}
	r.went(node, function, i)
	return r.sites[i].site, nil
}

func (r *blockReader) newSite(node int32, f *functionState) (site, error) {
	fileCol, lineCol, known := colFirstFile, colFirstLine, uint64(0)
	if f.sites > 0 {
		fileCol, lineCol, known = colNextFile, colNextLine, 1
	}
	var s site
	switch code := r.col[fileCol].next(); {
	case known == 1 && code == 0:
		s.file = f.file
	case code == known:
		name, err := r.name(colFileLo)
		if err != nil {
			return s, err
		}
		s.file = uint32(len(r.files))
		r.files = append(r.files, name)
		r.addFile()
	case code-known-1 < uint64(len(r.recent)):
		s.file = r.touch(int(code - known - 1))
	default:
		return s, r.fail("a file of the block")
	}
	line := int64(r.baseLine(node, f, s.file)) + unzigzag(r.col[lineCol].next())
	column := r.col[colColumn].next()
	if line < 0 || line > math.MaxUint32 || column > math.MaxUint32 ||
		r.col[fileCol].bad || r.col[lineCol].bad || r.col[colColumn].bad {
		return s, r.fail("a line and a column")
	}
	s.line, s.column = uint32(line), uint32(column)
	return s, nil
}

// maxParts is how many ranges and holes fit the numbers of a block.
const maxParts = 1<<16 - 2

// here marks the number of a name that stands in the block itself.
const here = 1 << 31

// strings makes the block's names.
func (r *blockReader) strings(b *Block) (text int, err error) {
	raw := r.col[colText].b
	inline, err := cut(make([]string, 0, r.inline), r.inline, r.col[colTextLength], raw)
	if err != nil {
		return 0, err
	}
	b.functions.fill(r.names, inline, r.dict)
	b.files.fill(r.files, inline, r.dict)
	if b.script != nil {
		b.script.names.fill(r.tokens, inline, r.dict)
	}
	return len(raw), nil
}
