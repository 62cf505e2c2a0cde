package parquet

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	pa "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/klauspost/compress/zstd"
)

const (
	// Statistics longer than this are left out, so that those of a column stay far below the
	// 4 KiB from which on the library writes them in clear behind a column of a sealed file.
	sealedStatsBytes = 1024
	sealedDictBytes  = 1 << 30 // no fallback: a row group's words are bounded by groupBytes
	sealedPageBytes  = 1 << 20
)

// sealed writes files under Parquet Modular Encryption: one key for all columns and
// the footer, AES_GCM_V1, data pages of version 1.
type sealed struct {
	w      *file.Writer
	leaves []leaf
	def    []int16
	rep    []int16
	scratch
}

type scratch struct {
	ints  []int32
	bytes []byte
	fixed []pa.FixedLenByteArray
}

// usePooledZstd replaces the library's compressor, which makes a new encoder for
// every page, by one that keeps them. It is the library's one switch for that, and global to
// the process: what is written is the same.
var usePooledZstd = sync.OnceFunc(func() {
	base, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(err) // it is compiled in
	}
	compress.RegisterCodec(compress.Codecs.Zstd, &pooledZstd{Codec: base})
})

type pooledZstd struct {
	compress.Codec
	encoders sync.Pool
}

func (p *pooledZstd) EncodeLevel(dst, src []byte, _ int) []byte {
	e, ok := p.encoders.Get().(*zstd.Encoder)
	if !ok {
		var err error
		if e, err = zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1)); err != nil {
			panic(err) // these are valid options
		}
	}
	defer p.encoders.Put(e)
	return e.EncodeAll(src, dst[:0])
}

func (p *pooledZstd) Encode(dst, src []byte) []byte { return p.EncodeLevel(dst, src, 0) }

func newSealed(w io.Writer, t *Table, key []byte, material string) (*sealed, error) {
	usePooledZstd()
	root, err := sealedGroup("symlake", pa.Repetitions.Required, t.Columns)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
	}
	o := []pa.WriterProperty{
		pa.WithCreatedBy("symlake"), pa.WithRootRepetition(pa.Repetitions.Required), pa.WithRootName("symlake"),
		pa.WithCompression(compress.Codecs.Zstd), pa.WithDataPageVersion(pa.DataPageV1), pa.WithDataPageSize(sealedPageBytes),
		pa.WithDictionaryPageSizeLimit(sealedDictBytes), pa.WithMaxRowGroupLength(1 << 40), pa.WithBatchSize(1 << 40),
		pa.WithMaxStatsSize(sealedStatsBytes), pa.WithEncoding(pa.Encodings.DeltaBinaryPacked), pa.WithDictionaryDefault(false),
		pa.WithEncryptionProperties(pa.NewFileEncryptionProperties(string(key), pa.WithAlg(pa.AesGcm), pa.WithFooterKeyMetadata(material))),
	}
	leaves := t.leaves()
	for _, l := range leaves {
		if l.kind == text {
			o = append(o, pa.WithDictionaryFor(l.String(), true), pa.WithEncodingFor(l.String(), pa.Encodings.Plain))
		}
		if l.kind == decimal {
			o = append(o, pa.WithEncodingFor(l.String(), pa.Encodings.Plain))
		}
		if l.list || l.kind == decimal || l.kind == text && !bounded(l) {
			o = append(o, pa.WithStatsFor(l.String(), false))
		}
	}
	meta := metadata.NewKeyValueMetadata()
	if err := errors.Join(meta.Append(schemaKey, schemaVersion), meta.Append(tableKey, t.Name)); err != nil {
		return nil, err
	}
	// The library closes what can be closed; the file is not its own.
	out := struct{ io.Writer }{w}
	return &sealed{w: file.NewParquetWriter(out, root, file.WithWriterProps(pa.NewWriterProperties(o...)), file.WithWriteMetadata(meta)), leaves: leaves}, nil
}

