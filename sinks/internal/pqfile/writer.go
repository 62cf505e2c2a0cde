package pqfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Writer writes row groups, which come as encoded pages, to a file. The writers of both libraries take values one by one, so it
// uses parquet-go's structures of the format and writes them itself.
//
// A sealed file is encrypted page by page, see sealer. A plain one has what helps readers to skip: page index, Bloom filters,
// sorting columns; and a checksum a page.
//
// A Writer is for one goroutine. After an error it writes nothing more.
type Writer struct {
	w      io.Writer
	at     int64
	err    error
	footer *format.FileMetaData
	pager  *Pager
	head   bytes.Buffer

	sealer *sealer // nil: the file is plain
	bare   bool    // a plain file without index, filters and checksums
	blooms map[int]bool
	sorted []format.SortingColumn
	index  [][]chunkIndex // by row group and column
}

// NewWriter begins a file of a table. key seals it; nil: it is plain. sorted says that rows ascend as the table says.
func NewWriter(w io.Writer, t *Table, key *FileKey, sorted bool, p *Pager) (*Writer, error) {
	footer, err := emptyFooter(t)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
	}
	x := &Writer{w: w, footer: footer, pager: p}
	if key != nil {
		plainIntegers(footer.Schema)
		if x.sealer, err = newSealer(key); err != nil {
			return nil, err
		}
		return x, x.put([]byte(magicSealed))
	}

	x.blooms = map[int]bool{}
	for i, l := range t.leaves() {
		x.blooms[i] = t.bloomed(l.String())
	}
	if sorted {
		for _, name := range t.Sorted {
			x.sorted = append(x.sorted, format.SortingColumn{ColumnIdx: int32(t.leaf(name))})
		}
	}
	return x, x.put([]byte(magicPlain))
}

// emptyFooter lets parquet-go write a file without rows and takes its footer, which has the schema.
func emptyFooter(t *Table) (*format.FileMetaData, error) {
	var empty bytes.Buffer
	w := pq.NewWriter(&empty, pq.NewSchema("symlake", group(t.Columns)), pq.CreatedBy("symlake", "", ""),
		pq.KeyValueMetadata(schemaKey, SchemaVersion), pq.KeyValueMetadata(tableKey, t.Name))
	if err := w.Close(); err != nil {
		return nil, err
	}
	f, err := pq.OpenFile(bytes.NewReader(empty.Bytes()), int64(empty.Len()))
	if err != nil {
		return nil, err
	}
	return f.Metadata(), nil
}

// plainIntegers takes from integers that parquet-go annotates as signed numbers of their width what the type says already:
// Arrow has written sealed files without it, and without field ids.
func plainIntegers(schema []format.SchemaElement) {
	for i := range schema {
		schema[i].FieldID = 0
		if e := &schema[i]; e.LogicalType.Value != nil {
			if _, ok := e.LogicalType.Value.(*format.IntType); ok {
				*e = format.SchemaElement{Type: e.Type, RepetitionType: e.RepetitionType, Name: e.Name}
			}
		}
	}
}

// full reports whether the file has page index, filters and checksums.
func (x *Writer) full() bool { return x.sealer == nil && !x.bare }

func (x *Writer) put(b []byte) error {
	if x.err != nil {
		return x.err
	}
	n, err := x.w.Write(b)
	x.at += int64(n)
	x.err = err
	return err
}

// encode returns a structure in the compact protocol, valid until the next call.
func (x *Writer) encode(v any) ([]byte, error) {
	x.head.Reset()
	err := thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&x.head)).Encode(v)
	return x.head.Bytes(), err
}

// putThrift writes a structure in clear and returns its size.
func (x *Writer) putThrift(v any) (size int, err error) {
	b, err := x.encode(v)
	if err != nil {
		return 0, err
	}
	return len(b), x.put(b)
}

