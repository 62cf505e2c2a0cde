package elf

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/elffile"
	"github.com/symlake/symlake/formats/internal/explode"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/once"
	"github.com/symlake/symlake/formats/internal/pclntab"
	"github.com/symlake/symlake/formats/internal/split"
	"github.com/symlake/symlake/formats/symbol"
)

// object is an opened file. What exploding needs is read when the first part
// asks for it, once.
type object struct {
	in    *formats.Input
	file  *elffile.File
	code  []native.Span
	units int // parts that are units; the symbol tables are one more

	goTable *pclntab.Table // of a Go program without units, or nil

	imageRead once.Work
	img       *native.Image

	unitsOpen once.Work
	data      *dwarf.Data
	exploder  *explode.Exploder
	splits    split.Units

	alt   *elffile.File // dwz's file, or nil
	altIn *formats.Input
}

// image is the code and its symbols.
func (o *object) image(ctx context.Context) (*native.Image, error) {
	err := o.imageRead.Do(name, func() error {
		symbols, err := o.file.Symbols(ctx)
		o.img = &native.Image{Base: o.file.Base(), Code: o.code, Symbols: symbols, Thumb: o.file.Thumb()}
		return err
	})
	return o.img, err
}

// findGo finds the table of a Go program.
func (o *object) findGo(ctx context.Context) error {
	own, merged := o.file.GoTables()
	if len(own)+len(merged) == 0 {
		return nil
	}
	mem, err := o.file.Loaded(ctx)
	if err != nil {
		return err
	}
	o.goTable, err = pclntab.Find(ctx, mem, own, merged)
	return err
}

// parts is the number of units, of parts of a Go program's table, and one for the symbol tables.
func (o *object) parts() int {
	if o.goTable == nil {
		return o.units + 1
	}
	return o.units + o.goTable.Parts() + 1
}

// prepare makes the units ready to be exploded.
func (o *object) prepare(ctx context.Context) error {
	return o.unitsOpen.Do(name, func() error { return o.openUnits(ctx) })
}

func (o *object) openUnits(ctx context.Context) error {
	img, err := o.image(ctx)
	if err != nil {
		return err
	}
	sections, err := dwarf.SectionsOf(o.file, name)
	if err != nil {
		return err
	}
	if err := o.openAlt(ctx, &sections); err != nil {
		return err
	}
	o.data, o.exploder, err = explode.Open(ctx, name, sections, o.in.Limits, o.units, img)
	if sections.Alt != nil && formats.Rejects(err) {
		sections.Alt = nil // its fault, perhaps: the object must be readable without it
		o.data, o.exploder, err = explode.Open(ctx, name, sections, o.in.Limits, o.units, img)
	}
	if err != nil {
		return err
	}
	o.splits = split.Units{Format: name, In: o.in, File: o.file, Data: o.data, Open: openSplit}
	o.exploder.Split = o.splits.Find
	return nil
}

// openSplit opens a file with split units.
func openSplit(in *formats.Input) (split.File, error) {
	f, err := elffile.Open(in)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// openAlt asks for the file that dwz moved shared entries to. Without it the
// units are read as far as they go, and Quality names the missing file.
func (o *object) openAlt(ctx context.Context, s *dwarf.Sections) error {
	sup, err := o.file.Supplement()
	if sup == nil || sup.Is || err != nil {
		return err
	}
	s.AltID = hex.EncodeToString(sup.ID)
	if o.in.Companion == nil {
		return nil
	}
	o.altIn, err = o.in.Companion(ctx, formats.Ref{ID: "dwz:" + s.AltID, Name: sup.Name})
	if errors.Is(err, formats.ErrNoCompanion) {
		return nil
	}
	if err != nil {
		return err
	}
	s.Alt, err = o.readAlt(s.AltID)
	if formats.Rejects(err) {
		return nil // damaged: as good as missing
	}
	return err
}

// readAlt is the sections of the companion, nil if it is another build's.
func (o *object) readAlt(id string) (*dwarf.Sections, error) {
	var err error
	if o.alt, err = elffile.Open(o.altIn); err != nil {
		return nil, err
	}
	if got, err := supplementID(o.alt); err != nil || got != id {
		return nil, err
	}
	alt, err := dwarf.SectionsOf(o.alt, name)
	if err != nil {
		return nil, err
	}
	return &alt, nil
}

// explode emits one part: a unit, a part of a Go program's table, or at last the symbol tables.
func (o *object) explode(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	var q symbol.Quality
	if part < 0 || part >= o.parts() {
		return q, fmt.Errorf("elf: part %d of %d", part, o.parts())
	}
	if err := ctx.Err(); err != nil {
		return q, err
	}
	img, err := o.image(ctx)
	if err != nil {
		return q, err
	}
	switch {
	case part < o.units:
		if err := o.prepare(ctx); err != nil {
			return q, err
		}
		q, err = o.exploder.Part(ctx, part, emit)
	case part < o.parts()-1:
		q, err = o.goTable.Explode(ctx, img, o.in.Limits, part-o.units, emit)
	default:
		err = explode.Symbols(img, emit)
	}
	if part == 0 {
		q.Text = img.TextBytes()
		if o.units > 0 {
			q.Missing = append(q.Missing, o.data.Missing()...)
		}
	}
	return q, err
}

func (o *object) close() error {
	err := errors.Join(o.splits.Close(), o.file.Close())
	if o.alt != nil {
		err = errors.Join(err, o.alt.Close())
	}
	if o.altIn != nil && o.altIn.Release != nil {
		err = errors.Join(err, o.altIn.Release())
	}
	return err
}
