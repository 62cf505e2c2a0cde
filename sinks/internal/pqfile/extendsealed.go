package pqfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	pa "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/symlake/symlake/sinks"
)

// resealed writes a file by the library that knows Parquet Modular Encryption: values of old columns as they are read,
// and those of new ones as sealed writes them. To the plain profile it writes without encryption.
type resealed struct {
	from  *file.Reader
	own   bool // from is closed here
	kept  []int
	s     sealed
	group int
	err   error
}

func (f *Rows) extendSealed(ctx context.Context, w io.Writer, x Extension, drop []string) (_ *resealed, err error) {
	useCodecs()
	r := &resealed{from: f.sealed, s: sealed{out: &strict{w: w}}}
	defer r.s.out.settle(&err)
	defer broken(&err, ErrRows)
	if r.from == nil {
		from, err := file.NewParquetReader(io.NewSectionReader(f.r, 0, f.size))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRows, err)
		}
		r.from, r.own = from, true
	}
	old := r.from.MetaData().Schema
	var fields schema.FieldList
	for i := range old.Root().NumFields() {
		if n := old.Root().Field(i); !slices.Contains(drop, n.Name()) {
			fields = append(fields, n)
		}
	}
	o := []pa.WriterProperty{
		pa.WithCreatedBy("symlake"), pa.WithRootRepetition(pa.Repetitions.Required), pa.WithRootName(old.Root().Name()),
		pa.WithCompression(compress.Codecs.Zstd), pa.WithDataPageVersion(pa.DataPageV1),
		pa.WithDictionaryPageSizeLimit(sealedDictBytes), pa.WithMaxRowGroupLength(1 << 40), pa.WithBatchSize(1 << 40),
		pa.WithMaxStatsSize(sealedStatsBytes), pa.WithDictionaryDefault(false),
	}
	for i := range old.NumColumns() {
		c := old.Column(i)
		if name, _, _ := strings.Cut(c.Path(), "."); slices.Contains(drop, name) {
			continue
		}
		r.kept = append(r.kept, i)
		if t := c.PhysicalType(); t == pa.Types.ByteArray || t == pa.Types.FixedLenByteArray {
			// The library keeps references to texts it was lent for least and greatest: see reference of the profile sealed.
			o = append(o, pa.WithStatsFor(c.Path(), false))
		}
		if dictionaries(r.from, i) {
			o = append(o, pa.WithDictionaryFor(c.Path(), true))
		}
	}
	for _, c := range x.Table.Columns {
		n, err := sealedNode(c)
		if err != nil {
			return nil, err
		}
		fields = append(fields, n)
	}
	o = append(o, sealedLeaves(x.Table.leaves())...)
	if x.Profile == sinks.LakeSealed {
		keys, err := f.keys()
		if err != nil {
			return nil, fmt.Errorf("seal a file: %w", err)
		}
		k, err := NewFileKey(ctx, keys, false)
		if err != nil {
			return nil, err
		}
		o = append(o, pa.WithEncryptionProperties(pa.NewFileEncryptionProperties(string(k.Key), pa.WithAlg(pa.AesGcm), pa.WithFooterKeyMetadata(k.Material))))
	}
	root, err := schema.NewGroupNode(old.Root().Name(), pa.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	meta := metadata.NewKeyValueMetadata()
	for k, v := range f.meta {
		if k != answersKey && k != sourceKey {
			err = errors.Join(err, meta.Append(k, v))
		}
	}
	if err := errors.Join(err, meta.Append(answersKey, x.Table.names()), meta.Append(sourceKey, x.Source)); err != nil {
		return nil, err
	}
	r.s.w = file.NewParquetWriter(r.s.out, root, file.WithWriterProps(pa.NewWriterProperties(o...)), file.WithWriteMetadata(meta))
	return r, nil
}

// dictionaries reports whether a column has a dictionary in the first row group: then it repeats itself.
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
	defer r.s.out.settle(&err)
	defer broken(&err, ErrRows)
	from := r.from.RowGroup(r.group)
	if n := from.NumRows(); n != int64(added.Rows) {
		return fmt.Errorf("row group %d has %d rows, and %d answers", r.group, n, added.Rows)
	}
	to := r.s.w.AppendRowGroup()
	for _, i := range r.kept {
		if err := ctx.Err(); err != nil {
			return err
		}
		in, err := from.Column(i)
		if err != nil {
			return fmt.Errorf("%w: column %d: %w", ErrRows, i, err)
		}
		out, err := to.NextColumn()
		if err != nil {
			return err
		}
		if err := copyValues(out, in); err != nil {
			return fmt.Errorf("%w: column %s: %w", ErrRows, in.Descriptor().Path(), err)
		}
	}
	for i, l := range added.leaves {
		out, err := to.NextColumn()
		if err == nil {
			err = r.s.NewColumn(out, l, added.Rows, &added.chunks[i], &added.Dicts[i])
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", l, err)
		}
	}
	r.group++
	return to.Close()
}

// Close implements Extended.
func (r *resealed) Close() (err error) {
	if r.err != nil {
		return r.err
	}
	if r.own {
		defer r.from.Close()
	}
	return r.s.Close()
}

// copyValues copies the values of a chunk, with their levels.
func copyValues(to file.ColumnChunkWriter, from file.ColumnChunkReader) error {
	switch in := from.(type) {
	case *file.BooleanColumnChunkReader:
		return copyBatches[bool](in, to.(*file.BooleanColumnChunkWriter))
	case *file.Int32ColumnChunkReader:
		return copyBatches[int32](in, to.(*file.Int32ColumnChunkWriter))
	case *file.Int64ColumnChunkReader:
		return copyBatches[int64](in, to.(*file.Int64ColumnChunkWriter))
	case *file.Int96ColumnChunkReader:
		return copyBatches[pa.Int96](in, to.(*file.Int96ColumnChunkWriter))
	case *file.Float32ColumnChunkReader:
		return copyBatches[float32](in, to.(*file.Float32ColumnChunkWriter))
	case *file.Float64ColumnChunkReader:
		return copyBatches[float64](in, to.(*file.Float64ColumnChunkWriter))
	case *file.ByteArrayColumnChunkReader:
		return copyBatches[pa.ByteArray](in, to.(*file.ByteArrayColumnChunkWriter))
	case *file.FixedLenByteArrayColumnChunkReader:
		return copyBatches[pa.FixedLenByteArray](in, to.(*file.FixedLenByteArrayColumnChunkWriter))
	}
	return fmt.Errorf("values of %T", from)
}

func copyBatches[T any](in interface {
	file.ColumnChunkReader
	ReadBatch(n int64, values []T, def, rep []int16) (int64, int, error)
}, out interface {
	WriteBatch(values []T, def, rep []int16) (int64, error)
}) error {
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
