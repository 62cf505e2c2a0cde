package pe

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/explode"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/once"
	"github.com/symlake/symlake/formats/internal/pclntab"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
)

// object is an opened file. What exploding needs is read when the first part asks for it, once.
type object struct {
	in    *formats.Input
	file  *pefile.File
	code  []native.Span
	units int // parts that are units; the names of functions are one more

	misplaced string // a warning about its place in a store of symbols

	goTable *pclntab.Table // of a Go program without units, or nil

	imageRead once.Work
	img       *native.Image

	unitsOpen once.Work
	exploder  *explode.Exploder
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
	mem, err := o.file.Loaded()
	if err != nil {
		return err
	}
	o.goTable, err = pclntab.Find(ctx, mem, nil, o.file.GoTables())
	return err
}

// parts is the number of units, of parts of a Go program's table, and one for the names of functions.
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
	_, o.exploder, err = explode.Open(ctx, name, sections, o.in.Limits, o.units, img)
	return err
}

// explode emits one part: a unit, a part of a Go program's table, or at last the names of functions.
func (o *object) explode(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	var q symbol.Quality
	if part < 0 || part >= o.parts() {
		return q, fmt.Errorf("%s: part %d of %d", name, part, o.parts())
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
		if o.misplaced != "" {
			q.Warnings = append(q.Warnings, o.misplaced)
		}
	}
	return q, err
}
