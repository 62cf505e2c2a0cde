package pqfile

import (
	"context"
	"io"

	"github.com/symlake/symlake/sinks"
)

// Extend begins to write the rows of f, in their order and row groups, with the columns of a table added. From plain to
// plain, the columns of f are copied byte for byte, whatever they hold; else their values are.
func (f *Rows) Extend(ctx context.Context, w io.Writer, x Extension) (e Extended, err error) {
	defer broken(&err, ErrRows)
	drop, err := f.dropped(x.Table)
	if err != nil {
		return nil, err
	}
	if f.sealed != nil || x.Profile == sinks.LakeSealed {
		return f.reseal(ctx, w, x, drop)
	}
	return f.splice(w, x, drop)
}
