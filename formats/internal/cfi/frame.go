package cfi

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/unwind"
)

const (
	maxEntry  = 16 << 20 // bytes of a function's description; the largest known one has 40 KiB
	maxShared = 1024     // common parts that are kept; others are read again
)

// Section is a section with call frame information of DWARF.
type Section struct {
	In        *formats.Input // inflated and relocated
	Name      string
	Addr      uint64 // where it is loaded
	Runtime   bool   // .eh_frame; false: .debug_frame
	Ends      bool   // a length of zero ends it: where it ends is not known otherwise
	BigEndian bool
	AddrSize  int  // bytes, where the section does not say
	Thumb     bool // an odd address means Thumb code, one byte below it
	Swapped   bool // registers 4 and 5 are swapped, as in .eh_frame of 32-bit x86 on Apple's systems
	Arch      *unwind.Arch
}

// frames reads one section.
type frames struct {
	s      *Section
	t      *Table
	w      window
	shared map[int64]*common // by offset; nil: damaged
	work   int64             // bytes of common parts that were read
	run    program
}

// common is what functions share: a CIE.
type common struct {
	want     string // not "": why it is of no use
	sized    bool   // augmentations have a length
	code     uint64 // factor of places
	data     int64  // factor of offsets
	ra       uint64 // column of the return address
	encoding byte   // of addresses
	addrSize int
	segment  int // bytes of a segment before each address
	initial  unwind.Rules
}

// entry is one description as it stands in a section.
type entry struct {
	off, id  int64 // of the length, and of the field behind it
	end      int64
	wide     bool // the 64-bit format
	pointer  uint64
	isCommon bool
	body     int64
}

// Read adds what a section says to a table. Damage is counted there. An error is the input's, the taker's or ctx's.
func Read(ctx context.Context, s *Section, t *Table) error {
	f := &frames{s: s, t: t, w: window{in: s.In}, shared: map[int64]*common{}}
	for off, n := int64(0), 0; off < s.In.Size; n++ {
		if n&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		e, ok, err := f.head(off)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		off = e.end
		if e.body < 0 || e.isCommon {
			continue
		}
		if err := f.function(&e); err != nil {
			return err
		}
	}
	return nil
}

// head reads the length and the kind of the entry at off. false: the section ends here, by its own word or by damage.
// An entry with body < 0 is padding.
func (f *frames) head(off int64) (e entry, ok bool, err error) {
	s := f.s
	b, err := f.w.view(off, min(20, s.In.Size-off))
	if err != nil {
		return e, false, err
	}
	c := cursor{b: b, order: native.ByteOrder(s.BigEndian)}
	e = entry{off: off, body: -1}
	length := c.uint(4)
	if length == 0xffffffff {
		e.wide, length = true, c.uint(8)
	}
	if length == 0 && !c.bad {
		e.end = off + int64(c.p)
		return e, !s.Ends, nil
	}
	e.id = off + int64(c.p)
	if c.bad || length > uint64(s.In.Size-e.id) {
		if s.In.Size-off >= 4 {
			f.t.Drop(s.Name, uint64(off), fmt.Sprintf("an entry of at most %d bytes, not %d", s.In.Size-e.id, length))
		}
		return e, false, nil
	}
	e.end = e.id + int64(length)
	size, none := 4, uint64(0)
	switch {
	case s.Runtime:
	case e.wide:
		size, none = 8, 1<<64-1
	default:
		none = 1<<32 - 1
	}
	e.pointer = c.uint(size)
	if c.bad || length < uint64(size) || length > maxEntry {
		f.t.Drop(s.Name, uint64(off), fmt.Sprintf("an entry of %d to %d bytes, not %d", size, maxEntry, length))
		return e, true, nil
	}
	e.isCommon = e.pointer == none
	e.body = e.id + int64(size)
	return e, true, nil
}

// function adds the rows of one function.
func (f *frames) function(e *entry) error {
	f.t.Quality.Units++
	at := int64(e.pointer)
	if f.s.Runtime {
		at = e.id - int64(e.pointer)
	}
	cie, err := f.common(at)
	if err != nil {
		return err
	}
	if cie.want != "" {
		f.drop(e, cie.want)
		return nil
	}
	b, err := f.w.view(e.body, e.end-e.body)
	if err != nil {
		return err
	}
	c := cursor{b: b, order: native.ByteOrder(f.s.BigEndian)}
	c.take(uint64(cie.segment))
	start, known := f.pointer(&c, cie.encoding, cie.addrSize, e.body)
	size, _ := f.pointer(&c, cie.encoding&0x0f, cie.addrSize, e.body)
	if cie.sized {
		c.take(c.uleb())
	}
	if f.s.Thumb {
		start &^= 1
	}
	switch {
	case c.bad || !known:
		f.drop(e, "the place of a function")
		return nil
	case !f.t.Has(start): // the linker dropped it
		return nil
	}
	return f.rows(e, cie, &c, start, size)
}

// rows runs the program of a function.
func (f *frames) rows(e *entry, cie *common, c *cursor, start, size uint64) error {
	p := &f.run
	most := cut(cie.addrSize)
	p.begin(f, cie, start, min(start+size, most))
	if start+size < start {
		p.end = most
	}
	p.body = e.body
	if want := p.function(c); want != "" {
		f.drop(e, want)
		return nil
	}
	for i := range p.rows {
		r := &p.rows[i]
		if err := f.t.add(r.start, r.end, p.coded[r.from:r.to]); err != nil {
			return err
		}
	}
	return nil
}

// cut is the highest address.
func cut(size int) uint64 { return ^uint64(0) >> (64 - 8*size) }

func (f *frames) drop(e *entry, want string) { f.t.Drop(f.s.Name, uint64(e.off), want) }
