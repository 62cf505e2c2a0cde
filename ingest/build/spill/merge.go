package spill

import (
	"encoding/binary"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/classes"
)

// cursor walks one sorted piece: a list of a lane's refs, or a segment on disk.
type cursor struct {
	start uint64
	order Order
	body  []byte

	refs   []ref
	chunks [][]byte
	seg    *reader
}

// next moves to the following run; false at the end.
func (c *cursor) next() (bool, error) {
	if c.seg != nil {
		return c.seg.next(c)
	}
	if len(c.refs) == 0 {
		return false, nil
	}
	r := c.refs[0]
	c.refs = c.refs[1:]
	chunk, at := c.chunks[r.at>>32], r.at&(1<<32-1)
	n := uint64(binary.LittleEndian.Uint32(chunk[at:]))
	c.start, c.order, c.body = r.start, r.order, chunk[at+4:at+4+n]
	return true, nil
}

func (c *cursor) less(d *cursor) bool {
	return c.start < d.start || c.start == d.start && c.order < d.order
}

// heap is a binary heap of cursors that stand on a run.
type heap []*cursor

func (h *heap) push(c *cursor) error {
	ok, err := c.next()
	if err != nil || !ok {
		return err
	}
	*h = append(*h, c)
	for i := len(*h) - 1; i > 0; {
		up := (i - 1) / 2
		if !(*h)[i].less((*h)[up]) {
			break
		}
		(*h)[i], (*h)[up] = (*h)[up], (*h)[i]
		i = up
	}
	return nil
}

// pop moves the first cursor on.
func (h *heap) pop() error {
	old := *h
	ok, err := old[0].next()
	if err != nil {
		return err
	}
	if !ok {
		old[0] = old[len(old)-1]
		*h = old[:len(old)-1]
	}
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(*h) {
			return nil
		}
		if down+1 < len(*h) && (*h)[down+1].less((*h)[down]) {
			down++
		}
		if !(*h)[down].less((*h)[i]) {
			return nil
		}
		(*h)[i], (*h)[down] = (*h)[down], (*h)[i]
		i = down
	}
}

// Merge hands out the sorted runs once. It pulls, because its caller keeps
// some runs and gives their memory back later.
type Merge struct {
	s *Sorter
	h heap
	// A class from disk stays as it is until the call after the next.
	classes [2][]byte
	turn    int
}

// Merge starts at the first run. Several may run, one after the other or at once.
func (s *Sorter) Merge() (*Merge, error) {
	m := &Merge{s: s}
	for _, l := range s.lanes {
		for _, c := range l.cursors() {
			if err := m.h.push(c); err != nil {
				return nil, err
			}
		}
		for _, seg := range l.sorted {
			if err := m.h.push(&cursor{seg: newReader(s.file, seg)}); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// Next puts the next run of code into into, using its slices again, and returns its order; ok is
// false after the last.
func (m *Merge) Next(into *symbol.Run) (o Order, ok bool, err error) {
	return m.next(into, nil)
}

// NextScript does with runs of a script what Next does with code.
func (m *Merge) NextScript(into *symbol.Script) (o Order, ok bool, err error) {
	return m.next(&into.Run, &into.Marks)
}

func (m *Merge) next(into *symbol.Run, marks *[]symbol.Mark) (o Order, ok bool, err error) {
	if len(m.h) == 0 {
		return 0, false, nil
	}
	c := m.h[0]
	o = c.order
	if err := decode(c.body, c.start, symbol.Rank(o>>(seqBits+partBits)), m.s.table.Numbers, into, marks); err != nil {
		return 0, false, err
	}
	into.Strings, into.Table = m.s.table.Strings, nil
	return o, true, m.h.pop()
}

// NextClass does with classes what Next does with code. The class stays readable until the call after
// the next.
func (m *Merge) NextClass(into *classes.Packed) (o Order, ok bool, err error) {
	if len(m.h) == 0 {
		return 0, false, nil
	}
	c := m.h[0]
	if len(c.body) == 0 || c.body[0] != 0 {
		return 0, false, errDecode
	}
	o = c.order
	into.Form, into.Position = c.body[1:], c.start
	if c.seg != nil { // the next record of the segment is read over it
		m.turn ^= 1
		m.classes[m.turn] = append(m.classes[m.turn][:0], into.Form...)
		into.Form = m.classes[m.turn]
	}
	return o, true, m.h.pop()
}
