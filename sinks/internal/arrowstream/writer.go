package arrowstream

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
)

// Writer writes a stream with columns added. One goroutine.
type Writer struct {
	w     io.Writer
	s     *Stream
	keep  []bool // by field
	same  bool   // all fields are kept
	ids   map[int64]bool
	added []arrowmeta.Column
}

// NewWriter begins the output of a stream: the fields that keep accepts by their number, then the columns added, and pairs
// behind its metadata.
func NewWriter(w io.Writer, s *Stream, keep func(i int) bool, added []arrowmeta.Column, meta ...arrowmeta.Pair) (*Writer, error) {
	x := &Writer{w: w, s: s, same: true, ids: map[int64]bool{}, added: added}
	for i := range s.Schema.Fields {
		x.keep = append(x.keep, keep(i))
		x.same = x.same && x.keep[i]
		if x.keep[i] {
			x.dictionaries(&s.Schema.Fields[i])
		}
	}
	return x, x.put(arrowmeta.Frame(s.Schema.Extend(keep, added, meta...)))
}

// dictionaries notes the dictionaries of a field that is kept.
func (x *Writer) dictionaries(f *arrowmeta.Field) {
	if f.Dictionary != nil {
		x.ids[f.Dictionary.ID] = true
	}
	for i := range f.Children {
		x.dictionaries(&f.Children[i])
	}
}

func (x *Writer) put(b []byte) error {
	_, err := x.w.Write(b)
	return err
}

// pass writes a dictionary as it came.
func (x *Writer) pass(b *Batch) error {
	if !x.ids[b.id] {
		return nil
	}
	if err := x.put(arrowmeta.Frame(b.dictionary)); err != nil {
		return err
	}
	return x.put(b.body)
}

// Write writes a batch with the rows of added beside its rows, or passes a dictionary on; then added is nil.
func (x *Writer) Write(b *Batch, added *Rows) error {
	if b.IsDictionary() {
		return x.pass(b)
	}
	if added.rows != b.Rows {
		return fmt.Errorf("a record batch has %d rows, and %d answers", b.Rows, added.rows)
	}
	meta, err := x.kept(b)
	if err != nil {
		return err
	}
	at := int64(len(b.body))
	pieces := [][]byte{b.body}
	add := func(data []byte) {
		if n := int(-at & (alignment - 1)); n > 0 {
			pieces = append(pieces, zeros[:n])
			at += int64(n)
		}
		size := int64(len(data))
		if meta.Compressed && size > 0 { // a length of -1: what follows is not compressed
			pieces = append(pieces, raw)
			size += int64(len(raw))
		}
		pieces = append(pieces, data)
		meta.Buffers = append(meta.Buffers, at, size)
		at += size
	}
	added.encode(func(rows, nulls int) { meta.Nodes = append(meta.Nodes, int64(rows), int64(nulls)) }, add)
	if n := int(-at & (alignment - 1)); n > 0 {
		pieces = append(pieces, zeros[:n])
		at += int64(n)
	}
	if err := x.put(arrowmeta.Frame(meta.Encode(at))); err != nil {
		return err
	}
	for _, p := range pieces {
		if err := x.put(p); err != nil {
			return err
		}
	}
	return nil
}

// alignment is where buffers begin.
const alignment = 64

var (
	zeros = make([]byte, alignment)
	raw   = binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
)

// kept returns the metadata of a batch with the fields that are kept. The bytes of others stay in the body, unnamed.
func (x *Writer) kept(b *Batch) (*arrowmeta.Batch, error) {
	meta := *b.meta
	if x.same {
		meta.Nodes, meta.Buffers = append([]int64(nil), meta.Nodes...), append([]int64(nil), meta.Buffers...)
		return &meta, nil
	}
	meta.Nodes, meta.Buffers, meta.Variadic = nil, nil, nil
	p := placer{b: b.meta, old: x.s.Schema.Old}
	for i := range x.s.Schema.Fields {
		from := p
		if _, err := p.place(x.s.Schema.Fields[i : i+1]); err != nil {
			return nil, err
		}
		if x.keep[i] {
			meta.Nodes = append(meta.Nodes, b.meta.Nodes[2*from.node:2*p.node]...)
			meta.Buffers = append(meta.Buffers, b.meta.Buffers[2*from.buffer:2*p.buffer]...)
			meta.Variadic = append(meta.Variadic, b.meta.Variadic[from.variadic:p.variadic]...)
		}
	}
	return &meta, nil
}

// Close marks the end of the stream. It leaves the underlying writer open.
func (x *Writer) Close() error {
	return x.put(binary.LittleEndian.AppendUint64(nil, arrowmeta.Continuation))
}

// Rows gathers the values of added columns for one record batch, column by column. Its memory is used again.
type Rows struct {
	columns []arrowmeta.Column
	out     []bool // by column: its values are dropped
	leaves  []gathered
	lists   [][]byte // offsets, by list
	lengths []int    // elements, by list
	rows    int
	bytes   int
}

