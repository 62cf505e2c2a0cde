package pqfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// page is a data page (version 1) of a column: the same in both profiles.
type page struct {
	body     []byte // compressed
	size     int    // before
	rows     int
	values   int  // an empty list counts as one
	nulls    int  // missing values of a nullable column
	numbered bool // values are numbers of the column's dictionary
	// The least and the greatest value, in plain encoding; nil where they do not help to find rows.
	low, high []byte
}

// ordered reports whether the bounds of a column help to find rows. They do for positions and times, and for the texts that
// order the rows. Lines and counts lie between the same bounds nearly everywhere, and would make footers longer.
func ordered(l leaf) bool {
	return !l.list && (l.kind == Long || l.kind == Moment || l.kind == Text && (l.path[0] == "artifact" || l.path[0] == "load"))
}

func number64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// compare compares bounds of texts, positions or times.
func compare(k kind, a, b []byte) int {
	if k == Text {
		return bytes.Compare(a, b)
	}
	return cmp.Compare(int64(number64(a)), int64(number64(b)))
}

// page is a dictionary's page, PLAIN: each text behind its length.
func (d *Dictionary) page(to []byte) []byte {
	to = slices.Grow(to, d.bytes+4*len(d.list))
	for i := range uint32(len(d.list)) {
		s := d.at(i)
		to = append(binary.LittleEndian.AppendUint32(to, uint32(len(s))), s...)
	}
	return to
}

// chunk is a column of a row group, encoded.
type chunk struct {
	pages     []page
	integers  integers // that the pages of a column of integers refer to by number
	values    int      // an empty list counts as one
	nulls     int
	low, high []byte // as pages have them
}

// dictionary appends the dictionary page of the chunk, PLAIN, and tells how many values it has; false: it has none.
func (c *chunk) dictionary(l leaf, texts *Dictionary, to []byte) (_ []byte, n int, ok bool) {
	switch l.kind {
	case Text:
		return texts.page(to), len(texts.list), true
	case Integer:
		return c.integers.page(to), len(c.integers.list), true
	}
	return to, 0, false
}

func (c *chunk) add(k kind, p page) {
	if len(c.pages) == 0 || p.low != nil && compare(k, p.low, c.low) < 0 {
		c.low = p.low
	}
	if len(c.pages) == 0 || p.high != nil && compare(k, p.high, c.high) > 0 {
		c.high = p.high
	}
	c.pages = append(c.pages, p)
	c.values += p.values
	c.nulls += p.nulls
}

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
