package pqfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/bloom/xxhash"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// bloomBits are those of a value: 1 % false.
const bloomBits = 10

// plain writes files without encryption, with all that helps readers to skip: page
// index, bloom filters, sorting columns; and a checksum a page. The library's writer takes values one by one, so it
// writes the schema alone; what follows are the library's encodings and structures.
type plain struct {
	w      io.Writer
	at     int64
	footer *format.FileMetaData
	bloom  map[int]bool // by leaf
	sorted []format.SortingColumn
	index  [][]chunkIndex // by row group and leaf
	pager  *Pager
	head   bytes.Buffer
}

// chunkIndex is the page index of a column of a row group.
type chunkIndex struct {
	bounds  *format.ColumnIndex // nil: none
	offsets format.OffsetIndex
}

// inOrder is a group whose fields stand as the table has them, not by name.
type inOrder struct {
	pq.Group
	names []string
}

func (o inOrder) Fields() []pq.Field {
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

func group(columns []Column) inOrder {
	o := inOrder{Group: pq.Group{}}
	for _, c := range columns {
		node := plainNode(c.Kind)
		if c.Nullable {
			node = pq.Optional(node)
		}
		if c.List {
			if c.Fields != nil {
				node = group(c.Fields)
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
	case Integer:
		return pq.Leaf(pq.Int32Type)
	case Long:
		return pq.Leaf(pq.Int64Type)
	case Moment:
		return pq.Timestamp(pq.Microsecond)
	case Decimal:
		return pq.Decimal(0, 20, pq.FixedLenByteArrayType(decimalBytes))
	}
	return pq.String()
}

func NewPlain(w io.Writer, t *Table, sorted bool, p *Pager) (*plain, error) {
	var empty bytes.Buffer
	s := pq.NewWriter(&empty, pq.NewSchema("symlake", group(t.Columns)), pq.CreatedBy("symlake", "", ""),
		pq.KeyValueMetadata(schemaKey, SchemaVersion), pq.KeyValueMetadata(tableKey, t.Name))
	if err := s.Close(); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
	}
	f, err := pq.OpenFile(bytes.NewReader(empty.Bytes()), int64(empty.Len()))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
	}
	x := &plain{w: w, footer: f.Metadata(), bloom: map[int]bool{}, pager: p}
	for i, l := range t.leaves() {
		x.bloom[i] = t.bloomed(l.String())
	}
	if sorted {
		for _, name := range t.Sorted {
			x.sorted = append(x.sorted, format.SortingColumn{ColumnIdx: int32(t.leaf(name))})
		}
	}
	return x, x.put([]byte(magicPlain))
}

func (x *plain) put(b []byte) error {
	n, err := x.w.Write(b)
	x.at += int64(n)
	return err
}

// putThrift writes a structure and gives its size.
func (x *plain) putThrift(v any) (size int, err error) {
	x.head.Reset()
	if err := thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&x.head)).Encode(v); err != nil {
		return 0, err
	}
	return x.head.Len(), x.put(x.head.Bytes())
}

func (x *plain) Write(g *RowGroup) error {
	rg := format.RowGroup{NumRows: int64(g.Rows), SortingColumns: x.sorted, FileOffset: x.at, Ordinal: int16(len(x.footer.RowGroups)),
		Columns: make([]format.ColumnChunk, len(g.leaves))}
	index := make([]chunkIndex, len(g.leaves))
	for i, l := range g.leaves {
		if err := x.NewColumn(l, &g.chunks[i], &g.Dicts[i], &rg.Columns[i].MetaData, &index[i]); err != nil {
			return fmt.Errorf("column %s: %w", l, err)
		}
		rg.TotalByteSize += rg.Columns[i].MetaData.TotalUncompressedSize
		rg.TotalCompressedSize += rg.Columns[i].MetaData.TotalCompressedSize
	}
	for i := range g.leaves {
		if x.bloom[i] {
			if err := x.filter(&g.Dicts[i], &rg.Columns[i].MetaData); err != nil {
				return err
			}
		}
	}
	x.footer.NumRows += rg.NumRows
	x.footer.RowGroups = append(x.footer.RowGroups, rg)
	x.index = append(x.index, index)
	return nil
}

