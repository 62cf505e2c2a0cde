package elffile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/symlake/symlake/formats/internal/native"
)

// reloc is one relocation of a section.
type reloc struct {
	off    uint64
	kind   uint32
	symbol uint32
	addend int64
	stored bool // SHT_REL: the addend stands at the place
	table  *table
}

const widest = 16 // bytes a relocation may touch: a ULEB128 of a 64-bit value has 10

// relocations gives section i's relocations in ascending order of their
// places, one a call; nil if there are none to apply. Only relocatable files
// have any: what others carry beside .debug_* was applied when they were
// linked. Code and data stay as they are, nothing here reads them relocated
// but function descriptors and call frame information. Nor do the tables that relocations themselves are
// read by: a section that claims relocations would wait for itself.
func (f *File) relocations(i int, size uint64) (func() (*reloc, error), error) {
	if f.kind != typeRel || f.headers[i].flags&shfAlloc != 0 && f.headers[i].name != ".opd" && f.headers[i].name != ".eh_frame" {
		return nil, nil
	}
	switch f.headers[i].kind {
	case shtSymtab, shtStrtab, shtRela, shtRel, shtDynsym, shtShndx:
		return nil, nil
	}
	var readers []*relocReader
	for j := range f.headers {
		h := &f.headers[j]
		if h.kind != shtRel && h.kind != shtRela || h.info != uint32(i) || h.size == 0 || i == 0 {
			continue
		}
		r, err := f.relocReader(j, size)
		if err != nil {
			return nil, err
		}
		readers = append(readers, r)
	}
	if len(readers) == 0 {
		return nil, nil
	}
	if len(readers) == 1 {
		sorted, err := readers[0].sorted()
		if err != nil {
			return nil, err
		}
		if sorted {
			return readers[0].next, nil
		}
	}
	var all []reloc
	for _, r := range readers {
		for {
			next, err := r.next()
			if err != nil {
				return nil, err
			}
			if next == nil {
				break
			}
			all = append(all, *next)
		}
	}
	slices.SortStableFunc(all, func(a, b reloc) int {
		switch {
		case a.off < b.off:
			return -1
		case a.off > b.off:
			return 1
		}
		return 0
	})
	return func() (*reloc, error) {
		if len(all) == 0 {
			return nil, nil
		}
		r := &all[0]
		all = all[1:]
		return r, nil
	}, nil
}

// relocReader reads one relocation section piece by piece.
type relocReader struct {
	f     *File
	name  string
	rela  bool
	size  uint64 // of the section that is relocated
	entry int
	in    interface {
		View(off, n int64) ([]byte, error)
	}
	n     int64 // entries
	at    int64 // next entry
	first int64 // entry at the start of b
	b     []byte
	table *table
	r     reloc
}

func (f *File) relocReader(j int, size uint64) (*relocReader, error) {
	h := &f.headers[j]
	r := &relocReader{f: f, name: h.name, rela: h.kind == shtRela, size: size}
	switch word := f.AddrSize(); {
	case r.rela:
		r.entry = 3 * word
	default:
		r.entry = 2 * word
	}
	if h.entrySize != 0 && h.entrySize != uint64(r.entry) {
		return nil, corrupt(h.name, 0, fmt.Sprintf("entries of %d bytes, not %d", r.entry, h.entrySize))
	}
	if h.flags&shfCompressed != 0 {
		return nil, unsupported(h.name, 0, "relocations that are not compressed")
	}
	in, err := f.raw(j)
	if err != nil {
		return nil, err
	}
	r.in, r.n = in, in.Size/int64(r.entry)
	r.table, err = f.table(int(h.link), false)
	return r, err
}

// sorted reports whether the places ascend, and starts over.
func (r *relocReader) sorted() (bool, error) {
	var last uint64
	defer func() { r.at = 0 }()
	for {
		next, err := r.next()
		if next == nil || err != nil {
			return err == nil, err
		}
		if next.off < last {
			return false, nil
		}
		last = next.off
	}
}

// next is valid until the call after it.
func (r *relocReader) next() (*reloc, error) {
	if r.at >= r.n {
		return nil, nil
	}
	at := (r.at - r.first) * int64(r.entry)
	if r.b == nil || at < 0 || at >= int64(len(r.b)) {
		const piece = 4096
		b, err := r.in.View(r.at*int64(r.entry), min(piece, r.n-r.at)*int64(r.entry))
		if err != nil {
			return nil, err
		}
		r.b, r.first, at = b, r.at, 0
	}
	e := native.Fields{B: r.b[at:], Order: r.f.Order}
	r.at++
	x := &r.r
	*x = reloc{table: r.table, stored: !r.rela}
	if r.f.wide {
		x.off = e.U64(0)
		info := e.U64(8)
		x.symbol, x.kind = uint32(info>>32), uint32(info)
		if r.f.machine == machMIPS { // a symbol, then three types of a byte each, in either byte order
			x.symbol, x.kind = e.U32(8), uint32(e.B[15])
		}
		if r.f.machine == machSPARCV9 { // the upper bytes are data of the type
			x.kind &= 0xff
		}
		if r.rela {
			x.addend = int64(e.U64(16))
		}
	} else {
		x.off = uint64(e.U32(0))
		info := e.U32(4)
		x.symbol, x.kind = info>>8, info&0xff
		if r.rela {
			x.addend = int64(int32(e.U32(8)))
		}
	}
	if x.off >= r.size {
		return nil, corrupt(r.name, uint64(r.at-1)*uint64(r.entry), fmt.Sprintf("a place below %#x, not %#x", r.size, x.off))
	}
	return x, nil
}

