package tables

import (
	"context"
	"path"
	"strings"
)

// shape is what a row of a file is.
type shape uint8

const (
	frames shape = iota // one frame
	stacks              // text, or a list of pairs
)

// kind is a kind of files of rows.
type kind struct {
	open func(ctx context.Context, j *job, in *input) (table, error)
}

// kindByName finds the kind by a key's extension; nil: none.
// Known reports whether a file is read, by its name.
func Known(name string) bool { return kindByName(name) != nil }

func kindByName(key string) *kind {
	name := strings.ToLower(path.Base(key))
	for _, compressed := range []string{".gz", ".zst"} {
		if cut, ok := strings.CutSuffix(name, compressed); ok && (strings.HasSuffix(cut, ".ndjson") || strings.HasSuffix(cut, ".jsonl")) {
			name = cut
			break
		}
	}
	switch path.Ext(name) {
	case ".parquet":
		return &kind{openParquet}
	case ".ndjson", ".jsonl":
		return &kind{openJSON}
	}
	return nil
}

// table is an open file of rows.
type table interface {
	shape() shape
	// rows is how many rows there are, or about.
	rows() int64
	// parts adds the segments that are known, and gives how many parts read can take at once.
	parts(u *unit, in *input) (int, error)
	// read gives the frames of a part to a lane.
	read(ctx context.Context, l *lane, in *input, part int) error
	// write writes all rows with the answers of u.
	write(ctx context.Context, u *unit, in *input, w *output) error
	// stacks writes all rows with the answers that answer gives.
	stacks(ctx context.Context, a *stackAnswerer, w *output) error
	close() error
}
