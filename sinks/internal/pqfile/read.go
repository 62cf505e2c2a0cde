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

// ReadTexts emits some columns of a file, all of texts and in no list, row by row. A row is valid during
// the call. It reads what this package wrote; anything else is an error, also where the libraries panic. prefix is the
// FileKey.Prefix that a sealed file must have ("": any).
func ReadTexts(ctx context.Context, keys sinks.LakeKeys, r io.ReaderAt, size int64, prefix string, columns []int, emit func(row []string) error) (err error) {
	defer broken(&err, ErrDamaged)
	magic := make([]byte, 4)
	if size < 12 {
		return ErrDamaged
	}
	if _, err := r.ReadAt(magic, size-4); err != nil {
		return err
	}
	if string(magic) == magicSealed {
		return readSealed(ctx, keys, r, size, prefix, columns, emit)
	}
	f, err := openFile(r, size)
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

func readSealed(ctx context.Context, keys sinks.LakeKeys, data io.ReaderAt, size int64, prefix string, columns []int, emit func(row []string) error) error {
	r, err := openSealed(ctx, keys, data, size, prefix)
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

// Description is what the footer of a file says.
type Description struct {
	Table     string // "": the file is none of symlake's
	Profile   string
	Rows      int64
	RowGroups int
}

// Describe reads the footer of a file of size bytes. It returns nil if the bytes are no Parquet file. keys is called for
// a sealed file only.
func Describe(ctx context.Context, r io.ReaderAt, size int64, keys func() (sinks.LakeKeys, error)) (d *Description, err error) {
	head, tail, err := ends(r, size)
	profile := profileOf(head, tail)
	if err != nil || profile == "" {
		return nil, err
	}
	defer broken(&err, ErrDamaged)
	d = &Description{Profile: profile}
	if profile == sinks.LakePlain {
		f, err := openFile(r, size)
		if err != nil {
			return d, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		d.Table, _ = f.Lookup(tableKey)
		d.Rows, d.RowGroups = f.NumRows(), len(f.RowGroups())
		return d, nil
	}

	k, err := keys()
	if err != nil {
		return d, fmt.Errorf("a sealed file of a lake: %w", err)
	}
	f, err := openSealed(ctx, k, r, size, "")
	if err != nil {
		return d, err
	}
	defer f.Close()
	if v := f.MetaData().KeyValueMetadata().FindValue(tableKey); v != nil {
		d.Table = *v
	}
	d.Rows, d.RowGroups = f.NumRows(), f.NumRowGroups()
	return d, nil
}
