package pqfile

import (
	"fmt"
	"slices"
)

// Drop leaves rows out: Scan does not give them, Extend does not write them, and Groups does not count them. gone are their
// numbers in the file, from 0, ascending. The caller calls it once, before it reads. ErrRows: the file does not have these rows.
func (f *Rows) Drop(gone []uint32) error {
	if len(gone) == 0 {
		return nil
	}
	f.gone = make([][]uint32, len(f.groups))
	left := slices.Clone(f.groups)
	first := int64(0)
	for g, n := range f.groups {
		for len(gone) > 0 && int64(gone[0]) < first+n {
			f.gone[g] = append(f.gone[g], uint32(int64(gone[0])-first))
			gone = gone[1:]
		}
		left[g] -= int64(len(f.gone[g]))
		first += n
	}
	if len(gone) > 0 {
		return fmt.Errorf("%w: row %d was deleted, and it has %d rows", ErrRows, gone[0], first)
	}
	f.groups = left
	return nil
}

// living goes through the rows of a row group and tells which ones are left.
type living struct {
	gone []uint32
	row  uint32
	last bool // the row that next told of last
}

func (l *living) next() bool {
	l.last = len(l.gone) == 0 || l.gone[0] != l.row
	if !l.last {
		l.gone = l.gone[1:]
	}
	l.row++
	return l.last
}

// keepRows moves the values and levels of rows that are left to the front, and returns how many levels and values these are.
// most are the maximum levels of the column.
func keepRows[T any](rows *living, values []T, def, rep []int16, mostDef, mostRep int16) (levels, n int) {
	at := 0
	for i := range def {
		if mostRep == 0 || rep[i] == 0 {
			rows.next()
		}
		has := mostDef == 0 || def[i] == mostDef
		if rows.last {
			def[levels], rep[levels] = def[i], rep[i]
			levels++
			if has {
				values[n] = values[at]
				n++
			}
		}
		if has {
			at++
		}
	}
	return levels, n
}
