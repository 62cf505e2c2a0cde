package tables

import (
	"context"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/opentable"
)

// shape says whether a row is a frame or a stack.
type shape uint8

const (
	frames shape = iota // one frame
	stacks              // text, or a list of pairs
)

// kind is a kind of files of rows.
type kind struct {
	open func(ctx context.Context, j *job, in *input) (table, error)
}

// table is an open file of rows.
type table interface {
	shape() shape
	// rows returns how many rows there are, or a guess.
	rows() int64
	// parts adds the segments that are known, and gives how many parts read can take at once.
	parts(u *unit, in *input) (int, error)
	// Read gives the frames of a part to a lane.
	read(ctx context.Context, l *lane, in *input, part int) error
	// write writes all rows with the answers of u.
	write(ctx context.Context, u *unit, in *input, w *output) error
	// stacks writes all rows with the answers that answer gives.
	stacks(ctx context.Context, a *stackAnswerer, w *output) error
	close() error
}

// input is a file of rows.
type input struct {
	entry bucket.Entry
	to    string        // key of the output
	old   *bucket.Entry // the output that there is
	kind  *kind
	// values of columns that stand beside the file, by their names
	values map[string]string
	file   *opentable.File // of a table; nil: of none
	names  *opentable.Names
	label  opentable.Label // of columns, where the output gets other names than the file; nil: it keeps them

	table   table    // of rows that are frames; nil while it is closed
	numbers []uint32 // of its segments
}

func (in *input) close() {
	if in.table != nil {
		in.table.close()
		in.table = nil
	}
}