// gathered is a column of texts or integers, or one inside a list.
type gathered struct {
	kind  arrowmeta.Kind
	out   bool // values are dropped
	list  int  // -1: none
	n     int
	data  []byte // of texts; integers
	ends  []byte // of texts: offsets
	valid []byte // bitmap, from the first NULL on
	nulls int
}

// NewRows returns rows without values of columns. Columns that are not among those that are written take values and drop them.
func NewRows(columns, written []arrowmeta.Column) *Rows {
	r := &Rows{columns: columns}
	for i := range columns {
		c := &columns[i]
		out := !slices.ContainsFunc(written, func(w arrowmeta.Column) bool { return w.Name == c.Name })
		r.out = append(r.out, out)
		if c.Fields == nil {
			r.leaves = append(r.leaves, gathered{kind: c.Kind, out: out, list: -1})
			continue
		}
		for _, f := range c.Fields {
			r.leaves = append(r.leaves, gathered{kind: f.Kind, out: out, list: len(r.lists)})
		}
		r.lists, r.lengths = append(r.lists, nil), append(r.lengths, 0)
	}
	r.Reset()
	return r
}

// Reset forgets all rows.
func (r *Rows) Reset() {
	r.rows, r.bytes = 0, 0
	for i := range r.leaves {
		l := &r.leaves[i]
		l.n, l.nulls, l.data, l.ends, l.valid = 0, 0, l.data[:0], append(l.ends[:0], 0, 0, 0, 0), l.valid[:0]
	}
	for i := range r.lists {
		r.lists[i], r.lengths[i] = append(r.lists[i][:0], 0, 0, 0, 0), 0
	}
}

// ErrLarge says that the added columns of a batch have more than MaxBatchBytes.
var ErrLarge = fmt.Errorf("%w: the answers of a record batch take more than %d bytes; write smaller record batches", ErrInput, MaxBatchBytes)

// Text appends a value to a column of texts: a leaf, depth first.
func (r *Rows) Text(leaf int, s string) {
	l := &r.leaves[leaf]
	if l.out {
		return
	}
	l.mark(true)
	l.data = append(l.data, s...)
	l.ends = binary.LittleEndian.AppendUint32(l.ends, uint32(len(l.data)))
	r.bytes += len(s) + 4
}

// Null appends NULL to a column of texts.
func (r *Rows) Null(leaf int) {
	l := &r.leaves[leaf]
	if l.out {
		return
	}
	l.mark(false)
	l.ends = binary.LittleEndian.AppendUint32(l.ends, uint32(len(l.data)))
	r.bytes += 4
}

// Integer appends a value to a column of integers.
func (r *Rows) Integer(leaf int, v int32) {
	l := &r.leaves[leaf]
	if l.out {
		return
	}
	l.mark(true)
	l.data = binary.LittleEndian.AppendUint32(l.data, uint32(v))
	r.bytes += 4
}

// mark counts a value. Most columns have no NULL, and need no bitmap.
func (l *gathered) mark(valid bool) {
	if valid && l.nulls == 0 {
		l.n++
		return
	}
	if l.nulls == 0 {
		for range l.n / 8 {
			l.valid = append(l.valid, math.MaxUint8)
		}
		if l.n%8 > 0 {
			l.valid = append(l.valid, 1<<(l.n%8)-1)
		}
	}
	if l.n%8 == 0 {
		l.valid = append(l.valid, 0)
	}
	if valid {
		l.valid[l.n/8] |= 1 << (l.n % 8)
	} else {
		l.nulls++
	}
	l.n++
}

// End ends a row. Its lists have so many elements each.
func (r *Rows) End(elements int) error {
	for i := range r.lists {
		r.lengths[i] += elements
		r.lists[i] = binary.LittleEndian.AppendUint32(r.lists[i], uint32(r.lengths[i]))
	}
	r.rows++
	if r.bytes > MaxBatchBytes {
		return ErrLarge
	}
	return nil
}

// encode hands out nodes and buffers, depth first.
func (r *Rows) encode(node func(rows, nulls int), buffer func([]byte)) {
	at, list := 0, 0
	leaf := func() {
		l := &r.leaves[at]
		at++
		node(l.n, l.nulls)
		if l.nulls > 0 {
			buffer(l.valid)
		} else {
			buffer(nil)
		}
		if l.kind == arrowmeta.Text {
			buffer(l.ends)
		}
		buffer(l.data)
	}
	for i, c := range r.columns {
		switch {
		case r.out[i]:
			at += max(1, len(c.Fields))
			if c.Fields != nil {
				list++
			}
			continue
		case c.Fields == nil:
			leaf()
			continue
		}
		node(r.rows, 0)
		buffer(nil)
		buffer(r.lists[list])
		node(r.lengths[list], 0)
		buffer(nil)
		list++
		for range c.Fields {
			leaf()
		}
	}
}