// relocator hands a section's bytes on with its relocations applied.
type relocator struct {
	f       *File
	section string
	place   uint64 // address of the section
	src     io.Reader
	next    func() (*reloc, error)

	pending *reloc
	none    bool   // no relocation is left
	store   []byte // what buf is a part of
	buf     []byte // read, not handed on
	ready   int    // of buf: bytes that nothing can change any more
	base    uint64 // section offset of buf[0]
	eof     bool
}

func (r *relocator) Read(p []byte) (int, error) {
	for r.ready == 0 {
		if r.eof && len(r.buf) == 0 {
			return 0, io.EOF
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.buf[:r.ready])
	r.buf, r.ready, r.base = r.buf[n:], r.ready-n, r.base+uint64(n)
	return n, nil
}

// fill reads a piece and applies the relocations that lie wholly in it.
func (r *relocator) fill() error {
	if !r.eof {
		if r.store == nil {
			r.store = make([]byte, 256<<10)
		}
		// No more is left than the bytes of one place.
		kept := copy(r.store, r.buf)
		n, err := io.ReadFull(r.src, r.store[kept:])
		r.buf = r.store[:kept+n]
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			r.eof = true
		case err != nil:
			return err
		}
	}
	end := r.base + uint64(len(r.buf))
	for !r.none {
		if r.pending == nil {
			next, err := r.next()
			if err != nil {
				return err
			}
			if next == nil {
				r.none = true
				break
			}
			r.pending = next
		}
		if r.pending.off+widest > end && !r.eof {
			// What the place holds is not all here yet.
			r.ready = int(min(r.pending.off, end) - r.base)
			return nil
		}
		if err := r.apply(r.pending); err != nil {
			return err
		}
		r.pending = nil
	}
	r.ready = len(r.buf)
	return nil
}

// apply changes the bytes at one place.
func (r *relocator) apply(x *reloc) error {
	rule, ok := ruleOf(r.f.machine, x.kind)
	if !ok {
		return unsupported(r.section, x.off, fmt.Sprintf("a relocation type of %s that is known, not %d", r.f.Arch(), x.kind))
	}
	if rule.op == opNone {
		return nil
	}
	if x.off < r.base || x.off-r.base > uint64(len(r.buf)) || uint64(len(r.buf))-(x.off-r.base) < uint64(rule.width) {
		return corrupt(r.section, x.off, fmt.Sprintf("%d bytes to relocate", rule.width))
	}
	place := r.buf[x.off-r.base:]
	order := r.f.Order
	var old uint64
	switch rule.width {
	case 1:
		old = uint64(place[0])
	case 2:
		old = uint64(order.Uint16(place))
	case 4:
		old = uint64(order.Uint32(place))
	case 8:
		old = order.Uint64(place)
	}
	addend := uint64(x.addend)
	if x.stored {
		addend = old
		if rule.width == 4 {
			addend = uint64(int64(int32(uint32(old))))
		}
	}
	value := addend
	if x.symbol != 0 {
		if int64(x.symbol) >= int64(x.table.n) {
			return corrupt(r.section, x.off, fmt.Sprintf("a symbol below %d, not %d", x.table.n, x.symbol))
		}
		e := x.table.at(int(x.symbol))
		s, defined := x.table.address(&e)
		if !defined {
			// What it describes was dropped or lies elsewhere: an address that
			// no code has, as linkers write it (-2 where -1 has a meaning).
			s, addend = math.MaxUint64, 0
			if r.section == ".debug_ranges" || r.section == ".debug_loc" {
				s--
			}
		}
		value = s + addend
	}
	switch rule.op {
	case opRelative:
		value -= r.place + x.off
	case opAdd:
		value = old + value
	case opSub:
		value = old - value
	case opSet6:
		value = old&^0x3f | value&0x3f
	case opAdd6:
		value = old&^0x3f | (old+value)&0x3f
	case opSub6:
		value = old&^0x3f | (old-value)&0x3f
	case opSetULEB, opAddULEB, opSubULEB:
		return r.uleb(rule.op, place, value, x.off)
	}
	switch rule.width {
	case 1:
		place[0] = byte(value)
	case 2:
		order.PutUint16(place, uint16(value))
	case 4:
		order.PutUint32(place, uint32(value))
	case 8:
		order.PutUint64(place, value)
	}
	return nil
}

// uleb changes a ULEB128 in place; its length stays.
func (r *relocator) uleb(op op, place []byte, value, off uint64) error {
	var old uint64
	n := 0
	for {
		if n == len(place) || n == 10 {
			return corrupt(r.section, off, "a ULEB128 to relocate")
		}
		b := place[n]
		old |= uint64(b&0x7f) << (7 * n)
		n++
		if b < 0x80 {
			break
		}
	}
	switch op {
	case opAddULEB:
		value = old + value
	case opSubULEB:
		value = old - value
	}
	for i := range n {
		b := byte(value & 0x7f)
		if value >>= 7; i < n-1 {
			b |= 0x80
		}
		place[i] = b
	}
	return nil
}
