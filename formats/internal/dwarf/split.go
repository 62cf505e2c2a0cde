package dwarf

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/symlake/symlake/formats"
)

// skeleton is what the entry of a unit says of its split unit, nil if it has
// none.
func (r *Reader) skeleton(u *unit, a *attrs) *Skeleton {
	s := &Skeleton{ID: u.dwoID, HasID: u.kind == utSkeleton}
	switch {
	case u.version >= 5 && u.kind != utSkeleton:
		return nil
	case u.version < 5:
		if !a.is(slotDwoName) && !a.is(slotDwoID) {
			return nil
		}
		s.ID, s.HasID = a.num(slotDwoID), a.is(slotDwoID)
	}
	root := r.rootAttrs(r.home, u, a)
	s.Name = r.String(r.home.stringAttr(&r.blocks, u, &root, a, slotDwoName))
	s.Dir = r.String(root.compDir)
	return s
}

// Skeletons are the units of the object that have split units, in the
// order of the file. It reads the first entry of each unit; what cannot be read
// is left to the parts to count.
func (d *Data) Skeletons(ctx context.Context) ([]*Skeleton, error) {
	r := d.Reader()
	defer r.Close()
	var all []*Skeleton
	var t abbrevs
	for n, i := range d.parts {
		if n&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		u := &d.units[i]
		if u.bad || u.version >= 5 && u.kind != utSkeleton {
			continue
		}
		r.d, r.err = d, nil
		if a, ok := r.first(u, &t); ok {
			if s := r.skeleton(u, &a); s != nil {
				all = append(all, s)
			}
		}
		if r.err != nil && !formats.Rejects(r.err) {
			return nil, r.err
		}
	}
	return all, nil
}

// first reads the first entry of a unit. Of the unit's abbreviations it needs no
// more than one.
func (r *Reader) first(u *unit, t *abbrevs) (attrs, bool) {
	code, p := uleb(r.peek(&r.d.info, u.first, 16), 0)
	if p < 0 || code == 0 || r.d.parseTable(&r.blocks, u, t, code) != nil {
		return attrs{}, false
	}
	a, _, err := r.d.rootOf(&r.blocks, u, t)
	return a, err == nil
}

// Missing names the dwz file that the object refers to and Open was not given:
// "dwz:BUILD-ID".
func (d *Data) Missing() []string {
	if d.altID != "" && d.altData == nil {
		return []string{"dwz:" + d.altID}
	}
	return nil
}

// OpenPack reads unit headers and, of a package, s.Index. Of s it takes Info,
// Abbrev, Str, StrOffsets and Rnglists, all ".dwo", besides. host is the object
// the owner of the split units; nil to find out no more than their ids.
func OpenPack(ctx context.Context, host *Data, s Sections, lim *formats.Limits) (*Pack, error) {
	d := newData(s, lim)
	for _, at := range []*section{&d.info, &d.abbrev, &d.str, &d.strOffsets, &d.lists5} {
		at.name += ".dwo"
	}
	d.host = d
	if host != nil {
		n := host.packs.Add(1)
		if n >= maxPacks {
			return nil, &formats.Error{Format: d.format, Section: d.info.name, Want: fmt.Sprintf("fewer than %d files with split units", maxPacks), Err: formats.ErrLimit}
		}
		d.host, d.file, d.addr, d.lists = host, Ref(n)<<fileShift, host.addr, host.lists
		host.packed.Add(d.lists5.size)
	}
	if err := d.index(ctx); err != nil {
		return nil, err
	}
	p := &Pack{d: d, units: map[uint64]int32{}, indexed: s.Index != nil}
	if !p.indexed {
		err := p.name(ctx)
		d.share()
		return p, err
	}
	rows, err := d.readIndex(s.Index)
	if err != nil {
		return nil, err
	}
	p.place(rows)
	d.share()
	return p, nil
}

// name finds the ids of units that no index names: in headers, in version 4 in
// entries. Of units with one id the first counts.
func (p *Pack) name(ctx context.Context) error {
	r := p.d.Reader()
	defer r.Close()
	var t abbrevs
	for n, i := range p.d.parts {
		if n&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		u := &p.d.units[i]
		switch {
		case u.bad:
		case u.kind == utSplitCompile:
			p.add(u.dwoID, i)
		case u.version < 5:
			r.d, r.err = p.d, nil
			if a, ok := r.first(u, &t); ok && a.is(slotDwoID) {
				p.add(a.val[slotDwoID], i)
			}
			if r.err != nil && !formats.Rejects(r.err) {
				return r.err
			}
		}
	}
	return nil
}

// Has reports whether the split unit of that id is there.
func (p *Pack) Has(id uint64) bool {
	_, ok := p.units[id]
	return ok
}

// Package reports whether the file was made for units of several, by its index
// or by their number: whoever needs one of them may need the others.
func (p *Pack) Package() bool { return p.indexed || len(p.units) > 1 }

// IDs are the ids of all units, ascending.
func (p *Pack) IDs() []uint64 { return slices.Sorted(maps.Keys(p.units)) }

// Enter goes on with the entries of the open unit where p has them; p.Has of the
// unit's id. The unit keeps the line table and the addresses of the object.
// Errors are as of Open, and leave nothing to walk. p must outlive the unit.
func (r *Reader) Enter(p *Pack, id uint64) error {
	r.walk.done = true
	d := p.d
	u := &d.units[p.units[id]]
	if u.bad {
		return d.unsupported(u)
	}
	var err error
	if r.t, err = d.table(&r.blocks, u, &r.own); err != nil {
		return err
	}
	a, tag, err := d.rootOf(&r.blocks, u, r.t)
	if err != nil {
		return err
	}
	if tag != tagCompileUnit {
		return d.corrupt(&d.info, u.first, fmt.Sprintf("a compile unit, not tag %#x", tag))
	}
	if u.addrSize != r.u.addrSize {
		return d.corrupt(&d.info, u.off, fmt.Sprintf("addresses of %d bytes, not %d", r.u.addrSize, u.addrSize))
	}
	r.d, r.u = d, u
	r.root = r.rootAttrs(d, u, &a)
	o := &r.outer
	r.root.low, r.root.addrs, r.root.ranges = o.low, o.addrs, o.ranges
	r.walk.done = false
	return r.fill(u.first, windowBytes)
}