// bounded: its values are short and sorted, so least and greatest of a row group say something.
func bounded(l leaf) bool { return l.path[0] == "artifact" || l.path[0] == "load" }

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
	if c.list {
		var element schema.Node
		var err error
		if c.fields != nil {
			element, err = sealedGroup("element", must, c.fields)
		} else {
			element, err = sealedNode(Column{Name: "element", kind: c.kind})
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
	switch c.kind {
	case integer:
		return schema.NewInt32Node(c.Name, must, -1), nil
	case long:
		return schema.NewInt64Node(c.Name, must, -1), nil
	case moment:
		return schema.NewPrimitiveNodeLogical(c.Name, must, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), pa.Types.Int64, 0, -1)
	case decimal:
		return schema.NewPrimitiveNodeLogical(c.Name, must, schema.NewDecimalLogicalType(20, 0), pa.Types.FixedLenByteArray, decimalBytes, -1)
	}
	return schema.NewPrimitiveNodeLogical(c.Name, must, schema.StringLogicalType{}, pa.Types.ByteArray, 0, -1)
}

func (s *sealed) write(g *rowGroup) error {
	rg := s.w.AppendRowGroup()
	for i := range g.vectors {
		w, err := rg.NextColumn()
		if err == nil {
			err = s.column(w, g, i)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", s.leaves[i], err)
		}
	}
	return rg.Close()
}

// column writes a column, a slice of rows at a time: a page ends between two.
func (s *sealed) column(w file.ColumnChunkWriter, g *rowGroup, at int) error {
	v, l := &g.vectors[at], s.leaves[at]
	if l.kind == text {
		if err := s.dictionary(w, v); err != nil {
			return err
		}
	}
	next := 0 // value
	for from := 0; from < g.rows; from += sliceRows {
		to := min(from+sliceRows, g.rows)
		n := to - from
		s.def, s.rep = s.def[:0], s.rep[:0]
		var def, rep []int16
		if l.list {
			n = 0
			for _, k := range g.lengths[from:to] {
				if n += int(k); k == 0 {
					s.def, s.rep = append(s.def, 0), append(s.rep, 0)
				}
				for i := range k {
					s.def, s.rep = append(s.def, 1), append(s.rep, int16(min(i, 1)))
				}
			}
			def, rep = s.def, s.rep
		}
		if err := s.values(w, v, l, next, next+n, def, rep); err != nil {
			return err
		}
		next += n
	}
	return nil
}

// values writes values [from, to) of a column, with their levels if it is one of a list.
func (s *sealed) values(w file.ColumnChunkWriter, v *vector, l leaf, from, to int, def, rep []int16) (err error) {
	switch l.kind {
	case integer:
		_, err = w.(*file.Int32ColumnChunkWriter).WriteBatch(v.ints[from:to], def, rep)
	case long, moment:
		_, err = w.(*file.Int64ColumnChunkWriter).WriteBatch(v.longs[from:to], def, rep)
	case decimal:
		s.fixed, s.bytes = s.fixed[:0], s.bytes[:0]
		for _, x := range v.longs[from:to] {
			s.fixed = append(s.fixed, decimalOf(nil, uint64(x)))
		}
		_, err = w.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch(s.fixed, def, rep)
	default:
		s.ints = s.ints[:0]
		for i := from; i < to; i++ {
			s.ints = append(s.ints, int32(v.number(i)))
		}
		numbers := array.NewInt32Data(array.NewData(arrow.PrimitiveTypes.Int32, len(s.ints),
			[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(s.ints))}, nil, 0, 0))
		err = w.WriteDictIndices(numbers, def, rep)
	}
	return err
}

// dictionary gives the words of a column to its encoder, before their numbers.
func (s *sealed) dictionary(w file.ColumnChunkWriter, v *vector) error {
	encoder, ok := w.CurrentEncoder().(interface{ PutDictionary(arrow.Array) error })
	if !ok {
		return errors.New("the encoder takes no dictionary")
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(v.words.list))
	for _, word := range v.words.list {
		b.Append(word)
	}
	words := b.NewStringArray()
	defer words.Release()
	if err := encoder.PutDictionary(words); err != nil {
		return err
	}
	// Numbers tell the library nothing of what they stand for: least and greatest are told here.
	if stats, ok := w.PageStatistics().(*metadata.ByteArrayStatistics); ok && len(v.words.list) > 0 {
		all := make([]pa.ByteArray, len(v.words.list))
		for i, word := range v.words.list {
			all[i] = unsafe.Slice(unsafe.StringData(word), len(word))
		}
		stats.Update(all, 0)
	}
	return nil
}

func (s *sealed) close() error { return s.w.Close() }
