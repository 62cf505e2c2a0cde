package pqfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	pa "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/parquet-go/parquet-go/format"

	"github.com/symlake/symlake/sinks"
)

const (
	resealDictBytes  = 1 << 30 // of a column's dictionary: it never falls back, as a row group bounds its texts
	resealStatsBytes = 1 << 10 // longer bounds are left out
)

// Extend begins a file with the rows of f, in their order and row groups, and the columns of a table added. From a plain
// file to a plain one it copies the bytes of the old columns; otherwise, and if rows are left out, it copies their values.
func (f *Rows) Extend(ctx context.Context, w io.Writer, x Extension) (e Extended, err error) {
	defer broken(&err, ErrRows)
	drop, err := f.dropped(x.Table)
	if err != nil {
		return nil, err
	}
	if f.sealed != nil || x.Profile == sinks.LakeSealed || f.gone != nil {
		return f.reseal(ctx, w, x, drop)
	}
	return f.splice(w, x, drop)
}

// resealed writes a file with the old columns of a sealed file, or seals the columns of a plain one. Arrow decrypts and decodes
// the values of old columns and encodes them again. The Writer takes their pages and the pages of new columns; without a key
// it leaves them in clear.
type resealed struct {
	*Writer
	from  *file.Reader
	own   bool // Close closes from
	kept  []int
	gone  [][]uint32 // of the Rows
	props *pa.WriterProperties
	err   error
}

func (f *Rows) reseal(ctx context.Context, w io.Writer, x Extension, drop []string) (_ *resealed, err error) {
	var key *FileKey
	if x.Profile == sinks.LakeSealed {
		keys, err := f.keys()
		if err != nil {
			return nil, fmt.Errorf("seal a file: %w", err)
		}
		if key, err = NewFileKey(ctx, keys, false); err != nil {
			return nil, err
		}
	}
	to, err := NewWriter(w, x.Table, key, false, NewPager())
	if err != nil {
		return nil, err
	}
	if to.bare = key == nil; to.bare && f.gone == nil { // a file of a table keeps the numbers of columns
		plainIntegers(to.footer.Schema)
	}
	r := &resealed{Writer: to, from: f.sealed, gone: f.gone}
	if r.from == nil {
		if r.from, err = file.NewParquetReader(io.NewSectionReader(f.r, 0, f.size)); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRows, err)
		}
		r.own = true
	}
	r.kept = f.schema(to, x, drop)
	to.footer.Version = 2
	to.orderColumns(len(r.kept) + len(x.Table.leaves()))
	r.props = r.encodings()
	return r, nil
}

// encodings says how Arrow encodes the columns that are kept.
func (r *resealed) encodings() *pa.WriterProperties {
	o := []pa.WriterProperty{
		pa.WithCompression(compress.Codecs.Zstd), pa.WithDataPageVersion(pa.DataPageV1),
		pa.WithDictionaryPageSizeLimit(resealDictBytes), pa.WithBatchSize(1 << 40),
		pa.WithMaxStatsSize(resealStatsBytes), pa.WithDictionaryDefault(false),
	}
	for _, i := range r.kept {
		c := r.from.MetaData().Schema.Column(i)
		if t := c.PhysicalType(); t == pa.Types.ByteArray || t == pa.Types.FixedLenByteArray {
			// As bounds, Arrow keeps references to texts that it was only lent.
			o = append(o, pa.WithStatsFor(c.Path(), false))
		}
		if dictionaries(r.from, i) {
			o = append(o, pa.WithDictionaryFor(c.Path(), true))
		}
	}
	return pa.NewWriterProperties(o...)
}

// dictionaries reports whether a column has a dictionary in the first row group: then its texts come again.
func dictionaries(r *file.Reader, column int) bool {
	if r.NumRowGroups() == 0 {
		return false
	}
	m, err := r.RowGroup(0).MetaData().ColumnChunk(column)
	return err == nil && m.HasDictionaryPage() && m.Type() == pa.Types.ByteArray
}

// Group implements Extended.
func (r *resealed) Group(ctx context.Context, added *RowGroup) (err error) {
	if r.err != nil {
		return r.err
	}
	defer func() { r.err = err }()
	defer func() {
		if r.Writer.err != nil { // Arrow hides it in an error of its own
			err = r.Writer.err
		}
	}()
	defer broken(&err, ErrRows)

	n := len(r.footer.RowGroups)
	from := r.from.RowGroup(n)
	var gone []uint32
	if r.gone != nil {
		gone = r.gone[n]
	}
	if rows := from.NumRows() - int64(len(gone)); rows != int64(added.Rows) {
		return fmt.Errorf("row group %d has %d rows, and %d answers", n, rows, added.Rows)
	}
	to, err := r.begin(added.Rows, len(r.kept)+len(added.leaves))
	if err != nil {
		return err
	}
	columns := metadata.NewFileMetadataBuilder(r.from.MetaData().Schema, r.props, nil).AppendRowGroup()
	at := 0
	for i := range r.from.MetaData().Schema.NumColumns() {
		column := columns.NextColumnChunk()
		if !slices.Contains(r.kept, i) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		in, err := from.Column(i)
		if err != nil {
			return fmt.Errorf("%w: column %d: %w", ErrRows, i, err)
		}
		if err := r.keep(to, at, column, in, gone); err != nil {
			return fmt.Errorf("%w: column %s: %w", ErrRows, in.Descriptor().Path(), err)
		}
		at++
	}
	for i, l := range added.leaves {
		if err := r.column(to, at+i, l, &added.chunks[i], &added.Dicts[i]); err != nil {
			return fmt.Errorf("column %s: %w", l, err)
		}
	}
	r.end(to)
	return nil
}

