package opentable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/equality"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/internal/relabel"
)

// valueDeletes are rows that an Iceberg table has deleted by the values of some columns, in one partition or everywhere.
type valueDeletes struct {
	columns []int // numbers, ascending
	set     *equality.Set
	files   []deletes
}

// newest is the number of the last commit that deleted rows.
func (v *valueDeletes) newest() (sequence int64) {
	for _, d := range v.files {
		sequence = max(sequence, d.sequence)
	}
	return sequence
}

// values gathers the deletions by value of a table.
type values struct {
	t      *Table
	budget equality.Budget
	by     map[string]*valueDeletes // by scope and columns
	older  map[string]int64         // the least sequence number of the data files, by scope; "": of all
}

func newValues(t *Table) *values {
	v := &values{t: t, by: map[string]*valueDeletes{}, older: map[string]int64{}}
	for i := range t.Files {
		f := &t.Files[i]
		for _, scope := range []string{"", f.scope} {
			if least, ok := v.older[scope]; !ok || f.sequence < least {
				v.older[scope] = f.sequence
			}
		}
	}
	return v
}

// read reads a file of values, unless it reaches no data file: a deletion reaches files of earlier commits.
func (v *values) read(ctx context.Context, b bucket.Bucket, d *deletes) error {
	if least, ok := v.older[d.scope]; !ok || least >= d.sequence {
		return nil
	}
	slices.Sort(d.columns)
	name := fmt.Sprint(d.columns, d.scope)
	all := v.by[name]
	if all == nil {
		all = &valueDeletes{columns: d.columns, set: equality.NewSet(&v.budget)}
		v.by[name] = all
		for i := range v.t.Files {
			if f := &v.t.Files[i]; d.scope == "" || f.scope == d.scope {
				f.byValue = append(f.byValue, all)
			}
		}
	}
	all.files = append(all.files, *d)
	f, done, err := openRows(ctx, b, d.key)
	if err != nil {
		return err
	}
	defer done()
	columns := make([]equality.Column, len(d.columns))
	for i, id := range d.columns {
		l := v.t.Names.leaf(f.Leaves(), id)
		if l == nil {
			return fmt.Errorf("%w: it has no column of the number %d", ErrTable, id)
		}
		columns[i].Leaf = *l
	}
	return refused(all.set.Add(ctx, f, columns, d.sequence))
}

// reached keeps those deletions that reach a file.
func (f *File) reached() {
	f.byValue = slices.DeleteFunc(f.byValue, func(v *valueDeletes) bool { return v.newest() <= f.sequence })
}

// deletions returns the rows of the file that are deleted, from 0, ascending. rows is the open file, before it drops rows.
func (f *File) deletions(ctx context.Context, rows *pqfile.Rows) ([]uint32, error) {
	gone := f.Gone
	for _, v := range f.byValue {
		columns := make([]equality.Column, len(v.columns))
		for i, id := range v.columns {
			if l := f.names.leaf(rows.Leaves(), id); l != nil {
				columns[i].Leaf = *l
				continue
			}
			value, ok := f.names.constant(f, id)
			if !ok {
				return nil, fmt.Errorf("%w: rows are deleted by the value of column %d, of type %s, which the file lacks", ErrTable, id, f.names.types[id])
			}
			columns[i].Value = value
		}
		found := []uint32(nil)
		err := v.set.Matches(ctx, rows, columns, f.sequence, func(row uint32) error {
			if len(found) >= maxGone {
				return equality.ErrTooMany
			}
			found = append(found, row)
			return nil
		})
		if err != nil {
			return nil, refused(err)
		}
		gone = slices.Concat(gone, found)
	}
	if len(f.byValue) > 0 {
		slices.Sort(gone)
		gone = slices.Compact(gone)
	}
	return gone, nil
}

// Rows opens the file, which r reads, without the rows that are deleted. label gives columns other names; nil: they keep theirs. A
// nil File is of no table. The caller closes the result before r.
func (f *File) Rows(ctx context.Context, r io.ReaderAt, size int64, label relabel.Label, keys func() (sinks.LakeKeys, error)) (rows *pqfile.Rows, err error) {
	if label != nil {
		if r, size, err = relabel.Open(r, size, label); err != nil {
			return nil, err
		}
	}
	rows, err = pqfile.OpenRows(ctx, r, size, keys)
	if f == nil || err != nil {
		return rows, err
	}
	gone, err := f.deletions(ctx, rows)
	if err == nil {
		err = rows.Drop(gone)
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return rows, nil
}

// refused says what to do about deletions by value that are not read.
func refused(err error) error {
	if errors.Is(err, equality.ErrTooMany) || errors.Is(err, equality.ErrColumn) {
		return fmt.Errorf("%w: %w. Run rewrite_data_files first", ErrTable, err)
	}
	return err
}
