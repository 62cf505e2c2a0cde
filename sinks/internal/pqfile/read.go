package pqfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	pa "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/sinks"
)

var ErrDamaged = fmt.Errorf("%w: no whole Parquet file of a lake", sinks.ErrCorrupt)

// ReadTexts emits some columns of a file, all of texts and in no list, row by row. A row is valid during
// the call. It reads what this package wrote; anything else is an error, also where the libraries panic.
func ReadTexts(ctx context.Context, keys sinks.LakeKeys, r io.ReaderAt, size int64, columns []int, emit func(row []string) error) (err error) {
	defer broken(&err, ErrDamaged)
	magic := make([]byte, 4)
	if size < 12 {
		return ErrDamaged
	}
	if _, err := r.ReadAt(magic, size-4); err != nil {
		return err
	}
	if string(magic) == magicSealed {
		return readSealed(ctx, keys, r, size, columns, emit)
	}
	f, err := pq.OpenFile(r, size)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for _, g := range f.RowGroups() {
		if len(g.ColumnChunks()) <= slices.Max(columns) {
			return ErrDamaged
		}
		texts := make([]func() (string, error), len(columns))
		for i, c := range columns {
			pages := g.ColumnChunks()[c].Pages()
			defer pages.Close()
			texts[i] = plainTexts(pages)
		}
		if err := zip(int(g.NumRows()), texts, emit); err != nil {
			return err
		}
	}
	return nil
}

// zip emits n rows of the texts that the functions give.
func zip(n int, texts []func() (string, error), emit func(row []string) error) error {
	row := make([]string, len(texts))
	for i := range n {
		for c, next := range texts {
			var err error
			if row[c], err = next(); err != nil {
				return fmt.Errorf("%w: row %d of %d: %w", ErrDamaged, i, n, err)
			}
		}
		if err := emit(row); err != nil {
			return err
		}
	}
	return nil
}

// readValues is how many values are decoded at once.
const readValues = 1024

func plainTexts(pages pq.Pages) func() (string, error) {
	buf, have, at := make([]pq.Value, readValues), 0, 0
	var values pq.ValueReader
	return func() (string, error) {
		for at == have {
			if values == nil {
				page, err := pages.ReadPage()
				if err != nil {
					return "", err
				}
				values = page.Values()
			}
			n, err := values.ReadValues(buf)
			if at, have = 0, n; errors.Is(err, io.EOF) {
				values = nil
			} else if err != nil {
				return "", err
			}
		}
		at++
		return string(buf[at-1].ByteArray()), nil
	}
}

func sealedTexts(chunk *file.ByteArrayColumnChunkReader) func() (string, error) {
	buf, have, at := make([]pa.ByteArray, readValues), 0, 0
	return func() (string, error) {
		if at == have {
			_, n, err := chunk.ReadBatch(int64(len(buf)), buf, nil, nil)
			if err == nil && n == 0 {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return "", err
			}
			at, have = 0, n
		}
		at++
		return strings.Clone(buf[at-1].String()), nil
	}
}

// retriever gives the library the key of a file by its key material.
type retriever struct {
	ctx  context.Context
	keys sinks.LakeKeys
	err  error
}

func (r *retriever) GetKey(material []byte) string {
	key, err := openFileKey(r.ctx, r.keys, material)
	r.err = errors.Join(r.err, err)
	return string(key)
}

// openSealed opens a sealed file.
func openSealed(ctx context.Context, keys sinks.LakeKeys, data io.ReaderAt, size int64) (r *file.Reader, err error) {
	k := &retriever{ctx: ctx, keys: keys}
	defer func() {
		if k.err != nil { // whatever the library made of it
			err = k.err
		}
	}()
	defer broken(&err, ErrDamaged)
	props := pa.NewReaderProperties(nil)
	props.FileDecryptProps = pa.NewFileDecryptionProperties(pa.WithKeyRetriever(k))
	r, err = file.NewParquetReader(io.NewSectionReader(data, 0, size), file.WithReadProps(props))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return r, nil
}

func readSealed(ctx context.Context, keys sinks.LakeKeys, data io.ReaderAt, size int64, columns []int, emit func(row []string) error) error {
	r, err := openSealed(ctx, keys, data, size)
	if err != nil {
		return err
	}
	defer r.Close()
	for g := range r.NumRowGroups() {
		rg := r.RowGroup(g)
		texts := make([]func() (string, error), len(columns))
		for i, c := range columns {
			chunk, err := rg.Column(c)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrDamaged, err)
			}
			t, ok := chunk.(*file.ByteArrayColumnChunkReader)
			if !ok {
				return ErrDamaged
			}
			texts[i] = sealedTexts(t)
		}
		if err := zip(int(rg.NumRows()), texts, emit); err != nil {
			return err
		}
	}
	return nil
}