// NewColumn writes the pages of a column.
func (x *plain) NewColumn(l leaf, c *chunk, d *Dictionary, m *format.ColumnMetaData, index *chunkIndex) error {
	*m = format.ColumnMetaData{Type: physical(l.kind), PathInSchema: l.path, Codec: format.Snappy, NumValues: int64(c.values),
		Statistics: format.Statistics{MinValue: c.low, MaxValue: c.high, NullCount: int64(c.nulls)}}
	if x.pager.zstd != nil {
		m.Codec = format.Zstd
	}
	if raw, n, ok := c.dictionary(l, d, x.pager.encoded[:0]); ok {
		h := format.PageHeader{Type: format.DictionaryPage}
		h.DictionaryPageHeader.Valid, h.DictionaryPageHeader.V = true, format.DictionaryPageHeader{NumValues: int32(n), Encoding: format.Plain}
		m.DictionaryPageOffset = x.at
		countPage(m, format.DictionaryPage, format.Plain)
		x.pager.encoded = raw
		if _, err := x.page(&h, x.pager.compress(raw), len(raw), m); err != nil {
			return err
		}
	}
	m.DataPageOffset = x.at
	if c.low != nil {
		index.bounds = &format.ColumnIndex{BoundaryOrder: order(l.kind, c.pages), NullPages: make([]bool, len(c.pages)), NullCounts: make([]int64, len(c.pages))}
	}
	row := 0
	for i := range c.pages {
		p := &c.pages[i]
		encoding := format.Plain
		switch {
		case p.numbered:
			encoding = format.RLEDictionary
		case l.kind == Long, l.kind == Moment:
			encoding = format.DeltaBinaryPacked
		}
		countPage(m, format.DataPage, encoding)
		h := format.PageHeader{Type: format.DataPage}
		h.DataPageHeader.Valid, h.DataPageHeader.V = true, format.DataPageHeader{NumValues: int32(p.values), Encoding: encoding,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}
		at := x.at
		size, err := x.page(&h, p.body, p.size, m)
		if err != nil {
			return err
		}
		index.offsets.PageLocations = append(index.offsets.PageLocations, format.PageLocation{Offset: at, CompressedPageSize: int32(size), FirstRowIndex: int64(row)})
		row += p.rows
		if b := index.bounds; b != nil {
			b.MinValues, b.MaxValues = append(b.MinValues, p.low), append(b.MaxValues, p.high)
		}
	}
	m.Encoding = append(m.Encoding, format.RLE) // of levels
	return nil
}

// countPage counts a page of a column by its encoding.
func countPage(m *format.ColumnMetaData, t format.PageType, e format.Encoding) {
	if !slices.Contains(m.Encoding, e) {
		m.Encoding = append(m.Encoding, e)
	}
	for i := range m.EncodingStats {
		if s := &m.EncodingStats[i]; s.PageType == t && s.Encoding == e {
			s.Count++
			return
		}
	}
	m.EncodingStats = append(m.EncodingStats, format.PageEncodingStats{PageType: t, Encoding: e, Count: 1})
}

// page writes a page and gives its size with its header.
func (x *plain) page(h *format.PageHeader, body []byte, raw int, m *format.ColumnMetaData) (size int, err error) {
	h.UncompressedPageSize, h.CompressedPageSize, h.CRC = int32(raw), int32(len(body)), int32(crc32.ChecksumIEEE(body))
	n, err := x.putThrift(h)
	if err != nil {
		return 0, err
	}
	m.TotalUncompressedSize += int64(n + raw)
	m.TotalCompressedSize += int64(n + len(body))
	return n + len(body), x.put(body)
}

// filter writes the bloom filter of a column of texts.
func (x *plain) filter(d *Dictionary, m *format.ColumnMetaData) error {
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

func physical(k kind) format.Type {
	switch k {
	case Integer:
		return format.Int32
	case Long, Moment:
		return format.Int64
	case Decimal:
		return format.FixedLenByteArray
	}
	return format.ByteArray
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

func (x *plain) Close() error {
	for g, columns := range x.index {
		for i := range columns {
			if b := columns[i].bounds; b != nil {
				c := &x.footer.RowGroups[g].Columns[i]
				c.ColumnIndexOffset = x.at
				n, err := x.putThrift(b)
				if err != nil {
					return err
				}
				c.ColumnIndexLength = int32(n)
			}
		}
	}
	for g, columns := range x.index {
		for i := range columns {
			if len(columns[i].offsets.PageLocations) == 0 {
				continue // a chunk of another file, which had none
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
	n, err := x.putThrift(x.footer)
	if err != nil {
		return err
	}
	return x.put(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magicPlain...))
}
