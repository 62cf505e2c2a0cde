// Package explode turns the functions and line rows of a native object into
// runs: disjoint ranges, each with its whole inline chain.
//
// It leaves to others: reading DWARF (formats/internal/dwarf) and program
// files (formats/internal/elffile, machofile), and settling what two units, or a unit and
// a symbol table, say about one address: that is the sweep's, by rank, part
// and sequence.
//
// Invariants, for each part:
//   - runs are disjoint from each other; the ranges of a run ascend without
//     gaps and neighbors differ;
//   - code that two functions of a unit claim belongs to the function that begins
//     first, of several that begin together to the first in the file;
//   - inside a function, an inlined function lies within the one it is
//     inlined into, and of two that claim an address the function that begins
//     last, or stands last, has it; in DWARF 2, where one in several pieces may
//     say only its first, functions inlined into it may lie outside that;
//   - code that does not lie whole in one span of the image's code is left out:
//     linkers leave functions they threw away at 0, 1, -1 or -2;
//   - runs depend on the part alone, not on other parts or their order.
//
// # Names
//
// A function is called by its linkage name. A function without one (in C, or a
// closure in C++) is called by its qualified name, where llvm-symbolizer prints
// the bare one: it says the same, and says where; the linkage name decides
// wherever there is one, so that answers agree in all else. The outermost
// name gives way to a symbol only if that begins where the piece of the
// function begins and spells the same function more exactly: with a suffix
// (.cold, .isra.0, not .__part.1, which numbers basic blocks; scopes that the symbol lacks stay), or mangled where DWARF is
// not. Aliases do not replace it.
package explode

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Units prepares the explosion of d. Its code lies in img. Both must
// outlive the Exploder and not change.
func Units(d *dwarf.Data, img *native.Image) *Exploder {
	x := &Exploder{d: d, img: img, lim: d.Limits()}
	// Code at 0 is real in a relocatable file: its symbols begin there too.
	// A linked file that maps its header as code has none.
	x.zero = len(img.Code) > 0 && img.Code[0].Start == 0 && len(img.Symbols) > 0 && img.Symbols[0].Addr == 0
	return x
}

// Parts is the number of units that can hold code.
func (x *Exploder) Parts() int { return x.d.Units() }

// Part emits the runs of unit i. A unit that is damaged counts as broken and
// yields the part read before the damage, and its line table; the error is
// then nil. Errors come from ctx, the input, limits, and emit.
// Quality has all fields but Text and the ones that ingest fills. Safe for
// concurrent calls.
func (x *Exploder) Part(ctx context.Context, i int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	q := symbol.Quality{Units: 1}
	if err := ctx.Err(); err != nil {
		return q, err
	}
	p, _ := x.parts.Get().(*part)
	if p == nil {
		p = &part{x: x}
	}
	p.r = x.d.Reader()
	p.ctx = ctx
	err := p.explode(i, emit, &q)
	p.r.Close()
	p.r, p.emit, p.ctx = nil, nil, nil
	x.parts.Put(p)
	return q, err
}

func (p *part) explode(i int, emit func(*symbol.Run) error, q *symbol.Quality) error {
	p.emit, p.err = emit, nil
	p.tree.reset()
	p.strings.begin()
	p.lines.reset()
	p.run.reset()
	p.files, p.paths = p.files[:0], 0
	p.covered = p.covered[:0]

	u, err := p.r.Open(i)
	if err != nil {
		q.UnitsBroken = 1
		if !damaged(err) {
			return err
		}
		if e := (*formats.Error)(nil); errors.As(err, &e) && errors.Is(err, formats.ErrUnsupported) {
			q.Warnings = append(q.Warnings, e.Section+": want "+e.Want) // the same for all units
		}
		return nil
	}
	if u.Split != nil {
		done, err := p.enter(u.Split, q)
		defer done()
		if err != nil {
			return err
		}
	}
	p.tree.reserve(u.Bytes)
	p.tree.scattered = u.Scattered
	own := append([]native.Span(nil), u.Ranges...)
	if err = p.walk(); err == nil {
		err = p.r.Damage()
	}
	if err != nil {
		q.UnitsBroken = 1
		if p.err != nil || !damaged(err) {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	if err := p.between(own); err != nil {
		return err
	}
	if p.lines.table != nil {
		q.LinesBroken = uint32(p.lines.table.Broken)
	}
	return nil
}

// enter goes on with the entries of a split unit, if they are to be had.
func (p *part) enter(s *dwarf.Skeleton, q *symbol.Quality) (done func(), err error) {
	done = func() {}
	var pack *dwarf.Pack
	if p.x.Split != nil {
		pack, done, err = p.x.Split(p.ctx, s)
	}
	if err != nil && !formats.Rejects(err) {
		return done, err
	}
	if err != nil {
		q.Warnings = append(q.Warnings, err.Error())
	}
	if pack == nil || err != nil {
		q.Missing = append(q.Missing, s.Companion())
		return done, nil
	}
	if err := p.r.Enter(pack, s.ID); err != nil {
		q.UnitsBroken = 1
		if !damaged(err) {
			return done, err
		}
		q.Warnings = append(q.Warnings, fmt.Sprintf("%s: %v", s.Companion(), err))
	}
	return done, nil
}

// Open opens the units of a file, and prepares their explosion. units is how many there were when they were counted.
// format stands in errors. The code lies in img.
func Open(ctx context.Context, format string, s dwarf.Sections, lim *formats.Limits, units int, img *native.Image) (*dwarf.Data, *Exploder, error) {
	d, err := dwarf.Open(ctx, s, lim)
	if err != nil {
		return nil, nil, err
	}
	if n := d.Units(); n != units {
		return nil, nil, &formats.Error{Format: format, Section: ".debug_info", Want: fmt.Sprintf("the %d units there were at first, not %d", units, n), Err: formats.ErrCorrupt}
	}
	return d, Units(d, img), nil
}
