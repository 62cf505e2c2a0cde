package macho

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/explode"
	"github.com/symlake/symlake/formats/internal/machofile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/once"
	"github.com/symlake/symlake/formats/internal/pclntab"
	"github.com/symlake/symlake/formats/symbol"
)

// object is an opened image. What exploding needs is read when the first part
// asks for it, once.
type object struct {
	in      *formats.Input
	file    *machofile.File
	code    []native.Span
	units   []*units // where DWARF comes from: the image, or its object files
	lacking []string // object files of the debug map that were not found, if others were
	closers []func() error
	goTable *pclntab.Table // of a Go program without units, or nil

	imageRead once.Work
	img       *native.Image

	symbolMap  symbolMap
	missingMap string
}

// units is one file with DWARF.
type units struct {
	file  *machofile.File
	count int
	moved *moves // nil: the image itself

	opened   once.Work
	data     *dwarf.Data
	exploder *explode.Exploder
}

// findUnits finds where DWARF is and reads the headers of its units.
func (o *object) findUnits(ctx context.Context) error {
	n, err := dwarf.CountUnits(ctx, o.file, name, o.in.Limits)
	if err != nil {
		return err
	}
	if n > 0 {
		o.units = []*units{{file: o.file, count: n}}
		return nil
	}
	return o.openObjectFiles(ctx)
}

// parts is the number of units of all files.
func (o *object) parts() (n int) {
	for _, u := range o.units {
		n += u.count
	}
	return n
}

// findGo finds the table of a Go program.
func (o *object) findGo(ctx context.Context) error {
	places := o.file.GoTables()
	if len(places) == 0 {
		return nil
	}
	mem, err := o.file.Loaded()
	if err != nil {
		return err
	}
	o.goTable, err = pclntab.Find(ctx, mem, places, nil)
	return err
}

// goParts is the number of parts of a Go program's table.
func (o *object) goParts() int {
	if o.goTable == nil {
		return 0
	}
	return o.goTable.Parts()
}

// image is the code and its symbols.
func (o *object) image(ctx context.Context) (*native.Image, error) {
	err := o.imageRead.Do(name, func() error {
		symbols, err := o.file.Symbols(ctx)
		if err == nil {
			symbols, err = o.unhideSymbols(ctx, symbols)
		}
		o.img = &native.Image{Base: o.file.Base(), Code: o.code, Symbols: symbols}
		return err
	})
	return o.img, err
}

// prepare makes the units of a file ready to be exploded.
func (u *units) prepare(ctx context.Context, o *object) error {
	return u.opened.Do(name, func() error { return u.open(ctx, o) })
}

func (u *units) open(ctx context.Context, o *object) error {
	img, err := o.image(ctx)
	if err != nil {
		return err
	}
	if u.moved != nil {
		symbols, err := u.file.Symbols(ctx)
		if err != nil {
			return err
		}
		img = &native.Image{Code: u.file.Code(), Symbols: symbols}
	}
	sections, err := dwarf.SectionsOf(u.file, name)
	if err != nil {
		return err
	}
	if u.data, u.exploder, err = explode.Open(ctx, name, sections, o.in.Limits, u.count, img); err != nil {
		return err
	}
	u.exploder.Apart = u.moved != nil
	return nil
}

// explode emits one part: a unit, a part of a Go program's table, or at last the symbol table.
func (o *object) explode(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	var q symbol.Quality
	count := o.parts()
	all := count + o.goParts() + 1
	if part < 0 || part >= all {
		return q, fmt.Errorf("macho: part %d of %d", part, all)
	}
	if err := ctx.Err(); err != nil {
		return q, err
	}
	img, err := o.image(ctx)
	if err != nil {
		return q, err
	}
	emit = o.unhide(emit)
	first := part == 0
	switch {
	case part == all-1:
		err = explode.Symbols(img, emit)
	case part >= count:
		q, err = o.goTable.Explode(ctx, img, o.in.Limits, part-count, emit)
	default:
		var u *units
		for _, u = range o.units {
			if part < u.count {
				break
			}
			part -= u.count
		}
		if err := u.prepare(ctx, o); err != nil {
			return q, err
		}
		if u.moved != nil {
			emit = u.moved.emit(img, emit)
		}
		q, err = u.exploder.Part(ctx, part, emit)
		q.Missing = nil // skeleton units name precompiled modules here: they hold no code
	}
	if first {
		q.Text = img.TextBytes()
		q.Missing = append(q.Missing, o.lacking...)
		if o.missingMap != "" {
			q.Missing = append(q.Missing, o.missingMap)
		}
		if lib := o.debugLibrary(); lib != "" {
			q.Warnings = append(q.Warnings, "stub: this is the launcher of a debug build; the code's own is in "+lib)
		}
	}
	return q, err
}

// debugLibrary returns the library with the code of a debug build if the image is its launcher, else "".
func (o *object) debugLibrary() string {
	in, err := o.file.Stored("__TEXT", "__debug_dylib")
	if in == nil || err != nil || in.Size > o.in.Limits.NameBytes {
		return ""
	}
	b, err := in.View(0, in.Size)
	if err != nil {
		return ""
	}
	path, _, _ := bytes.Cut(b, []byte{0})
	return formats.Base(strings.ToValidUTF8(string(path), "\uFFFD"))
}

func (o *object) close() error {
	errs := []error{o.file.Close()}
	for _, u := range o.units {
		if u.moved != nil {
			errs = append(errs, u.file.Close())
		}
	}
	for _, c := range o.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}
