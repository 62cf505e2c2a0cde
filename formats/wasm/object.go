package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/explode"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/once"
	"github.com/symlake/symlake/formats/internal/split"
	"github.com/symlake/symlake/formats/internal/wasmfile"
	"github.com/symlake/symlake/formats/symbol"
)

// object is an opened module. What exploding needs is read when the first part asks for it, once.
type object struct {
	in      *formats.Input
	file    *wasmfile.File
	debug   *wasmfile.File // with the DWARF: file, or another
	debugIn *formats.Input // of another
	missing string         // the part in another file, if it was not found
	units   int            // parts that are units; the names are one more

	tablesRead once.Work
	all        tables

	unitsOpen once.Work
	exploder  *explode.Exploder
	data      *dwarf.Data
	splits    split.Units
}

// tables are the functions of a module.
type tables struct {
	functions *wasmfile.Functions
	image     *native.Image // its addresses are DWARF's
}

// tables reads the functions, once.
func (o *object) tables(ctx context.Context) (*tables, error) {
	err := o.tablesRead.Do(name, func() (err error) {
		t := tables{}
		if t.functions, err = o.file.Functions(ctx); err != nil {
			return err
		}
		t.image = &native.Image{
			Base:    -o.file.CodeStart(), // an address of DWARF less the base, modulo 2^64, is an offset in the module
			Code:    []native.Span{{Start: 0, End: o.file.CodeBytes()}},
			Symbols: t.functions.Symbols(),
		}
		o.all = t
		return nil
	})
	return &o.all, err
}

// findUnits finds where DWARF is: in the module, or in the file that it names. It reads the headers of its units.
func (o *object) findUnits(ctx context.Context, id *native.Identity) error {
	o.debug = o.file
	var err error
	if o.units, err = countUnits(ctx, o.file, o.in.Limits); o.units > 0 || err != nil {
		return err
	}
	url, err := o.file.ExternalDebugInfo()
	if url == "" || err != nil || o.in.Companion == nil {
		return err
	}
	ref := formats.Ref{ID: partName(id.Canonical), Name: formats.Base(url)}
	o.missing = ref.ID
	in, err := o.in.Companion(ctx, ref)
	if errors.Is(err, formats.ErrNoCompanion) {
		return nil
	}
	if err != nil {
		return err
	}
	o.debugIn = in
	found, err := wasmfile.Open(in)
	if err == nil && !found.Component {
		err = o.take(ctx, found)
	}
	if formats.Rejects(err) {
		return nil // damaged: as good as missing
	}
	return err
}

// take makes a file the source of DWARF, if it was linked with the module: it has the same id, or no code and no id.
func (o *object) take(ctx context.Context, f *wasmfile.File) error {
	own, err := identify(ctx, o.in, o.file)
	if err != nil {
		return err
	}
	other, err := identify(ctx, o.debugIn, f)
	if err != nil || other.Canonical != "" && other.Canonical != own.Canonical || f.CodeBytes() > 0 && f.CodeBytes() != o.file.CodeBytes() {
		return err
	}
	units, err := countUnits(ctx, f, o.in.Limits)
	if units > 0 && err == nil {
		o.debug, o.units, o.missing = f, units, ""
	}
	return err
}

// prepare makes the units ready to be exploded.
func (o *object) prepare(ctx context.Context) error {
	return o.unitsOpen.Do(name, func() error { return o.openUnits(ctx) })
}

func (o *object) openUnits(ctx context.Context) error {
	t, err := o.tables(ctx)
	if err != nil {
		return err
	}
	sections, err := dwarf.SectionsOf(o.debug, name)
	if err != nil {
		return err
	}
	if o.data, o.exploder, err = explode.Open(ctx, name, sections, o.in.Limits, o.units, t.image); err != nil {
		return err
	}
	o.splits = split.Units{Format: name, In: o.in, File: o.debug, Data: o.data, Open: openSplit}
	o.exploder.Split = o.splits.Find
	return nil
}

// openSplit opens a file with split units.
func openSplit(in *formats.Input) (split.File, error) {
	f, err := wasmfile.Open(in)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// explode emits one part: a unit, or at last the names.
func (o *object) explode(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	var q symbol.Quality
	if part < 0 || part > o.units {
		return q, fmt.Errorf("wasm: part %d of %d", part, o.units+1)
	}
	if err := ctx.Err(); err != nil {
		return q, err
	}
	t, err := o.tables(ctx)
	if err != nil {
		return q, err
	}
	emit = t.numbered(emit)
	if part < o.units {
		if err := o.prepare(ctx); err != nil {
			return q, err
		}
		q, err = o.exploder.Part(ctx, part, emit)
	} else if err = explode.Symbols(t.image, emit); err == nil {
		err = t.imports(emit)
	}
	if part == 0 {
		q.Text = t.image.TextBytes() + uint64(len(t.functions.Imported)+len(t.functions.Defined))
		if o.missing != "" {
			q.Missing = append(q.Missing, o.missing)
		}
		if o.units > 0 {
			q.Missing = append(q.Missing, o.data.Missing()...)
		}
		if t.functions.Damage != nil {
			q.Warnings = append(q.Warnings, t.functions.Damage.Error())
		}
	}
	return q, err
}

func (o *object) close() error {
	err := errors.Join(o.splits.Close(), o.file.Close())
	if o.debugIn != nil && o.debugIn.Release != nil {
		err = errors.Join(err, o.debugIn.Release())
	}
	return err
}
