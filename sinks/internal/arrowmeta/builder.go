package arrowmeta

import "encoding/binary"

// builder writes a flatbuffer from front to back: a table before what it refers to.
type builder struct{ b []byte }

// cell is a value of a table: its slot, its size in bytes, and the value, or 0 of an offset that link sets.
type cell struct {
	slot, size int
	value      uint64
}

func (w *builder) align(n int) {
	for len(w.b)%n != 0 {
		w.b = append(w.b, 0)
	}
}

// table writes a table and returns its position and those of its cells. Slots ascend.
func (w *builder) table(cells ...cell) (at int, where []int) {
	slots := 0
	if n := len(cells); n > 0 {
		slots = cells[n-1].slot + 1
	}
	w.align(2)
	vtable := len(w.b)
	w.b = append(w.b, make([]byte, 4+2*slots)...)
	w.align(8)
	at = len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(at-vtable))
	for _, c := range cells {
		w.align(c.size)
		binary.LittleEndian.PutUint16(w.b[vtable+4+2*c.slot:], uint16(len(w.b)-at))
		where = append(where, len(w.b))
		w.b = append(w.b, binary.LittleEndian.AppendUint64(nil, c.value)[:c.size]...)
	}
	binary.LittleEndian.PutUint16(w.b[vtable:], uint16(4+2*slots))
	binary.LittleEndian.PutUint16(w.b[vtable+2:], uint16(len(w.b)-at))
	return at, where
}

// link makes the offset at a position lead to another, which is behind it.
func (w *builder) link(at, to int) { binary.LittleEndian.PutUint32(w.b[at:], uint32(to-at)) }

// here links the offset at a position to the end of the buffer, where the next thing will be.
func (w *builder) here(at, align int) {
	w.align(align)
	w.link(at, len(w.b))
}

func (w *builder) count(n int) { w.b = binary.LittleEndian.AppendUint32(w.b, uint32(n)) }

// offsets writes a vector of n offsets, which link sets, and returns their positions.
func (w *builder) offsets(from, n int) (where []int) {
	w.here(from, 4)
	w.count(n)
	for range n {
		where = append(where, len(w.b))
		w.count(0)
	}
	return where
}

// longs writes a vector of structures of so many longs.
func (w *builder) longs(from, each int, values []int64) {
	for len(w.b)%8 != 4 { // the first value is aligned to 8
		w.b = append(w.b, 0)
	}
	w.link(from, len(w.b))
	w.count(len(values) / each)
	for _, v := range values {
		w.b = binary.LittleEndian.AppendUint64(w.b, uint64(v))
	}
}

func (w *builder) text(from int, s string) {
	w.here(from, 4)
	w.count(len(s))
	w.b = append(append(w.b, s...), 0)
}
