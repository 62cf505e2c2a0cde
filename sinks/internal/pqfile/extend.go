package pqfile

import (
	"context"
	"io"

	"github.com/symlake/symlake/sinks"
)

// Extend begins a file with the rows of f, in their order and row groups, and the columns of a table added. From a plain
// file to a plain one it copies the bytes of the old columns; otherwise it copies their values.
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
