package pqfile

import (
	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/bloom/xxhash"
	"github.com/parquet-go/parquet-go/format"
)

// bloomBits is how many bits a Bloom filter has for each value: 1 % of its answers are false.
const bloomBits = 10

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

// putIndexes writes the page indexes of all row groups: first the bounds of all columns, then the places of their pages.
func (x *Writer) putIndexes() error {
	for g, columns := range x.index {
		for i := range columns {
			b := columns[i].bounds
			if b == nil {
				continue
			}
			c := &x.footer.RowGroups[g].Columns[i]
			c.ColumnIndexOffset = x.at
			n, err := x.putThrift(b)
			if err != nil {
				return err
			}
			c.ColumnIndexLength = int32(n)
		}
	}
	for g, columns := range x.index {
		for i := range columns {
			if len(columns[i].offsets.PageLocations) == 0 {
				continue // of another file, which had none
			}
			c := &x.footer.RowGroups[g].Columns[i]
			c.OffsetIndexOffset = x.at
			n, err := x.putThrift(&columns[i].offsets)
			if err != nil {
				return err
			}
			c.OffsetIndexLength = int32(n)
		}
	}
	return nil
}

// filter writes the Bloom filter of a column of texts.
func (x *Writer) filter(d *Dictionary, m *format.ColumnMetaData) error {
	f := make(bloom.SplitBlockFilter, bloom.NumSplitBlocksOf(int64(len(d.list)), bloomBits))
	for i := range uint32(len(d.list)) {
		f.Insert(xxhash.Sum64(d.at(i)))
	}
	h := format.BloomFilterHeader{NumBytes: int32(len(f.Bytes()))}
	h.Algorithm.Value, h.Hash.Value, h.Compression.Value = &format.SplitBlockAlgorithm{}, &format.XxHash{}, &format.BloomFilterUncompressed{}
	m.BloomFilterOffset = x.at
	n, err := x.putThrift(&h)
	if err != nil {
		return err
	}
	m.BloomFilterLength = int32(n) + h.NumBytes
	return x.put(f.Bytes())
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
