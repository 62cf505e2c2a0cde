package dwarf

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
)

// The columns of the index of a package, numbered as in version 5, section
// 7.3.5.3, and in the extension that was version 2 before it. Types, locations
// and macros are left out.
const (
	sectInfo       = 1
	sectAbbrev     = 3
	sectStrOffsets = 6
	sectRnglists   = 8 // in version 2 macros: its lists of ranges are not split
)

// contribution is what one .dwo file gave to the sections of a package.
type contribution struct {
	id       uint64
	off, end uint64 // in .debug_info.dwo
	abbrev   uint64
	pieces
}

// readIndex reads .debug_cu_index: a hash table of ids, then where in each
// section the contribution of each row begins, and how long it is. All
// contributions lie in their sections; those to .debug_info.dwo ascend and are
// disjoint. The work is bounded by the size of the section.
func (d *Data) readIndex(in *formats.Input) ([]contribution, error) {
	s := newSection(".debug_cu_index", 9, in)
	fail := func(off uint64, want string) error { return d.corrupt(&s, off, want) }
	if in.Size > d.lim.SectionBytes {
		return nil, &formats.Error{Format: d.format, Section: s.name, Want: fmt.Sprintf("at most %d bytes", d.lim.SectionBytes), Err: formats.ErrLimit}
	}
	b, err := in.View(0, in.Size)
	if err != nil {
		return nil, err
	}
	c := cursor{b: b, big: d.big}
	version := c.uint(4)
	if d.big && version>>16 == 5 || !d.big && version&0xffff == 5 { // two bytes, then padding
		version = 5
	}
	columns, units, slots := c.uint(4), c.uint(4), c.uint(4)
	switch {
	case c.bad:
		return nil, fail(0, "the header of an index")
	case version != 2 && version != 5:
		return nil, &formats.Error{Format: d.format, Section: s.name, Want: fmt.Sprintf("an index of version 2 or 5, not %d", version), Err: formats.ErrUnsupported}
	case units == 0:
		return nil, nil
	}
	// Each number is below 2^32, and so is the size of a table of hashes or
	// rows; only their product can be larger than 64 bits hold.
	left := uint64(len(b) - c.p)
	if slots > left/12 || columns > left/4 || columns == 0 || units > (left-slots*12)/(columns*8) || (units*2+1)*columns*4 > left-slots*12 {
		return nil, fail(4, fmt.Sprintf("an index of %d units, %d slots and %d columns that fits its section", units, slots, columns))
	}
	ids, rows := c.p, c.p+int(slots*8)
	heads := rows + int(slots*4)
	word := func(at int) uint64 { return number(b[at:at+4], d.big) }
	var column [sectRnglists + 1]int // from 1
	for i := range int(columns) {
		if kind := word(heads + 4*i); kind < uint64(len(column)) && column[kind] == 0 {
			column[kind] = i + 1
		}
	}
	if version == 2 {
		column[sectRnglists] = 0
	}
	if column[sectInfo] == 0 || column[sectAbbrev] == 0 {
		return nil, fail(uint64(heads), "columns for .debug_info.dwo and .debug_abbrev.dwo")
	}
	offsets := heads + 4*int(columns)
	sizes := offsets + 4*int(units*columns)
	used := make([]bool, units) // no more than the section's bytes
	var all []contribution
	for slot := range int(slots) {
		row := word(rows + 4*slot)
		if row == 0 {
			continue
		}
		at := rows + 4*slot
		if row > units || used[row-1] {
			return nil, fail(uint64(at), fmt.Sprintf("a row up to %d that no other slot names, not %d", units, row))
		}
		used[row-1] = true
		x := contribution{id: number(b[ids+8*slot:ids+8*slot+8], d.big)}
		part := func(kind int, of *section) (off, end uint64, err error) {
			if column[kind] == 0 {
				return 0, of.size, nil
			}
			cell := 4 * (int(row-1)*int(columns) + column[kind] - 1)
			off = word(offsets + cell)
			if end = off + word(sizes+cell); end > of.size {
				err = fail(uint64(offsets+cell), fmt.Sprintf("a contribution inside the %d bytes of %s", of.size, of.name))
			}
			return off, end, err
		}
		for _, want := range []struct {
			kind     int
			of       *section
			off, end *uint64
		}{
			{sectInfo, &d.info, &x.off, &x.end},
			{sectAbbrev, &d.abbrev, &x.abbrev, nil},
			{sectStrOffsets, &d.strOffsets, &x.strOffsets, nil},
			{sectRnglists, &d.lists5, &x.lists, nil},
		} {
			off, end, err := part(want.kind, want.of)
			if err != nil {
				return nil, err
			}
			if *want.off = off; want.end != nil {
				*want.end = end
			}
		}
		x.info = x.off
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b contribution) int { return cmp.Compare(a.off, b.off) })
	for i := 1; i < len(all); i++ {
		if all[i].off < all[i-1].end {
			return nil, fail(uint64(offsets), fmt.Sprintf("contributions to .debug_info.dwo that do not overlap, as those at %#x and %#x do", all[i-1].off, all[i].off))
		}
	}
	return all, nil
}

// place tells the units of a package where their parts are, and finds their
// ids. Units in no contribution cannot be read.
func (p *Pack) place(rows []contribution) {
	d := p.d
	for i := range d.units {
		u := &d.units[i]
		for len(rows) > 0 && rows[0].end <= u.off {
			rows = rows[1:]
		}
		if len(rows) == 0 || u.off < rows[0].off || u.end > rows[0].end {
			u.bad = true
			continue
		}
		x := &rows[0]
		u.abbrev += x.abbrev
		u.pieces = x.pieces
		u.bad = u.bad || u.abbrev >= d.abbrev.size
		switch {
		case u.bad || !u.code():
		case u.kind == utSplitCompile: // several may come from one file, each with its id
			p.add(u.dwoID, int32(i))
		case u.version < 5:
			p.add(x.id, int32(i))
		}
	}
}

func (p *Pack) add(id uint64, unit int32) {
	if _, twice := p.units[id]; !twice {
		p.units[id] = unit
	}
}
