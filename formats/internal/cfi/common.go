package cfi

import (
	"fmt"

	"github.com/symlake/symlake/formats/internal/native"
)

// How an address is written, by DWARF's DW_EH_PE numbers: a form, a base, and whether the address of the address stands
// there.
const (
	formMask     = 0x0f
	baseMask     = 0x70
	baseNone     = 0x00
	baseHere     = 0x10
	baseAligned  = 0x50
	indirect     = 0x80
	omitted      = 0xff
	maxAugment   = 16 // letters
	plainPointer = 0
)

// common returns the common part at off, read at most once as long as there are few.
func (f *frames) common(off int64) (*common, error) {
	if c, ok := f.shared[off]; ok {
		return c, nil
	}
	c := &common{}
	e, ok, err := f.commonHead(off)
	if err != nil {
		return nil, err
	}
	if f.work > 1<<20+4*f.s.In.Size {
		c.want = "common parts that are not read without end"
		return c, nil
	}
	if !ok || e.body < 0 || !e.isCommon {
		c.want = fmt.Sprintf("a common part at %#x", off)
	} else {
		f.work += e.end - e.off
		b, err := f.w.view(e.body, e.end-e.body)
		if err != nil {
			return nil, err
		}
		f.parse(c, b, e.body)
	}
	if len(f.shared) >= maxShared {
		clear(f.shared)
	}
	f.shared[off] = c
	return c, nil
}

// commonHead is head for an entry that another refers to. Its damage is told by the other.
func (f *frames) commonHead(off int64) (e entry, ok bool, err error) {
	if off < 0 || off >= f.s.In.Size {
		return e, false, nil
	}
	quality := f.t.Quality
	e, ok, err = f.head(off)
	f.t.Quality = quality
	return e, ok, err
}

// parse fills c from the fields behind the id. at is where b begins in the section.
func (f *frames) parse(to *common, b []byte, at int64) {
	c := &cursor{b: b, order: native.ByteOrder(f.s.BigEndian)}
	version := c.byte()
	if version != 1 && version != 3 && version != 4 {
		to.want = fmt.Sprintf("version 1, 3 or 4 of the common part, not %d", version)
		return
	}
	augmentation := c.text()
	to.addrSize = f.s.AddrSize
	if version == 4 {
		to.addrSize, to.segment = int(c.byte()), int(c.byte())
	}
	if to.addrSize != 2 && to.addrSize != 4 && to.addrSize != 8 || to.segment > 8 {
		to.want = fmt.Sprintf("addresses of 2, 4 or 8 bytes, not %d", to.addrSize)
		return
	}
	if augmentation == "eh" { // of gcc 2
		c.take(uint64(to.addrSize))
		augmentation = ""
	}
	to.code, to.data = c.uleb(), c.sleb()
	if to.ra = uint64(c.byte()); version > 1 {
		c.p--
		to.ra = c.uleb()
	}
	if to.want = f.augment(to, c, augmentation, at); to.want != "" {
		return
	}
	if c.bad {
		to.want = "a whole common part"
		return
	}
	p := &f.run
	p.begin(f, to, 0, 0)
	p.body = at
	to.want = p.shared(c)
	to.initial = p.rules
}

// augment reads what an augmentation announces: one letter a field.
func (f *frames) augment(to *common, c *cursor, letters string, at int64) (want string) {
	if letters == "" || letters == "armcc+" {
		return ""
	}
	if letters[0] != 'z' || len(letters) > maxAugment {
		return fmt.Sprintf("an augmentation that begins with z, not %.16q", letters)
	}
	to.sized = true
	size := c.uleb()
	next := uint64(c.p) + size
	if c.bad || size > uint64(c.left()) {
		return "a whole augmentation"
	}
	for _, letter := range letters[1:] {
		switch letter {
		case 'R':
			to.encoding = c.byte()
		case 'L':
			c.byte()
		case 'P':
			encoding := c.byte()
			f.pointer(c, encoding&^indirect, to.addrSize, at)
		case 'S', 'B', 'G': // a signal's frame; arm64: a key; tagged memory
		default:
			return fmt.Sprintf("an augmentation of the letters zPLRSBG, not %.16q", letters)
		}
	}
	c.p = int(next)
	if b := to.encoding & baseMask; b != baseNone && b != baseHere || to.encoding&indirect != 0 {
		return fmt.Sprintf("addresses that are absolute or count from their place, not of encoding %#x", to.encoding)
	}
	return ""
}

// pointer reads an address; c begins at offset at of the section. false: it has no value here, but its bytes are passed.
func (f *frames) pointer(c *cursor, encoding byte, addrSize int, at int64) (uint64, bool) {
	if encoding == omitted || encoding == omitted&^indirect {
		return 0, false
	}
	here := f.s.Addr + uint64(at) + uint64(c.p)
	if encoding&baseMask == baseAligned {
		pad := -here & uint64(addrSize-1)
		c.take(pad)
		return c.uint(addrSize), true
	}
	var v uint64
	switch encoding & formMask {
	case plainPointer:
		v = c.uint(addrSize)
	case 1:
		v = c.uleb()
	case 2, 3, 4:
		v = c.uint(1 << (encoding&formMask - 1))
	case 8:
		v = uint64(c.int(addrSize))
	case 9:
		v = uint64(c.sleb())
	case 10, 11, 12:
		v = uint64(c.int(1 << (encoding&formMask - 9)))
	default:
		c.bad = true
		return 0, false
	}
	switch encoding & baseMask {
	case baseNone:
	case baseHere:
		v += here
	default:
		return 0, false
	}
	return v & cut(addrSize), !c.bad
}
