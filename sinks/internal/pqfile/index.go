package pqfile

import (
	"github.com/parquet-go/parquet-go/format"
)

// chunkIndex is the page index of a column of a row group.
type chunkIndex struct {
	bounds  *format.ColumnIndex // nil: none
	offsets format.OffsetIndex
}

// add notes a page of so many bytes that begins at an offset with a row.
func (c *chunkIndex) add(p *page, at, size int64, row int) {
	c.offsets.PageLocations = append(c.offsets.PageLocations, format.PageLocation{Offset: at, CompressedPageSize: int32(size), FirstRowIndex: int64(row)})
	if c.bounds != nil {
		c.bounds.MinValues, c.bounds.MaxValues = append(c.bounds.MinValues, p.low), append(c.bounds.MaxValues, p.high)
	}
}

// order says how the bounds of pages follow each other.
func order(k kind, pages []page) format.BoundaryOrder {
	up, down := true, true
	for i := 1; i < len(pages); i++ {
		low, high := compare(k, pages[i-1].low, pages[i].low), compare(k, pages[i-1].high, pages[i].high)
		up, down = up && low <= 0 && high <= 0, down && low >= 0 && high >= 0
	}
	switch {
	case up:
		return format.Ascending
	case down:
		return format.Descending
	}
	return format.Unordered
}
