package dwarf

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats"
)

// Open indexes the unit headers of .debug_info and reads no more than those.
// An error means that the units cannot be told apart, or that there are more
// than lim.Units. lim must have its defaults filled in.
func Open(ctx context.Context, s Sections, lim *formats.Limits) (*Data, error) {
	d := newData(s, lim)
	if s.Alt != nil {
		alt := *s.Alt
		alt.BigEndian, alt.Format, alt.AddrSize = s.BigEndian, s.Format, s.AddrSize
		d.altData = newData(alt, lim)
		d.altData.file = altRef
		if err := d.altData.index(ctx); err != nil {
			return nil, err
		}
		d.altData.share()
	}
	if err := d.index(ctx); err != nil {
		return nil, err
	}
	d.share()
	return d, nil
}

// Open begins unit i, 0 <= i < Data.Units(). An error that wraps
// formats.ErrCorrupt or ErrUnsupported condemns this unit only.
func (r *Reader) Open(i int) (Unit, error) {
	d := r.home
	u := &d.units[d.parts[i]]
	r.d, r.u, r.err, r.damage, r.charged = d, u, nil, nil, 0
	r.buf, r.base = nil, u.first
	r.scopes.reset()
	r.line.reset()
	r.walk.reset()
	clear(r.foreign)
	if u.bad {
		return Unit{}, d.unsupported(u)
	}
	var err error
	if r.t, err = d.table(&r.blocks, u, &r.own); err != nil {
		return Unit{}, err
	}
	a, tag, err := d.rootOf(&r.blocks, u, r.t)
	if err != nil {
		return Unit{}, err
	}
	if tag != tagCompileUnit && tag != tagPartialUnit && tag != tagSkeletonUnit {
		return Unit{}, d.corrupt(&d.info, u.first, fmt.Sprintf("a unit, not tag %#x", tag))
	}
	r.root = r.rootAttrs(d, u, &a)
	r.outer = r.root
	out := Unit{Lines: r.root.hasLines, Split: r.skeleton(u, &a), Bytes: u.end - u.first, Scattered: u.version == 2}
	if out.Ranges, err = r.rangesOf(&a, nil); err != nil {
		if !errors.Is(err, formats.ErrCorrupt) {
			return Unit{}, err
		}
		r.damage = err // its functions say where they are
	}
	return out, r.fill(u.first, windowBytes)
}
