package ranges

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row/dictionary"
)

// reader decodes the columns of one block.
type reader struct {
	model
	col    [scriptColumns]column.Reader
	nodes  []blockNode
	names  []uint32 // by function: number in the dictionary plus 1, or here and number among the names that stand here
	files  []uint32 // by file
	tokens []uint32 // by name of a script
	starts []uint64 // of a script's parts
	inline int      // names that stand here
	dict   *dictionary.Reader
	prev   int32 // node of the range before; -1
}

// head reads the numbers that stand before the columns.
func blockHead(body []byte) (from uint64, ranges, nodes int, rest []byte, err error) {
	var v [3]uint64
	for i := range v {
		var n int
		if v[i], n = binary.Uvarint(body); n <= 0 || i > 0 && v[i] > column.MaxRowBytes {
			return 0, 0, 0, nil, fmt.Errorf("%w: want the head of a block", column.ErrBroken)
		}
		body = body[n:]
	}
	return v[0], int(v[1]), int(v[2]), body, nil
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// Decode makes b, which must be zero, of the body of a block. last is the block's last position;
// script: the block is of a script. dict is nil if the load has no dictionary. The columns are d's, valid
// until d is used again.
//
// Counts are checked against the bytes that carry them before anything is made of them.
func (b *Block) Decode(d *column.Decoder, dict *dictionary.Reader, body []byte, last uint64, script bool) (cols [][]byte, err error) {
	from, ranges, nodes, rest, err := blockHead(body)
	if err != nil {
		return nil, err
	}
	n := columns
	if script {
		n = scriptColumns
	}
	c, err := d.Columns(rest, n, column.MaxRowBytes)
	if err != nil {
		return nil, err
	}
	switch functions, files := len(c[colFunctionLo]), len(c[colFileLo]); {
	case from > last:
		return nil, fmt.Errorf("%w: it begins at %#x and ends at %#x", column.ErrBroken, from, last)
	case ranges > min(len(c[colLength]), maxParts/2), nodes > min(len(c[colFunction]), hole):
		return nil, fmt.Errorf("%w: want %d ranges and %d nodes", column.ErrBroken, ranges, nodes)
	case functions > min(len(c[colFunctionHi]), hole), files > min(len(c[colFileHi]), hole):
		return nil, fmt.Errorf("%w: want %d functions and %d files", column.ErrBroken, functions, files)
	case script && len(c[colNameLo]) > min(len(c[colNameHi]), hole):
		return nil, fmt.Errorf("%w: want %d names", column.ErrBroken, len(c[colNameLo]))
	}

	r := readers.Get().(*reader)
	defer readers.Put(r)
	r.reset()
	r.dict, r.prev, r.inline = dict, -1, 0
	r.names, r.files, r.tokens = r.names[:0], r.files[:0], r.tokens[:0]
	clear(r.col[:])
	for i := range c {
		r.col[i].B = c[i]
	}
	b.from, b.last = from, last
	b.parts = make([]part, 0, ranges+min(ranges, len(c[colGap])))
	r.nodes = make([]blockNode, 0, nodes)
	if script {
		err = r.parts(b, ranges)
	} else {
		err = r.ranges(b, ranges)
	}
	if err != nil {
		return nil, err
	}
	b.nodes, r.nodes = r.nodes, nil
	if len(b.nodes) != nodes {
		return nil, fmt.Errorf("%w: %d nodes, want %d", column.ErrBroken, len(b.nodes), nodes)
	}
	text, err := r.strings(b)
	if err != nil {
		return nil, err
	}
	for i := range r.col {
		if i != colTextLength && i != colText && !r.col[i].Done() {
			return nil, fmt.Errorf("%w: column %d is not used up", column.ErrBroken, i)
		}
	}
	if len(b.parts) > 0 && b.script == nil {
		b.by.build(b.parts, b.end-b.base)
	}
	b.measure(text)
	return c, nil
}

func (r *reader) fail(want string) error { return fmt.Errorf("%w: want %s", column.ErrBroken, want) }

func (r *reader) ranges(b *Block, n int) error {
	at, left := b.from, b.last-b.from // left: positions after at
	b.base, b.end = at, at
	for i := range n {
		code := r.col[colLength].Next()
		if i > 0 && b.end == 0 {
			return r.fail("no range after the last position")
		}
		if code&1 == 1 {
			gap := r.col[colGap].Next()
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
			length = r.col[colGap].Next()
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
		if r.col[colLength].Bad || r.col[colGap].Bad {
			return r.fail(fmt.Sprintf("range %d", i))
		}
		at += length // 0 after the last position there is
		left -= min(left, length)
		b.end = at
	}
	return nil
}

// maxParts is how many ranges and holes fit the numbers of a block.
const maxParts = 1<<16 - 2

// here marks the number of a name that stands in the block itself.
const here = 1 << 31

// strings makes the block's names.
func (r *reader) strings(b *Block) (text int, err error) {
	raw := r.col[colText].B
	inline, err := column.Strings(make([]string, 0, r.inline), r.inline, r.col[colTextLength], raw)
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
