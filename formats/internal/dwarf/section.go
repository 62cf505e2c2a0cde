package dwarf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unsafe"

	"github.com/symlake/symlake/formats"
)

// section is one debug section. The zero value is an absent one.
type section struct {
	name string
	id   uint64 // small; tells the sections of an object apart
	in   *formats.Input
	b    []byte // all of it when the input is mapped
	size uint64
}

func newSection(name string, id uint64, in *formats.Input) section {
	if in == nil {
		return section{name: name, id: id}
	}
	return section{name: name, id: id, in: in, b: in.Mapped, size: uint64(in.Size)}
}

const (
	blockBytes = 16 << 10
	blockCount = 64
)

// block is a piece of a section that is not mapped.
type block struct {
	s    *section
	base uint64
	b    []byte
}

// blocks reads pieces of sections, keeping the last used ones of sections not
// mapped: strings, lists of ranges and entries of other units are read in
// short pieces, many of them near each other.
type blocks struct {
	slot  [blockCount]block
	spill []byte
	err   error // of an input, kept: it is no damage and must not be counted as such
}

// peek returns at least min(want, the rest) bytes of s from off, more if
// they are at hand; none if off is outside. They are valid until the next
// call.
func (r *blocks) peek(s *section, off uint64, want int) []byte {
	if off >= s.size {
		return nil
	}
	if s.b != nil {
		return s.b[off:]
	}
	want = int(min(uint64(want), s.size-off))
	base := off &^ (blockBytes - 1)
	b := r.block(s, base)
	if int(off-base)+want <= len(b) {
		return b[off-base:]
	}
	if cap(r.spill) < want {
		r.spill = make([]byte, want)
	}
	return r.readAt(s, off, r.spill[:want])
}

func (r *blocks) block(s *section, base uint64) []byte {
	// Sections are laid over the slots at different phases, so that units'
	// strings and ranges do not push each other out.
	k := &r.slot[(base/blockBytes+s.id*13)%blockCount]
	if k.s == s && k.base == base {
		return k.b
	}
	if k.b == nil {
		k.b = make([]byte, blockBytes)
	}
	k.s, k.base = s, base
	k.b = r.readAt(s, base, k.b[:min(blockBytes, s.size-base)])
	if k.b == nil {
		k.s = nil
	}
	return k.b
}

// readAt fills b from off, which must lie inside with all of b; nil and
// r.err if it could not.
func (r *blocks) readAt(s *section, off uint64, b []byte) []byte {
	n, err := s.in.Bytes.ReadAt(b, int64(off))
	if n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = &formats.Error{Format: "dwarf", Section: s.name, Offset: int64(off) + int64(n), Want: "more bytes than there are", Err: formats.ErrCorrupt}
		}
		if r.err == nil {
			r.err = err
		}
		return nil
	}
	return b
}

// cstring returns the string at off, up to limit bytes long, without its NUL. ok
// is false when there is none or it is longer. It aliases a mapped section.
func (r *blocks) cstring(s *section, off uint64, limit int) (_ string, ok bool) {
	if off >= s.size {
		return "", false
	}
	if s.b != nil {
		b := s.b[off:]
		if len(b) > limit+1 {
			b = b[:limit+1]
		}
		n := bytes.IndexByte(b, 0)
		if n < 0 {
			return "", false
		}
		return alias(b[:n]), true
	}
	for want := 256; ; want *= 4 {
		b := r.peek(s, off, min(want, limit+1))
		if n := bytes.IndexByte(b, 0); n >= 0 && n <= limit {
			return string(b[:n]), true
		}
		if want > limit || uint64(len(b)) >= s.size-off || len(b) == 0 {
			return "", false
		}
	}
}

// alias is b as a string without a copy. The bytes belong to a mapped
// section, which no compiler writes; names are most of what a unit yields, and
// copying them is what the mapping saves.
func alias(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// cursor reads numbers from a piece of a section. After the first read past
// its end it stays at the end with bad set and yields zeros.
type cursor struct {
	b   []byte
	p   int
	bad bool
	big bool // big-endian
}

func (c *cursor) take(n uint64) []byte {
	if uint64(len(c.b)-c.p) < n {
		c.p, c.bad = len(c.b), true
		return nil
	}
	b := c.b[c.p : c.p+int(n)]
	c.p += int(n)
	return b
}

func (c *cursor) u8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

// uint reads an unsigned number of 1, 2, 3, 4 or 8 bytes.
func (c *cursor) uint(size uint8) uint64 {
	b := c.take(uint64(size))
	if b == nil {
		return 0
	}
	return number(b, c.big)
}

// number reads all of b as an unsigned number of 1, 2, 3, 4 or 8 bytes.
func number(b []byte, big bool) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		if big {
			return uint64(binary.BigEndian.Uint16(b))
		}
		return uint64(binary.LittleEndian.Uint16(b))
	case 3:
		if big {
			return uint64(b[0])<<16 | uint64(b[1])<<8 | uint64(b[2])
		}
		return uint64(b[2])<<16 | uint64(b[1])<<8 | uint64(b[0])
	case 4:
		if big {
			return uint64(binary.BigEndian.Uint32(b))
		}
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		if big {
			return binary.BigEndian.Uint64(b)
		}
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) uleb() uint64 {
	v, p := uleb(c.b, c.p)
	if p < 0 {
		c.p, c.bad = len(c.b), true
		return 0
	}
	c.p = p
	return v
}

// initial reads an initial length: the length and the size of offsets.
func (c *cursor) initial() (length uint64, offSize uint8) {
	length = c.uint(4)
	switch {
	case length == 0xffffffff:
		return c.uint(8), 8
	case length >= 0xfffffff0:
		c.bad = true
	}
	return length, 4
}

// uleb reads an unsigned LEB128 number at b[p:]; the new position is -1 if
// it does not end. Bits above 64 are dropped.
func uleb(b []byte, p int) (uint64, int) {
	if p < len(b) && b[p] < 0x80 {
		return uint64(b[p]), p + 1 // nearly all
	}
	return longULEB(b, p)
}

func longULEB(b []byte, p int) (uint64, int) {
	var v uint64
	for shift := uint(0); p < len(b); shift += 7 {
		c := b[p]
		p++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, p
		}
	}
	return 0, -1
}

func sleb(b []byte, p int) (int64, int) {
	var v int64
	for shift := uint(0); p < len(b); {
		c := b[p]
		p++
		v |= int64(c&0x7f) << shift
		shift += 7
		if c < 0x80 {
			if c&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v, p
		}
	}
	return 0, -1
}
