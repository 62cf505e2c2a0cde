package cfi

import (
	"context"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Emit hands out the call frame information that sources add to one table, one after the other. It is the body of
// formats.Artifact's Unwind.
func Emit(ctx context.Context, base uint64, code []native.Span, lim *formats.Limits, emit func(*symbol.Unwind) error, sources ...func(*Table) error) (symbol.Quality, error) {
	if err := ctx.Err(); err != nil {
		return symbol.Quality{}, err
	}
	t := NewTable(base, code, lim, emit)
	for _, add := range sources {
		if err := add(t); err != nil {
			return t.Quality, err
		}
	}
	err := t.Flush()
	return t.Quality, err
}
