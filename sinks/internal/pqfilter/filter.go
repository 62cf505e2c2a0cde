// Package pqfilter asks the Bloom filters of a Parquet file about values, and reads none of its pages.
package pqfilter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"
)

// ErrDamaged says that a file is no whole Parquet file, or lacks the column.
var ErrDamaged = errors.New("no whole Parquet file with the column")

// Groups returns the row groups in which a column of texts at the top of a plain file of size bytes may hold any of some values. It
// reads the footer and a block of the column's Bloom filters for each value. A row group without a filter may hold anything. A
// filter passes one in a hundred values that the row group lacks.
func Groups(r io.ReaderAt, size int64, column string, values []string) (groups []int, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, v)
		}
	}()
	if err := CheckFooter(r, size); err != nil {
		return nil, err
	}
	f, err := pq.OpenFile(r, size, pq.SkipPageIndex(true))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	leaf, ok := f.Schema().Lookup(column)
	if !ok {
		return nil, fmt.Errorf("%w: it has no column %s", ErrDamaged, column)
	}
	for i, g := range f.RowGroups() {
		filter := g.ColumnChunks()[leaf.ColumnIndex].BloomFilter()
		may := filter == nil
		for _, v := range values {
			if may {
				break
			}
			if may, err = filter.Check(pq.ValueOf(v)); err != nil {
				return nil, err
			}
		}
		if may {
			groups = append(groups, i)
		}
	}
	return groups, nil
}

// CheckFooter returns ErrDamaged if the footer of a file of size bytes does not fit into it. parquet-go takes as much memory as the
// footer's length says, so ask before you open a file.
func CheckFooter(r io.ReaderAt, size int64) error {
	const ends = 4 + 8 // the magic, and behind the footer its length and the magic again
	if size < ends {
		return fmt.Errorf("%w: %d bytes", ErrDamaged, size)
	}
	var b [4]byte
	if _, err := r.ReadAt(b[:], size-8); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if n := int64(binary.LittleEndian.Uint32(b[:])); n > size-ends {
		return fmt.Errorf("%w: a footer of %d bytes in a file of %d", ErrDamaged, n, size)
	}
	return nil
}
