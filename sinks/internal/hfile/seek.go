package hfile

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// node is a non-root index block: n entries, found by the table of their places.
type node struct {
	payload []byte
	n       int
	off     int64
}

// openNode checks the table of a block, so that entry needs to check nothing but the key.
func openNode(payload []byte, off int64) (*node, error) {
	if len(payload) < 8 {
		return nil, corrupt("index block", off, "a count")
	}
	n := int64(binary.BigEndian.Uint32(payload))
	if n == 0 || n > int64(len(payload))/(4+12) {
		return nil, corrupt("index block", off, "1 to %d entries, not %d", len(payload)/16, n)
	}
	d := &node{payload, int(n), off}
	last := int64(-12)
	for i := range int(n) + 1 {
		at := int64(binary.BigEndian.Uint32(payload[4+4*i:]))
		if i == 0 && at != 0 || at < last+12 {
			return nil, corrupt("index block", off, "entry %d behind the one before", i)
		}
		last = at
	}
	if last != int64(len(payload))-4-4*(n+1) {
		return nil, corrupt("index block", off, "entries of %d bytes, not %d", int64(len(payload))-4-4*(n+1), last)
	}
	return d, nil
}

// entry gives the place and the key of entry i.
func (d *node) entry(i int) (place, key []byte) {
	table := d.payload[4:]
	base := 4 + 4*(d.n+1)
	from := base + int(binary.BigEndian.Uint32(table[4*i:]))
	to := base + int(binary.BigEndian.Uint32(table[4*(i+1):]))
	return d.payload[from : from+12], d.payload[from+12 : to]
}

// find gives the last child that begins at row or below, else the first one.
func (h *Reader) find(d *node, row []byte) (child, error) {
	var bad error
	i := sort.Search(d.n, func(i int) bool {
		_, key := d.entry(i)
		at, err := keyRow(key, "index block", d.off)
		if err != nil && bad == nil {
			bad = err
		}
		return bytes.Compare(at, row) > 0
	})
	if bad != nil {
		return child{}, bad
	}
	place, key := d.entry(max(i-1, 0))
	return h.child(place, key, "index block", d.off)
}

// node reads an index block, or finds it in the cache.
func (h *Reader) node(c child, magic string) (*node, error) {
	h.mu.Lock()
	d := h.index[c.off]
	h.mu.Unlock()
	if d != nil {
		return d, nil
	}
	b := make([]byte, c.size)
	if err := readAt(h.r, b, c.off, "index block"); err != nil {
		return nil, err
	}
	payload, err := openBlock(b, "index block", magic, c.off)
	if err != nil {
		return nil, err
	}
	if d, err = openNode(payload, c.off); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.index[c.off] == nil {
		if h.cached+c.size > maxCacheBytes {
			clear(h.index) // rare, and used blocks come back
			h.cached = 0
		}
		h.index[c.off] = d
		h.cached += c.size
	}
	return d, nil
}

// seek gives the data block in which a row at or after row would stand; the
// row itself may be in the block behind it. The file has rows.
func (h *Reader) seek(row []byte) (child, error) {
	i := sort.Search(len(h.root), func(i int) bool { return bytes.Compare(h.root[i].row, row) > 0 })
	c := h.root[max(i-1, 0)]
	for level := h.t.levels; level > 1; level-- {
		magic := magicInter
		if level == 2 {
			magic = magicLeaf
		}
		d, err := h.node(c, magic)
		if err != nil {
			return child{}, err
		}
		if c, err = h.find(d, row); err != nil {
			return child{}, err
		}
	}
	if uint64(c.off) > h.t.lastData {
		return child{}, corrupt("index", c.off, "no data block behind the last at %#x", h.t.lastData)
	}
	return c, nil
}

// walk hands out the payload of the data block at c, and of the blocks behind it
// until each returns enough. Payloads die with the call when reuse is
// given as their buffer; with nil each has its own.
func (h *Reader) walk(c child, reuse *[]byte, each func(payload []byte, off int64) (enough bool, err error)) error {
	for off, size := c.off, c.size; ; {
		// The header of the next block comes with this one; its checksum is checked when it is read itself.
		whole := size + min(headerBytes, int64(h.t.loadOnOpen)-off-size)
		var buf []byte
		if reuse == nil {
			buf = make([]byte, whole)
		} else {
			if int64(cap(*reuse)) < whole {
				*reuse = make([]byte, whole)
			}
			buf = (*reuse)[:whole]
		}
		if err := readAt(h.r, buf, off, "data block"); err != nil {
			return err
		}
		next, known := blockBytes(buf[size:])
		if magic := string(buf[:8]); magic == magicData {
			payload, err := openBlock(buf[:size], "data block", magicData, off)
			if err != nil {
				return err
			}
			if enough, err := each(payload, off); enough || err != nil {
				return err
			}
		} else if magic != magicLeaf && magic != magicBloom || off == c.off {
			return corrupt("data block", off, "magic %q, not %q", magicData, magic)
		}
		off += size
		if uint64(off) > h.t.lastData {
			return nil
		}
		if !known || next > int64(h.t.loadOnOpen)-off {
			return corrupt("data block", off, "a block before %#x", h.t.loadOnOpen)
		}
		size = next
	}
}

