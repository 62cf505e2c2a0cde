package dwarf

import (
	"context"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
)

// index reads the headers of all units of .debug_info.
func (d *Data) index(ctx context.Context) error {
	var r blocks
	s := &d.info
	for off := uint64(0); off < s.size; {
		if len(d.units)&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		b := r.peek(s, off, 48)
		if r.err != nil {
			return r.err
		}
		c := cursor{b: b, big: d.big}
		u := unit{off: off, file: d.file}
		var length uint64
		length, u.offSize = c.initial()
		if length == 0 && !c.bad {
			off += uint64(c.p) // padding between units
			continue
		}
		start := off + uint64(c.p)
		if c.bad || length > s.size-start {
			return d.corrupt(s, off, "a unit header")
		}
		u.end = start + length
		c.b = c.b[:min(uint64(len(c.b)), u.end-off)]
		u.version = uint16(c.uint(2))
		switch {
		case u.version < 2 || u.version > 5:
			u.bad = true
		case u.version == 5:
			u.kind, u.addrSize, u.abbrev = c.u8(), c.u8(), c.uint(u.offSize)
			switch u.kind {
			case utSkeleton, utSplitCompile:
				u.dwoID = c.uint(8)
			case utType, utSplitType:
				c.take(8 + uint64(u.offSize))
			}
		default:
			u.kind, u.abbrev, u.addrSize = utCompile, c.uint(u.offSize), c.u8()
		}
		if !u.bad && (c.bad || u.abbrev >= d.abbrev.size || u.end-u.off > 1<<32-1 ||
			u.addrSize != 2 && u.addrSize != 4 && u.addrSize != 8) {
			u.bad = true
		}
		u.first = off + uint64(c.p)
		if u.code() {
			d.parts = append(d.parts, int32(len(d.units)))
		}
		d.units = append(d.units, u)
		if len(d.units) > d.lim.Units {
			return &formats.Error{Format: d.format, Section: s.name, Offset: int64(off), Want: fmt.Sprintf("at most %d units", d.lim.Units), Err: formats.ErrLimit}
		}
		off = u.end
	}
	return nil
}

// share finds the abbreviation tables that more than one unit uses.
func (d *Data) share() {
	tables := map[uint64]int{}
	for i := range d.units {
		tables[d.units[i].abbrev]++
	}
	for off, n := range tables {
		if n == 1 {
			delete(tables, off)
		}
	}
	d.shared = tables
}

// at is the unit that holds an offset of .debug_info, nil if none does.
func (d *Data) at(off uint64) *unit {
	i, found := slices.BinarySearchFunc(d.units, off, func(u unit, off uint64) int {
		if u.off <= off {
			if off < u.end {
				return 0
			}
			return -1
		}
		return 1
	})
	if !found {
		return nil
	}
	return &d.units[i]
}

// table is the compiled abbreviation table of u. Tables that several units
// share are compiled once and kept; others are compiled into own, which then
// belongs to the caller.
func (d *Data) table(r *blocks, u *unit, own *abbrevs) (*abbrevs, error) {
	keep := d.shared[u.abbrev] > 0 || own == nil
	type key = tableKey
	k := key{u.abbrev, u.shape}
	if keep {
		d.mu.Lock()
		t := d.tables[k]
		d.mu.Unlock()
		if t != nil {
			return t, nil
		}
		if own == nil {
			own = &abbrevs{}
		}
	}
	if err := d.parseTable(r, u, own, 0); err != nil {
		return nil, err
	}
	if keep {
		own = own.clone()
		d.mu.Lock()
		if d.tableBytes += own.bytes; d.tableBytes > maxTableBytes {
			clear(d.tables)
			d.tableBytes = own.bytes
		}
		d.tables[k] = own
		d.mu.Unlock()
	}
	return own, nil
}

// maxTableBytes bounds the abbreviation tables that are kept, in bytes of the
// section; compiled they take several times as much. All tables of ceph-osd,
// 624 MB of DWARF, are 4 MB.
const maxTableBytes = 8 << 20

// chargeTable counts n bytes of an abbreviation table that was read. Units may begin inside each other's tables, so a
// small file could ask for endless work.
func (d *Data) chargeTable(off uint64, n int) error {
	const share = 64 // times the section; sound files ask for less than 4
	if d.compiled.Add(int64(n)) > int64(1<<20+share*d.abbrev.size) {
		return &formats.Error{Format: d.format, Section: d.abbrev.name, Offset: int64(off), Want: "abbreviation tables that do not share their bytes without end", Err: formats.ErrLimit}
	}
	return nil
}

func (d *Data) parseTable(r *blocks, u *unit, t *abbrevs, only uint64) error {
	for want := 4 << 10; ; want *= 4 {
		b := r.peek(&d.abbrev, u.abbrev, want)
		if r.err != nil {
			return r.err
		}
		whole := t.parse(b, u.shape, only)
		read := len(b)
		if whole {
			read = t.bytes
		}
		if err := d.chargeTable(u.abbrev, read); err != nil {
			return err
		}
		if whole {
			return nil
		}
		if uint64(len(b)) >= d.abbrev.size-u.abbrev {
			return d.corrupt(&d.abbrev, u.abbrev, "an abbreviation table")
		}
		want = max(want, len(b))
	}
}

// rootOf reads the first entry of u, which describes the unit.
func (d *Data) rootOf(r *blocks, u *unit, t *abbrevs) (a attrs, tag uint32, err error) {
	for want := 256; ; want *= 8 {
		b := r.peek(&d.info, u.first, want)
		if r.err != nil {
			return a, 0, r.err
		}
		whole := uint64(len(b)) >= u.end-u.first
		if whole {
			b = b[:u.end-u.first]
		}
		if code, p := uleb(b, 0); p >= 0 {
			ab := t.find(code)
			if ab == nil || ab.class == classBad {
				return a, 0, d.corrupt(&d.info, u.first, fmt.Sprintf("abbreviation %d", code))
			}
			if p = t.readEntry(ab, b, p, u.first, u.shape, d.big, &a); p >= 0 {
				return a, ab.tag, nil
			}
		}
		if whole || want > 1<<24 {
			return a, 0, d.corrupt(&d.info, u.first, "the entry of the unit")
		}
	}
}

func (r *Reader) rootAttrs(d *Data, u *unit, a *attrs) rootAttrs {
	root := rootAttrs{
		lang:       a.num(slotLanguage),
		strOffsets: u.strOffsets + a.num(slotStrOffsetsBase),
		addrs:      a.num(slotAddrBase),
		rnglists:   u.lists + a.num(slotRnglistsBase),
		ranges:     a.num(slotRangesBase),
		lines:      a.num(slotStmtList),
		hasLines:   a.is(slotStmtList),
	}
	if u.version >= 5 {
		// Without a base the first table of the section is meant.
		if !a.is(slotStrOffsetsBase) {
			root.strOffsets += headerBytes(u, 8)
		}
		if !a.is(slotAddrBase) {
			root.addrs = headerBytes(u, 8)
		}
		if !a.is(slotRnglistsBase) {
			root.rnglists += headerBytes(u, 12)
		}
	}
	if a.is(slotLow) {
		root.low, _ = d.address(&r.blocks, u, &root, a, slotLow)
	}
	root.compDir = d.stringAttr(&r.blocks, u, &root, a, slotCompDir)
	root.qualifies, root.flat = qualifies(root.lang), flat(root.lang)
	return root
}
