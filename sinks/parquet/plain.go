package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"unsafe"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

const (
	plainPageBytes = 256 << 10
	bloomBits      = 10 // a value: 1 % false
	sliceRows      = 4096
)

// plain writes files without encryption, with all that helps readers to skip: page
// index, bloom filters, sorting columns; and a checksum a page.
type plain struct {
	w      *pq.Writer
	leaves []leaf
	values []pq.Value
	words  []pq.Value // of the column at hand
}

// ordered is a group whose fields stand as the table has them, not by name.
type ordered struct {
	pq.Group
	names []string
}

func (o ordered) Fields() []pq.Field {
	by := map[string]pq.Field{}
	for _, f := range o.Group.Fields() {
		by[f.Name()] = f
	}
	fields := make([]pq.Field, len(o.names))
	for i, n := range o.names {
		fields[i] = by[n]
	}
	return fields
}

func group(columns []Column) ordered {
	o := ordered{Group: pq.Group{}}
	for _, c := range columns {
		node := plainNode(c.kind)
		if c.list {
			if c.fields != nil {
				node = group(c.fields)
			}
			node = pq.List(node)
		}
		o.Group[c.Name] = node
		o.names = append(o.names, c.Name)
	}
	return o
}

func plainNode(k kind) pq.Node {
	switch k {
	case integer:
		return pq.Encoded(pq.Leaf(pq.Int32Type), &pq.DeltaBinaryPacked)
	case long:
		return pq.Encoded(pq.Leaf(pq.Int64Type), &pq.DeltaBinaryPacked)
	case moment:
		return pq.Encoded(pq.Timestamp(pq.Microsecond), &pq.DeltaBinaryPacked)
	case decimal:
		return pq.Decimal(0, 20, pq.FixedLenByteArrayType(decimalBytes))
	}
	return pq.Encoded(pq.String(), &pq.RLEDictionary)
}

// decimalBytes hold every unsigned 64-bit number, signed.
const decimalBytes = 9

func decimalOf(to []byte, x uint64) []byte {
	return binary.BigEndian.AppendUint64(append(to, 0), x)
}

func newPlain(w io.Writer, t *Table, sorted bool) *plain {
	o := []pq.WriterOption{
		pq.NewSchema("symlake", group(t.Columns)),
		pq.Compression(&zstd.Codec{Level: zstd.SpeedDefault, Concurrency: 1}),
		// Bounds stand in the page index, cut short, not in page headers too. They must not be left out of it for
		// columns where they help nobody: the index would say "" to "", and parquet-java believes it.
		pq.DataPageStatistics(false), pq.DataPageVersion(1), pq.PageBufferSize(plainPageBytes), pq.MaxRowsPerRowGroup(1 << 40),
		pq.CreatedBy("symlake", "", ""), pq.KeyValueMetadata(schemaKey, schemaVersion), pq.KeyValueMetadata(tableKey, t.Name),
	}
	var sorting []pq.SortingColumn
	if sorted {
		for _, name := range t.sorted {
			sorting = append(sorting, pq.Ascending(name))
		}
		o = append(o, pq.SortingWriterConfig(pq.SortingColumns(sorting...)))
	}
	for _, l := range t.leaves() {
		if t.bloomed(l.String()) {
			o = append(o, pq.BloomFilters(pq.SplitBlockFilter(bloomBits, l.path...)))
		}
	}
	return &plain{w: pq.NewWriter(w, o...), leaves: t.leaves()}
}

func (p *plain) write(g *rowGroup) (err error) {
	columns := p.w.ColumnWriters()
	for i := range g.vectors {
		if err := p.column(columns[i], g, i); err != nil {
			return fmt.Errorf("column %s: %w", p.leaves[i], err)
		}
	}
	return p.w.Flush()
}

// column writes a column, a slice of rows at a time: a page ends between two.
func (p *plain) column(w *pq.ColumnWriter, g *rowGroup, at int) error {
	v := &g.vectors[at]
	p.words = p.words[:0]
	if v.words != nil {
		for _, s := range v.words.list {
			p.words = append(p.words, pq.ByteArrayValue(unsafe.Slice(unsafe.StringData(s), len(s))).Level(0, 0, at))
		}
	}
	next := 0 // value
	for from := 0; from < g.rows; from += sliceRows {
		p.values = p.values[:0]
		to := min(from+sliceRows, g.rows)
		if !p.leaves[at].list {
			for i := from; i < to; i++ {
				p.values = append(p.values, p.value(v, at, i).Level(0, 0, at))
			}
		} else {
			for _, n := range g.lengths[from:to] {
				if n == 0 {
					p.values = append(p.values, pq.NullValue().Level(0, 0, at))
				}
				for i := range n {
					p.values = append(p.values, p.value(v, at, next).Level(min(int(i), 1), 1, at))
					next++
				}
			}
		}
		if _, err := w.WriteRowValues(p.values); err != nil {
			return err
		}
	}
	return nil
}

func (p *plain) value(v *vector, at, i int) pq.Value {
	switch p.leaves[at].kind {
	case integer:
		return pq.Int32Value(v.ints[i])
	case long, moment:
		return pq.Int64Value(v.longs[i])
	case decimal:
		return pq.FixedLenByteArrayValue(decimalOf(nil, uint64(v.longs[i])))
	}
	return p.words[v.number(i)]
}

func (p *plain) close() error { return p.w.Close() }