// cell reads the cell at the beginning of b, which is the rest of the block at off.
func (h *Reader) cell(b []byte, off int64) (c Cell, rest []byte, err error) {
	if len(b) < 8 {
		return c, nil, corrupt("data block", off, "a cell in its last %d bytes", len(b))
	}
	keyBytes, valueBytes := uint64(binary.BigEndian.Uint32(b)), uint64(binary.BigEndian.Uint32(b[4:]))
	b = b[8:]
	if keyBytes+valueBytes > uint64(len(b)) {
		return c, nil, corrupt("data block", off, "a cell of %d bytes within %d", keyBytes+valueBytes, len(b))
	}
	key, b := b[:keyBytes], b[keyBytes:]
	if c.Row, err = keyRow(key, "data block", off); err != nil {
		return c, nil, err
	}
	column := key[2+len(c.Row):]
	if len(column) < 1+8+1 || int(column[0]) > len(column)-1-8-1 {
		return c, nil, corrupt("data block", off, "a column in a key of %d bytes", keyBytes)
	}
	if len(column) != keyTail || string(column[1:1+len(family+qualifier)]) != family+qualifier || column[0] != byte(len(family)) {
		return c, nil, unsupported("data block", off, "column %s:%s, not %q", family, qualifier, column[1:len(column)-9])
	}
	if kind := column[keyTail-1]; kind != typePut {
		return c, nil, unsupported("data block", off, "cells of type Put (%d), not %d", typePut, kind)
	}
	c.Timestamp = binary.BigEndian.Uint64(column[keyTail-9:])
	c.Value, b = b[:valueBytes:valueBytes], b[valueBytes:]
	switch h.mvcc {
	case mvccZero:
		if len(b) < 1 || b[0] != 0 {
			return c, nil, corrupt("data block", off, "a 0 byte behind row %x", c.Row)
		}
		b = b[1:]
	case mvccNumber:
		_, size := vint(b)
		if size == 0 {
			return c, nil, corrupt("data block", off, "a number behind row %x", c.Row)
		}
		b = b[size:]
	}
	return c, b, nil
}

// First gives the first cell at or after from and below stop (nil: no end); ok
// false when there is none. The cell is the caller's own. One or two reads of
// the file once its index blocks are known.
func (h *Reader) First(from, stop []byte) (first Cell, ok bool, err error) {
	if h.t.cells == 0 || bytes.Compare(from, h.last) > 0 {
		return first, false, nil
	}
	c, err := h.seek(from)
	if err != nil {
		return first, false, err
	}
	buf, _ := h.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer h.buffers.Put(buf)
	err = h.walk(c, buf, func(payload []byte, off int64) (bool, error) {
		for len(payload) > 0 {
			var c Cell
			var err error
			if c, payload, err = h.cell(payload, off); err != nil {
				return true, err
			}
			if bytes.Compare(c.Row, from) < 0 {
				continue
			}
			if stop == nil || bytes.Compare(c.Row, stop) < 0 {
				both := append(append(make([]byte, 0, len(c.Row)+len(c.Value)), c.Row...), c.Value...)
				n := len(c.Row)
				first, ok = Cell{both[:n:n], both[n:], c.Timestamp}, true
			}
			return true, nil
		}
		return false, nil
	})
	return first, ok && err == nil, err
}

// Scan emits the cells in [from, stop) (nil: no end) in order. The receiver
// may keep them; cells of a block share its memory. emit's error comes back unchanged.
func (h *Reader) Scan(from, stop []byte, emit func(Cell) error) error {
	if h.t.cells == 0 || bytes.Compare(from, h.last) > 0 {
		return nil
	}
	c, err := h.seek(from)
	if err != nil {
		return err
	}
	var last []byte
	return h.walk(c, nil, func(payload []byte, off int64) (bool, error) {
		for len(payload) > 0 {
			var c Cell
			var err error
			if c, payload, err = h.cell(payload, off); err != nil {
				return true, err
			}
			switch {
			case bytes.Equal(c.Row, last):
				return true, unsupported("data block", off, "one cell a row, not several for %x", c.Row)
			case bytes.Compare(c.Row, last) < 0:
				return true, corrupt("data block", off, "ascending rows, not %x after %x", c.Row, last)
			}
			last = c.Row
			if bytes.Compare(c.Row, from) < 0 {
				continue
			}
			if stop != nil && bytes.Compare(c.Row, stop) >= 0 {
				return true, nil
			}
			if err := emit(c); err != nil {
				return true, err
			}
		}
		return false, nil
	})
}
