package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	pa "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	pq "github.com/parquet-go/parquet-go"
)

// magicSealed ends a file with an encrypted footer, magicPlain every other one.
const (
	magicSealed = "PARE"
	magicPlain  = "PAR1"
)

var errDamaged = errors.New("no whole Parquet file of a lake")

// readTexts emits the rows of a file whose columns are texts, all of them. A row is valid during
// the call. It reads what this package wrote; anything else is an error, also
// where the libraries panic.
func (l *Lake) readTexts(ctx context.Context, data []byte, t *Table, emit func(row []string) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errDamaged, v)
		}
	}()
	if len(data) >= 4 && string(data[len(data)-4:]) == magicSealed {
		return l.readSealed(ctx, data, len(t.Columns), emit)
	}
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	rows := pq.NewReader(f)
	defer rows.Close()
	buf := make([]pq.Row, 64)
	text := make([]string, len(t.Columns))
	for {
		n, err := rows.ReadRows(buf)
		for _, r := range buf[:n] {
			if len(r) != len(text) {
				return errDamaged
			}
			for i, v := range r {
				text[i] = string(v.ByteArray())
			}
			if err := emit(text); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
}

// retriever gives the library the key of a file by its key material.
type retriever struct {
	ctx     context.Context
	l       *Lake
	version uint32
	err     error
}

func (r *retriever) GetKey(material []byte) string {
	key, version, err := r.l.open1(r.ctx, material)
	r.version, r.err = version, errors.Join(r.err, err)
	return string(key)
}

// open1 gives the key of one file.
func (l *Lake) open1(ctx context.Context, text []byte) (key []byte, version uint32, err error) {
	m, version, err := masterOf(text)
	if err != nil {
		return nil, 0, err
	}
	if l.o.Keys.Master == nil {
		return nil, version, fmt.Errorf("master key %s is not at hand", m.Master)
	}
	master, err := l.o.Keys.Master(ctx, version)
	if err != nil {
		return nil, version, err
	}
	key, err = unwrap(master, m)
	return key, version, err
}

// openSealed opens a sealed file.
func (l *Lake) openSealed(ctx context.Context, data []byte) (r *file.Reader, err error) {
	k := &retriever{ctx: ctx, l: l}
	defer func() {
		if v := recover(); v != nil && k.err == nil {
			err = fmt.Errorf("%w: %v", errDamaged, v)
		}
		if k.err != nil {
			err = k.err
		}
	}()
	props := pa.NewReaderProperties(nil)
	props.FileDecryptProps = pa.NewFileDecryptionProperties(pa.WithKeyRetriever(k))
	r, err = file.NewParquetReader(bytes.NewReader(data), file.WithReadProps(props))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return r, nil
}

func (l *Lake) readSealed(ctx context.Context, data []byte, columns int, emit func(row []string) error) error {
	r, err := l.openSealed(ctx, data)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.MetaData().Schema.NumColumns() != columns {
		return errDamaged
	}
	row := make([]string, columns)
	for g := range r.NumRowGroups() {
		rg := r.RowGroup(g)
		n := int(rg.NumRows())
		all := make([][]string, columns)
		for c := range columns {
			chunk, err := rg.Column(c)
			if err != nil {
				return fmt.Errorf("%w: %w", errDamaged, err)
			}
			texts, ok := chunk.(*file.ByteArrayColumnChunkReader)
			if !ok {
				return errDamaged
			}
			values := make([]pa.ByteArray, 1024)
			for len(all[c]) < n {
				_, got, err := texts.ReadBatch(int64(len(values)), values, nil, nil)
				if err != nil || got == 0 {
					return fmt.Errorf("%w: column %d ends after %d of %d rows: %w", errDamaged, c, len(all[c]), n, err)
				}
				for _, v := range values[:got] {
					all[c] = append(all[c], strings.Clone(v.String()))
				}
			}
		}
		for i := range n {
			for c := range row {
				row[c] = all[c][i]
			}
			if err := emit(row); err != nil {
				return err
			}
		}
	}
	return nil
}
