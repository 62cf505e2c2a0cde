package pqfile

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/memory"
	pa "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

const (
	// Statistics longer than this are left out, so that those of a column stay far below the
	// 4 KiB from which on the library writes them in clear behind a column of a sealed file.
	sealedStatsBytes = 1024
	sealedDictBytes  = 1 << 30 // no fallback: a row group's texts are bounded by groupBytes
)

// sealed writes files under Parquet Modular Encryption: one key for all columns and
// the footer, AES_GCM_V1, data pages of version 1. The library makes the file, its dictionaries and what is secret
// about it; data pages come encoded.
type sealed struct {
	w    *file.Writer
	out  *strict // what w writes to
	text []byte
}

func NewSealed(w io.Writer, t *Table, k *FileKey, p *Pager) (s *sealed, err error) {
	out := &strict{w: w}
	defer out.settle(&err)
	defer broken(&err, errPanicked)
	useCodecs()
	codec := compress.Codecs.Zstd
	if p.zstd == nil {
		codec = compress.Codecs.Snappy
	}
	root, err := sealedGroup("symlake", pa.Repetitions.Required, t.Columns)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
	}
	o := []pa.WriterProperty{
		pa.WithCreatedBy("symlake"), pa.WithRootRepetition(pa.Repetitions.Required), pa.WithRootName("symlake"),
		pa.WithCompression(codec), pa.WithDataPageVersion(pa.DataPageV1),
		pa.WithDictionaryPageSizeLimit(sealedDictBytes), pa.WithMaxRowGroupLength(1 << 40), pa.WithBatchSize(1 << 40),
		pa.WithMaxStatsSize(sealedStatsBytes), pa.WithDictionaryDefault(false),
		pa.WithEncryptionProperties(pa.NewFileEncryptionProperties(string(k.Key), pa.WithAlg(pa.AesGcm), pa.WithFooterKeyMetadata(k.Material))),
	}
	o = append(o, sealedLeaves(t.leaves())...)
	meta := metadata.NewKeyValueMetadata()
	if err := errors.Join(meta.Append(schemaKey, SchemaVersion), meta.Append(tableKey, t.Name)); err != nil {
		return nil, err
	}
	return &sealed{w: file.NewParquetWriter(out, root, file.WithWriterProps(pa.NewWriterProperties(o...)), file.WithWriteMetadata(meta)), out: out}, nil
}

// sealedLeaves says how columns are encoded, and of which there are least and greatest.
func sealedLeaves(leaves []leaf) (o []pa.WriterProperty) {
	for _, l := range leaves {
		switch l.kind {
		case Text, Integer:
			o = append(o, pa.WithDictionaryFor(l.String(), true), pa.WithEncodingFor(l.String(), pa.Encodings.Plain))
		case Decimal:
			o = append(o, pa.WithEncodingFor(l.String(), pa.Encodings.Plain))
		default:
			o = append(o, pa.WithEncodingFor(l.String(), pa.Encodings.DeltaBinaryPacked))
		}
		o = append(o, pa.WithStatsFor(l.String(), ordered(l)))
	}
	return o
}

func sealedGroup(name string, rep pa.Repetition, columns []Column) (*schema.GroupNode, error) {
	var fields schema.FieldList
	for _, c := range columns {
		node, err := sealedNode(c)
		if err != nil {
			return nil, err
		}
		fields = append(fields, node)
	}
	return schema.NewGroupNode(name, rep, fields, -1)
}

func sealedNode(c Column) (schema.Node, error) {
	must := pa.Repetitions.Required
	if c.Nullable {
		must = pa.Repetitions.Optional
	}
	if c.List {
		var element schema.Node
		var err error
		if c.Fields != nil {
			element, err = sealedGroup("element", must, c.Fields)
		} else {
			element, err = sealedNode(Column{Name: "element", Kind: c.Kind})
		}
		if err != nil {
			return nil, err
		}
		list, err := schema.NewGroupNode("list", pa.Repetitions.Repeated, schema.FieldList{element}, -1)
		if err != nil {
			return nil, err
		}
		return schema.NewGroupNodeLogical(c.Name, must, schema.FieldList{list}, schema.NewListLogicalType(), -1)
	}
	switch c.Kind {
	case Integer:
		return schema.NewInt32Node(c.Name, must, -1), nil
	case Long:
		return schema.NewInt64Node(c.Name, must, -1), nil
	case Moment:
		return schema.NewPrimitiveNodeLogical(c.Name, must, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), pa.Types.Int64, 0, -1)
	case Decimal:
		return schema.NewPrimitiveNodeLogical(c.Name, must, schema.NewDecimalLogicalType(20, 0), pa.Types.FixedLenByteArray, decimalBytes, -1)
	}
	return schema.NewPrimitiveNodeLogical(c.Name, must, schema.StringLogicalType{}, pa.Types.ByteArray, 0, -1)
}

