package bulk

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// Region is a part of the table: the rows in [Start, End).
type Region struct {
	Start, End []byte // End empty: no end
}

func (r *Region) holds(row []byte) bool {
	return bytes.Compare(r.Start, row) <= 0 && (len(r.End) == 0 || bytes.Compare(row, r.End) < 0)
}

func (r *Region) same(o *Region) bool {
	return bytes.Equal(r.Start, o.Start) && bytes.Equal(r.End, o.End)
}

func (r *Region) String() string { return fmt.Sprintf("[%x, %x)", r.Start, r.End) }

// find is the region that a row is in.
func find(regions []Region, row []byte) (*Region, error) {
	i, found := slices.BinarySearchFunc(regions, row, func(r Region, row []byte) int { return bytes.Compare(r.Start, row) })
	if !found {
		i--
	}
	if i < 0 || !regions[i].holds(row) {
		return nil, fmt.Errorf("no region of the table holds row %x", row)
	}
	return &regions[i], nil
}

// Handover names a file for a region.
type Handover struct {
	Dir, Path string // the staging folder, and a file in it
	// Secure has the server stand in for the user, which HBase 3 demands. It then says of every refusal no more than
	// loaded=false; without, that is for a file outside of the region's boundaries.
	Secure bool
	// Token, unless nil, lets the server reach the file in the user's name.
	Token *Token
}

// Token is a right to act for its owner at a file system.
type Token struct {
	Identifier, Password []byte
	Kind, Service        string
}

// Cluster is the table that files are handed to. Safe for concurrent use. Its
// errors but ErrUnclear and fs.ErrNotExist are final: what can be repeated or found elsewhere has been.
type Cluster interface {
	// Regions are all of the table's, ascending and without gaps; fresh: as they are
	// now, else as they were last seen.
	Regions(ctx context.Context, fresh bool) ([]Region, error)
	// Prepare makes a staging folder on HBase's file system, open to all, and notes it
	// where the next clean-up finds it if this process dies.
	Prepare(ctx context.Context) (dir string, err error)
	// Load hands a file over to the region that holds row.
	// ErrUnclear: it may have been done. fs.ErrNotExist: the server does not find the file.
	Load(ctx context.Context, row []byte, h Handover) (loaded bool, err error)
	// Keys emits the rows of the table in [from, stop) in order, without values.
	Keys(ctx context.Context, from, stop []byte, emit func(row []byte) error) error
	// Cleanup removes a staging folder and the note of it.
	Cleanup(ctx context.Context, dir string) error
}

// After is the first key that does not begin with a prefix; nil: there is none.
func After(prefix []byte) []byte {
	next := bytes.Clone(prefix)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]++; next[i] != 0 {
			return next[:i+1]
		}
	}
	return nil
}