// Write writes a whole row group and keeps no reference to it.
func (x *Writer) Write(g *RowGroup) error {
	to, err := x.begin(g.Rows, len(g.leaves))
	if err != nil {
		return err
	}
	for i, l := range g.leaves {
		if err := x.column(to, i, l, &g.chunks[i], &g.Dicts[i]); err != nil {
			return fmt.Errorf("column %s: %w", l, err)
		}
	}
	for i := range g.leaves {
		if x.blooms[i] {
			if err := x.filter(&g.Dicts[i], &to.meta.Columns[i].MetaData); err != nil {
				return err
			}
		}
	}
	x.end(to)
	return nil
}

// writing is a row group that is being written.
type writing struct {
	number int
	meta   format.RowGroup
	index  []chunkIndex
}

// begin begins a row group. Parquet counts groups and columns in 16 bits.
func (x *Writer) begin(rows, columns int) (*writing, error) {
	n := len(x.footer.RowGroups)
	if n > math.MaxInt16 || columns > math.MaxInt16 {
		return nil, fmt.Errorf("row group %d of %d columns: a file has at most %d of each", n, columns, math.MaxInt16)
	}
	return &writing{number: n, index: make([]chunkIndex, columns), meta: format.RowGroup{NumRows: int64(rows), SortingColumns: x.sorted,
		FileOffset: x.at, Ordinal: int16(n), Columns: make([]format.ColumnChunk, columns)}}, nil
}

// end notes a row group that is written.
func (x *Writer) end(g *writing) {
	for i := range g.meta.Columns {
		m := &g.meta.Columns[i].MetaData
		g.meta.TotalByteSize += m.TotalUncompressedSize
		g.meta.TotalCompressedSize += m.TotalCompressedSize
	}
	x.footer.NumRows += g.meta.NumRows
	x.footer.RowGroups = append(x.footer.RowGroups, g.meta)
	x.index = append(x.index, g.index)
}

// column writes the pages of column i of a row group.
func (x *Writer) column(g *writing, i int, l leaf, c *chunk, d *Dictionary) error {
	m := x.chunk(g, i)
	m.Type, m.PathInSchema, m.Codec, m.NumValues = physical(l.kind), l.path, x.pager.codec(), int64(c.values)
	if x.full() || c.low != nil {
		m.Statistics = format.Statistics{MinValue: c.low, MaxValue: c.high, NullCount: int64(c.nulls)}
	}
	if !x.full() && l.kind != Text {
		m.Statistics.Min, m.Statistics.Max = c.low, c.high // where Arrow has them for older readers
	}
	at := place{g.number, i, 0}
	if raw, n, ok := c.dictionary(l, d, x.pager.encoded[:0]); ok {
		x.pager.encoded = raw
		if err := x.dictionaryPage(at, raw, n, m); err != nil {
			return err
		}
	}

	m.DataPageOffset = x.at
	index, row := &g.index[i], 0
	if c.low != nil && x.full() {
		index.bounds = &format.ColumnIndex{BoundaryOrder: order(l.kind, c.pages), NullPages: make([]bool, len(c.pages)), NullCounts: make([]int64, len(c.pages))}
	}
	for i := range c.pages {
		p := &c.pages[i]
		start := x.at
		h := format.DataPageHeader{NumValues: int32(p.values), Encoding: p.encoding(l.kind), DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}
		at.page = i
		if err := x.dataPage(at, h, p.body, p.size, m); err != nil {
			return err
		}
		if x.full() {
			index.add(p, start, x.at-start, row)
		}
		row += p.rows
	}
	if l.list || l.kind != Text {
		m.EncodingStats = nil // readers use them to look for a value in its dictionary
	}
	x.endChunk(g, i)
	return nil
}

// chunk begins the column i of a row group and returns its metadata.
func (x *Writer) chunk(g *writing, i int) *format.ColumnMetaData {
	c := &g.meta.Columns[i]
	if x.sealer != nil {
		c.CryptoMetadata.Value = &format.EncryptionWithFooterKey{}
	}
	return &c.MetaData
}

