package equality

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// MaxBytes bounds the memory of the sets that share a Budget: some four million rows of one number.
const MaxBytes = 256 << 20

// rowBytes is about what a row of a Set takes besides its values.
const rowBytes = 56

// ErrTooMany says that more rows are deleted by value than memory is given for.
var ErrTooMany = errors.New("too many rows are deleted by value")

// ErrColumn says that a file has no values that can be compared in a column.
var ErrColumn = errors.New("the column cannot be compared")

// Budget is the memory that the sets of a table have taken.
type Budget struct{ bytes int }

// Set holds deleted rows, and up to which data files they reach. One goroutine adds rows; later several may match at once.
type Set struct {
	budget *Budget
	rows   map[string]int64 // the greatest sequence number by values
}

// NewSet returns an empty set.
func NewSet(b *Budget) *Set { return &Set{b, map[string]int64{}} }

// Add adds the rows of a file of deletions. columns are those to compare, and sequence is the number of its commit.
func (s *Set) Add(ctx context.Context, f *pqfile.Rows, columns []Column, sequence int64) error {
	return scan(ctx, f, columns, func(_ int64, key []byte) error {
		have, ok := s.rows[string(key)]
		if !ok {
			if s.budget.bytes += len(key) + rowBytes; s.budget.bytes > MaxBytes {
				return fmt.Errorf("%w: they take more than %d bytes", ErrTooMany, MaxBytes)
			}
		}
		if !ok || have < sequence {
			s.rows[string(key)] = sequence
		}
		return nil
	})
}

// Matches calls emit with the numbers of the rows of a data file that equal a row of the set, from 0, ascending. sequence is the
// number of the commit that added the file: only rows that a later commit deleted count.
func (s *Set) Matches(ctx context.Context, f *pqfile.Rows, columns []Column, sequence int64, emit func(row uint32) error) error {
	return scan(ctx, f, columns, func(row int64, key []byte) error {
		switch last, ok := s.rows[string(key)]; {
		case !ok || last <= sequence:
			return nil
		case row > math.MaxUint32:
			return fmt.Errorf("%w: row %d of a file is deleted", ErrTooMany, row)
		}
		return emit(uint32(row))
	})
}
