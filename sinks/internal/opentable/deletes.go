package opentable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// deletes is a file of deleted rows of an Iceberg table, or a deletion vector in a file.
type deletes struct {
	key        string
	sequence   int64
	references string // of a vector: the path of its data file
	offset     int64  // of a vector
	bytes      int64  // of a vector; 0: positions in Parquet
	columns    []int  // numbers: their values delete a row; nil: positions do
	scope      string // of deletions by value: partition spec and partition; "": they reach all files
}

// readDeletes finds which rows of the data files are deleted. A deletion reaches files of its own commit and of earlier ones.
func (t *Table) readDeletes(ctx context.Context, b bucket.Bucket, location string) error {
	if len(t.deletes) == 0 {
		return nil
	}
	at := make(map[string]int, len(t.Files))
	for i := range t.Files {
		at[t.Files[i].Key] = i
	}
	find := func(path string) (*File, error) {
		key, err := KeyOf(b, location, path)
		if err != nil {
			return nil, err
		}
		if i, ok := at[key]; ok {
			return &t.Files[i], nil
		}
		return nil, nil // it is gone
	}
	values := newValues(t)
	for i := range t.deletes {
		d := &t.deletes[i]
		var err error
		switch {
		case d.columns != nil:
			err = values.read(ctx, b, d)
		case d.bytes > 0:
			err = t.readVector(ctx, b, d, find)
		default:
			err = t.readPositions(ctx, b, d, find)
		}
		if err != nil {
			return fmt.Errorf("deleted rows in %s: %w", d.key, err)
		}
	}
	for i := range t.Files {
		f := &t.Files[i]
		slices.Sort(f.Gone)
		f.Gone = slices.Compact(f.Gone)
		f.reached()
	}
	return nil
}

func (t *Table) readVector(ctx context.Context, b bucket.Bucket, d *deletes, find func(string) (*File, error)) error {
	f, err := find(d.references)
	if err != nil || f == nil || f.sequence > d.sequence {
		return err
	}
	text, err := readPart(ctx, b, d.key, d.offset, d.bytes)
	if err != nil {
		return err
	}
	rows, err := framedVector(text)
	f.Gone = append(f.Gone, rows...)
	return err
}

// maxVectorBytes is the longest deletion vector that is read.
const maxVectorBytes = 256 << 20

// readPart reads a part of an object.
func readPart(ctx context.Context, b bucket.Bucket, key string, offset, n int64) (text []byte, err error) {
	e, _, err := b.Stat(ctx, key)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s is not there: %w", ErrTable, key, err)
	}
	if err != nil {
		return nil, err
	}
	if offset < 0 || n < 0 || n > maxVectorBytes || offset > e.Size-n {
		return nil, fmt.Errorf("%w: %d bytes at %d of %s, which has %d", ErrTable, n, offset, key, e.Size)
	}
	r, err := b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	text = make([]byte, n)
	_, err = io.ReadFull(io.NewSectionReader(r, offset, n), text)
	return text, err
}

// readPositions reads a file of positions.
func (t *Table) readPositions(ctx context.Context, b bucket.Bucket, d *deletes, find func(string) (*File, error)) error {
	f, done, err := openRows(ctx, b, d.key)
	if err != nil {
		return err
	}
	defer done()
	leaves := make([]pqfile.Leaf, 2)
	for _, l := range f.Leaves() {
		switch {
		case l.Path == "file_path" && l.Kind == pqfile.LeafText && !l.List:
			leaves[0] = l
		case l.Path == "pos" && l.Kind == pqfile.LeafInt && !l.List:
			leaves[1] = l
		}
	}
	if leaves[0].Path == "" || leaves[1].Path == "" {
		return fmt.Errorf("%w: it has no columns file_path and pos", ErrTable)
	}
	last := ""
	var of *File
	for g := range f.Groups() {
		err := f.Scan(ctx, g, leaves, func(rows int, cells []pqfile.Cells) error {
			for i := range rows {
				if len(cells[0].Null) > 0 && cells[0].Null[i] || len(cells[1].Null) > 0 && cells[1].Null[i] {
					return fmt.Errorf("%w: a position is NULL", ErrTable)
				}
				if path := cells[0].Texts[i]; path != last || last == "" {
					last = strings.Clone(path)
					if of, err = find(last); err != nil {
						return err
					}
				}
				if of == nil || of.sequence > d.sequence {
					continue
				}
				row := cells[1].Ints[i]
				if t.gone++; row > 1<<32-1 || t.gone > maxGone {
					return fmt.Errorf("%w: row %d of %s is deleted, among %d rows: too many for symlake. Run rewrite_data_files first", ErrTable, row, last, t.gone)
				}
				of.Gone = append(of.Gone, uint32(row))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// openRows opens a Parquet file of a table's metadata. done closes it.
func openRows(ctx context.Context, b bucket.Bucket, key string) (f *pqfile.Rows, done func(), err error) {
	e, _, err := b.Stat(ctx, key)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, nil, fmt.Errorf("%w: it is not there: %w", ErrTable, err)
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := b.Open(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	f, err = pqfile.OpenRows(ctx, r, e.Size, func() (sinks.LakeKeys, error) {
		return sinks.LakeKeys{}, fmt.Errorf("%w: it is encrypted", ErrTable)
	})
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return f, func() { f.Close(); r.Close() }, nil
}