// endChunk completes the metadata of a column after its last page.
func (x *Writer) endChunk(g *writing, i int) {
	c := &g.meta.Columns[i]
	c.MetaData.Encoding = append(c.MetaData.Encoding, format.RLE) // of levels
	if !x.full() {
		c.FileOffset = x.at // as Arrow writes it
	}
}

// encoding is how the values of a page are encoded.
func (p *page) encoding(k kind) format.Encoding {
	switch {
	case p.numbered:
		return format.RLEDictionary
	case k == Long, k == Moment:
		return format.DeltaBinaryPacked
	}
	return format.Plain
}

// dictionaryPage compresses and writes a dictionary of n values.
func (x *Writer) dictionaryPage(at place, raw []byte, n int, m *format.ColumnMetaData) error {
	h := format.PageHeader{Type: format.DictionaryPage}
	h.DictionaryPageHeader.Valid, h.DictionaryPageHeader.V = true, format.DictionaryPageHeader{NumValues: int32(n), Encoding: format.Plain}
	m.DictionaryPageOffset = x.at
	countPage(m, format.DictionaryPage, format.Plain)
	at.page = noPage
	return x.page(at, &h, x.pager.compress(raw), len(raw), m)
}

// dataPage writes a data page. Its body is compressed from size bytes.
func (x *Writer) dataPage(at place, v format.DataPageHeader, body []byte, size int, m *format.ColumnMetaData) error {
	if at.page > math.MaxInt16 {
		return fmt.Errorf("a column of a row group has at most %d pages", math.MaxInt16)
	}
	h := format.PageHeader{Type: format.DataPage}
	h.DataPageHeader.Valid, h.DataPageHeader.V = true, v
	countPage(m, format.DataPage, v.Encoding)
	return x.page(at, &h, body, size, m)
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

// page writes a page behind its header and adds their sizes to m.
func (x *Writer) page(at place, h *format.PageHeader, body []byte, raw int, m *format.ColumnMetaData) error {
	h.UncompressedPageSize, h.CompressedPageSize = int32(raw), int32(len(body))
	if x.sealer != nil {
		h.CompressedPageSize += sealBytes
	} else if !x.bare {
		h.CRC = int32(crc32.ChecksumIEEE(body))
	}
	head, err := x.encode(h)
	if err != nil {
		return err
	}

	start := x.at
	if x.sealer == nil {
		err = x.put(head)
	} else {
		module := dataHeaderModule
		if at.page == noPage {
			module = dictionaryHeaderModule
		}
		err = x.put(x.sealer.seal(module, at, head))
	}
	if err != nil {
		return err
	}
	m.TotalUncompressedSize += x.at - start + int64(raw)

	if x.sealer == nil {
		err = x.put(body)
	} else {
		module := dataPageModule
		if at.page == noPage {
			module = dictionaryPageModule
		}
		err = x.put(x.sealer.seal(module, at, body))
	}
	m.TotalCompressedSize += x.at - start
	return err
}

// Close writes what follows the row groups. It leaves the underlying writer open.
func (x *Writer) Close() error {
	if x.sealer == nil {
		if err := x.putIndexes(); err != nil {
			return err
		}
		n, err := x.putThrift(x.footer)
		if err != nil {
			return err
		}
		return x.put(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magicPlain...))
	}

	start := x.at
	if _, err := x.putThrift(x.sealer.metadata()); err != nil {
		return err
	}
	footer, err := x.encode(x.footer)
	if err != nil {
		return err
	}
	if err := x.put(x.sealer.sealFooter(footer)); err != nil {
		return err
	}
	return x.put(append(binary.LittleEndian.AppendUint32(nil, uint32(x.at-start)), magicSealed...))
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

// bloomBits is how many bits a Bloom filter has for each value: 1 % of its answers are false.
const bloomBits = 10