// keep encodes the values of an old column, which becomes column at of a row group.
func (r *resealed) keep(to *writing, at int, column *metadata.ColumnChunkMetaDataBuilder, in file.ColumnChunkReader, gone []uint32) error {
	m := r.chunk(to, at)
	d := in.Descriptor()
	m.Type, m.PathInSchema, m.Codec = format.Type(d.PhysicalType()), strings.Split(d.Path(), "."), r.pager.codec()
	pages := &chunkPages{x: r.Writer, m: m, at: place{to.number, at, 0}}
	out := file.NewColumnChunkWriter(column, pages, r.props)
	if err := copyValues(out, in, gone); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if s := column.Contents().MetaData.Statistics; s != nil {
		m.Statistics = format.Statistics{Min: s.Min, Max: s.Max, MinValue: s.MinValue, MaxValue: s.MaxValue, NullCount: s.GetNullCount()}
	}
	r.endChunk(to, at)
	return nil
}

// Close implements Extended.
func (r *resealed) Close() error {
	if r.own {
		defer r.from.Close()
	}
	if r.err != nil {
		return r.err
	}
	return r.Writer.Close()
}

// chunkPages takes the pages of a column from Arrow and writes them. The methods of PageWriter that it has not are never
// called.
type chunkPages struct {
	file.PageWriter
	x  *Writer
	m  *format.ColumnMetaData
	at place
}

// HasCompressor implements file.PageWriter.
func (c *chunkPages) HasCompressor() bool { return true }

// Compress implements file.PageWriter. Arrow keeps what it returns.
func (c *chunkPages) Compress(_ *bytes.Buffer, text []byte) []byte {
	return bytes.Clone(c.x.pager.compress(text))
}

// WriteDictionaryPage implements file.PageWriter.
func (c *chunkPages) WriteDictionaryPage(p *file.DictionaryPage) (int64, error) {
	start := c.x.at
	err := c.x.dictionaryPage(c.at, p.Data(), int(p.NumValues()), c.m)
	return c.x.at - start, err
}

// WriteDataPage implements file.PageWriter.
func (c *chunkPages) WriteDataPage(p file.DataPage) (int64, error) {
	start := c.x.at
	if c.at.page == 0 {
		c.m.DataPageOffset = start
	}
	h := format.DataPageHeader{NumValues: p.NumValues(), Encoding: format.Encoding(p.Encoding()),
		DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE, Statistics: pageStatistics(p.Statistics())}
	err := c.x.dataPage(c.at, h, p.Data(), int(p.UncompressedSize()), c.m)
	c.m.NumValues += int64(p.NumValues())
	c.at.page++
	return c.x.at - start, err
}

// Close implements file.PageWriter.
func (c *chunkPages) Close(hasDict, fallback bool) error { return nil }

// pageStatistics returns what the header of a page says of its values.
func pageStatistics(s metadata.EncodedStatistics) format.Statistics {
	t := s.ToThrift()
	return format.Statistics{Min: t.Min, Max: t.Max, MinValue: t.MinValue, MaxValue: t.MaxValue, NullCount: t.GetNullCount()}
}

// copyValues copies the values of a chunk, with their levels, but for rows that are gone.
func copyValues(to file.ColumnChunkWriter, from file.ColumnChunkReader, gone []uint32) error {
	switch in := from.(type) {
	case *file.BooleanColumnChunkReader:
		return copyBatches[bool](in, to.(*file.BooleanColumnChunkWriter), gone)
	case *file.Int32ColumnChunkReader:
		return copyBatches[int32](in, to.(*file.Int32ColumnChunkWriter), gone)
	case *file.Int64ColumnChunkReader:
		return copyBatches[int64](in, to.(*file.Int64ColumnChunkWriter), gone)
	case *file.Int96ColumnChunkReader:
		return copyBatches[pa.Int96](in, to.(*file.Int96ColumnChunkWriter), gone)
	case *file.Float32ColumnChunkReader:
		return copyBatches[float32](in, to.(*file.Float32ColumnChunkWriter), gone)
	case *file.Float64ColumnChunkReader:
		return copyBatches[float64](in, to.(*file.Float64ColumnChunkWriter), gone)
	case *file.ByteArrayColumnChunkReader:
		return copyBatches[pa.ByteArray](in, to.(*file.ByteArrayColumnChunkWriter), gone)
	case *file.FixedLenByteArrayColumnChunkReader:
		return copyBatches[pa.FixedLenByteArray](in, to.(*file.FixedLenByteArrayColumnChunkWriter), gone)
	}
	return fmt.Errorf("values of %T", from)
}

func copyBatches[T any](in interface {
	file.ColumnChunkReader
	ReadBatch(n int64, values []T, def, rep []int16) (int64, int, error)
}, out interface {
	WriteBatch(values []T, def, rep []int16) (int64, error)
}, gone []uint32) error {
	rows := living{gone: gone}
	values, def, rep := make([]T, readValues), make([]int16, readValues), make([]int16, readValues)
	for in.HasNext() {
		total, n, err := in.ReadBatch(readValues, values, def, rep)
		if err != nil {
			return err
		}
		if total == 0 {
			return io.ErrNoProgress
		}
		d, r := def[:total], rep[:total]
		if len(gone) > 0 {
			var levels int
			levels, n = keepRows(&rows, values, d, r, in.Descriptor().MaxDefinitionLevel(), in.Descriptor().MaxRepetitionLevel())
			if d, r = d[:levels], r[:levels]; levels == 0 {
				continue
			}
		}
		if in.Descriptor().MaxDefinitionLevel() == 0 {
			d = nil
		}
		if in.Descriptor().MaxRepetitionLevel() == 0 {
			r = nil
		}
		if _, err := out.WriteBatch(values[:n], d, r); err != nil {
			return err
		}
	}
	return in.Err()
}
