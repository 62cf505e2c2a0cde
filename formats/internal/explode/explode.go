// Package explode turns function trees and line rows into runs.
package explode

import (
	"context"

	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Exploder explodes the units of one object, one part each.
type Exploder struct {
	d   *dwarf.Data
	img *native.Image
}

// Units prepares the explosion of d, whose code lies in img.
func Units(d *dwarf.Data, img *native.Image) *Exploder { return &Exploder{d: d, img: img} }

// Parts is the number of units that can hold code.
func (x *Exploder) Parts() int { return x.d.Units() }

// Part emits the runs of unit i. Safe for concurrent calls with different i.
func (x *Exploder) Part(ctx context.Context, i int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	return symbol.Quality{}, nil
}

// Symbols emits the runs of the symbol tables alone, by rank.
func Symbols(img *native.Image, emit func(*symbol.Run) error) error { return nil }
