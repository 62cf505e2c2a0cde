package cfi

import (
	"encoding/binary"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// cursor reads numbers from a piece of a section. After the first read past its end it yields zeros, and bad is set.
type cursor struct {
	b     []byte
	p     int
	order native.ByteOrder
	bad   bool
}

func (c *cursor) left() int { return len(c.b) - c.p }

func (c *cursor) take(n uint64) []byte {
	if n > uint64(c.left()) {
		c.p, c.bad = len(c.b), true
		return nil
	}
	b := c.b[c.p : c.p+int(n)]
	c.p += int(n)
	return b
}

func (c *cursor) byte() byte {
	if c.p >= len(c.b) {
		c.bad = true
		return 0
	}
	c.p++
	return c.b[c.p-1]
}

// uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size int) uint64 {
	b := c.take(uint64(size))
	switch {
	case b == nil:
		return 0
	case size == 1:
		return uint64(b[0])
	case size == 2:
		return uint64(c.order.Uint16(b))
	case size == 4:
		return uint64(c.order.Uint32(b))
	}
	return c.order.Uint64(b)
}

// int reads a signed number of 1, 2, 4 or 8 bytes.
func (c *cursor) int(size int) int64 {
	shift := 64 - 8*size
	return int64(c.uint(size)<<shift) >> shift
}

func (c *cursor) uleb() uint64 {
	v, n := binary.Uvarint(c.b[c.p:])
	if n <= 0 {
		c.p, c.bad = len(c.b), true
		return 0
	}
	c.p += n
	return v
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); shift < 64; {
		b := c.byte()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
	c.bad = true
	return 0
}

// text reads a string and its NUL.
func (c *cursor) text() string {
	for i, b := range c.b[c.p:] {
		if b == 0 {
			s := string(c.b[c.p : c.p+i])
			c.p += i + 1
			return s
		}
	}
	c.p, c.bad = len(c.b), true
	return ""
}

// windowBytes is how much is read at once of a section that is not in memory.
const windowBytes = 1 << 20

// window reads pieces of a section, most of them one after the other.
type window struct {
	in   *formats.Input
	room []byte
	b    []byte
	base int64
}

// view returns n bytes at off, which must lie inside. They are valid until the next call.
func (w *window) view(off, n int64) ([]byte, error) {
	if w.in.Mapped != nil {
		return w.in.View(off, n)
	}
	if off >= w.base && off-w.base <= int64(len(w.b))-n {
		return w.b[off-w.base:][:n:n], nil
	}
	want := min(max(n, windowBytes), w.in.Size-off)
	if n > want {
		return w.in.View(off, n) // the error names the place
	}
	if int64(len(w.room)) < want {
		w.room = make([]byte, want)
	}
	got, err := w.in.Bytes.ReadAt(w.room[:want], off)
	if int64(got) < want {
		if _, at := w.in.View(off, want); at != nil {
			return nil, at
		}
		return nil, err
	}
	w.b, w.base = w.room[:want], off
	return w.b[:n:n], nil
}
