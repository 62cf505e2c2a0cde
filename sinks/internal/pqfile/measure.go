package pqfile

import (
	"fmt"
	"io"
	"strings"

	pq "github.com/parquet-go/parquet-go"
)

// Measured is what the footer of a plain file tells planners of queries.
type Measured struct {
	Rows   int64
	Sorted bool    // its rows ascend, as its row groups say
	Splits []int64 // offset of each row group
	// Columns are the leaves, in their order.
	Columns []MeasuredColumn
}

// MeasuredColumn sums up the chunks of a leaf.
type MeasuredColumn struct {
	Path                 string // names with dots between them
	Bytes, Values, Nulls int64
	// Low and High are the least and the greatest value in plain encoding; nil: not known.
	Low, High []byte
}

// Measure reads the footer of a plain file of size bytes.
func Measure(r io.ReaderAt, size int64) (m *Measured, err error) {
	defer broken(&err, ErrDamaged)
	f, err := openFile(r, size, pq.SkipPageIndex(true), pq.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	meta := f.Metadata()
	m = &Measured{Rows: meta.NumRows, Sorted: len(meta.RowGroups) > 0}
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		m.Sorted = m.Sorted && len(g.SortingColumns) > 0
		if i == 0 {
			m.Columns = make([]MeasuredColumn, len(g.Columns))
		}
		if len(g.Columns) != len(m.Columns) || len(g.Columns) == 0 {
			return nil, fmt.Errorf("%w: row group %d has %d columns, the first %d", ErrDamaged, i, len(g.Columns), len(m.Columns))
		}
		first := &g.Columns[0].MetaData
		at := first.DataPageOffset
		if first.DictionaryPageOffset > 0 {
			at = min(at, first.DictionaryPageOffset)
		}
		m.Splits = append(m.Splits, at)
		for j := range g.Columns {
			d, c := &g.Columns[j].MetaData, &m.Columns[j]
			c.Path = strings.Join(d.PathInSchema, ".")
			c.Bytes += d.TotalCompressedSize
			c.Values += d.NumValues
			c.Nulls += d.Statistics.NullCount
			low, high, known := d.Statistics.MinValue, d.Statistics.MaxValue, i == 0 || c.Low != nil
			if low == nil || high == nil || !known {
				c.Low, c.High = nil, nil
				continue
			}
			k := kindOf(d.Type)
			if c.Low == nil || compare(k, low, c.Low) < 0 {
				c.Low = low
			}
			if c.High == nil || compare(k, high, c.High) > 0 {
				c.High = high
			}
		}
	}
	return m, nil
}