func (s *sealed) Write(g *RowGroup) (err error) {
	defer s.out.settle(&err)
	defer broken(&err, errPanicked)
	rg := s.w.AppendRowGroup()
	for i, l := range g.leaves {
		w, err := rg.NextColumn()
		if err == nil {
			err = s.NewColumn(w, l, g.Rows, &g.chunks[i], &g.Dicts[i])
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", l, err)
		}
	}
	return rg.Close()
}

// NewColumn hands the pages of a column over.
func (s *sealed) NewColumn(w file.ColumnChunkWriter, l leaf, rows int, c *chunk, d *Dictionary) error {
	if text, n, ok := c.dictionary(l, d, s.text[:0]); ok {
		s.text = text
		if err := s.dictionary(w, n); err != nil {
			return err
		}
	}
	to, ok := w.(interface{ WriteDataPage(file.DataPage) error })
	if !ok {
		return errLibrary
	}
	for _, p := range c.pages {
		encoding := pa.Encodings.Plain
		switch {
		case p.numbered:
			encoding = w.Properties().DictionaryIndexEncoding()
		case l.kind == Long, l.kind == Moment:
			encoding = pa.Encodings.DeltaBinaryPacked
		}
		page := file.NewDataPageV1(memory.NewBufferBytes(p.body), int32(p.values), encoding, pa.Encodings.RLE, pa.Encodings.RLE, int32(p.size))
		err := to.WriteDataPage(page)
		page.Release()
		if err != nil {
			return err
		}
	}
	return tell(w, rows, c)
}

var errLibrary = errors.New("the Parquet library is not the one that this was written for")

// tell makes the library know of a column whose pages it did not encode how many rows it has, which is what it
// compares columns by and gives the row group, and the bounds of their values. It has no call for either, and no
// version after this one will be made.
func tell(w file.ColumnChunkWriter, rows int, c *chunk) error {
	column := reflect.ValueOf(w).Elem()
	written, stats := column.FieldByName("rowsWritten"), column.FieldByName("chunkStatistics")
	if !written.IsValid() || written.Kind() != reflect.Int || !stats.IsValid() || stats.Type() != reflect.TypeFor[metadata.TypedStatistics]() {
		return errLibrary
	}
	*(*int)(unsafe.Pointer(written.UnsafeAddr())) = rows
	if c.low == nil {
		return nil
	}
	switch s := (*(*metadata.TypedStatistics)(unsafe.Pointer(stats.UnsafeAddr()))).(type) {
	case *metadata.Int32Statistics:
		s.SetMinMax(int32(number32(c.low)), int32(number32(c.high)))
	case *metadata.Int64Statistics:
		s.SetMinMax(int64(number64(c.low)), int64(number64(c.high)))
	case *metadata.ByteArrayStatistics:
		s.SetMinMax(c.low, c.high)
	}
	return nil
}

// dictionary writes the dictionary page of a column, n values that lie in s.text. The library would look up each value in a
// table of its own.
func (s *sealed) dictionary(w file.ColumnChunkWriter, n int) error {
	column := reflect.ValueOf(w).Elem()
	pages, ended := column.FieldByName("pager"), column.FieldByName("fallbackToNonDict")
	if !pages.IsValid() || pages.Type() != reflect.TypeFor[file.PageWriter]() || !ended.IsValid() || ended.Kind() != reflect.Bool {
		return errLibrary
	}
	page := file.NewDictionaryPage(memory.NewBufferBytes(s.text), int32(n), w.Properties().DictionaryPageEncoding())
	defer page.Release()
	// From here on it is written: the library must not write its own, which is empty.
	*(*bool)(unsafe.Pointer(ended.UnsafeAddr())) = true
	_, err := (*(*file.PageWriter)(unsafe.Pointer(pages.UnsafeAddr()))).WriteDictionaryPage(page)
	if cap(s.text) > keptBytes {
		s.text = nil
	}
	return err
}

func (s *sealed) Close() (err error) {
	defer s.out.settle(&err)
	defer broken(&err, errPanicked)
	return s.w.Close()
}
