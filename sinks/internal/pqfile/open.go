package pqfile

import (
	"context"
	"errors"
	"fmt"
	"io"

	pa "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfilter"
)

// ends reads the first and the last four bytes of a file; "" if it is too short.
func ends(r io.ReaderAt, size int64) (head, tail string, err error) {
	if size < 12 {
		return "", "", nil
	}
	b := make([]byte, 8)
	if _, err := r.ReadAt(b[:4], 0); err != nil {
		return "", "", err
	}
	if _, err := r.ReadAt(b[4:], size-4); err != nil {
		return "", "", err
	}
	return string(b[:4]), string(b[4:]), nil
}

// profileOf tells the profile of a file by its ends; "": the bytes are no Parquet file.
func profileOf(head, tail string) string {
	switch {
	case head == magicPlain && tail == magicPlain:
		return sinks.LakePlain
	case head == magicSealed && tail == magicSealed:
		return sinks.LakeSealed
	}
	return ""
}

// openFile opens a plain file, if its footer fits into it.
func openFile(r io.ReaderAt, size int64, options ...pq.FileOption) (*pq.File, error) {
	if err := pqfilter.CheckFooter(r, size); err != nil {
		return nil, err
	}
	return pq.OpenFile(r, size, options...)
}

// broken, deferred, turns a panic of the libraries into an error of a kind.
func broken(err *error, kind error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: %v", kind, v)
	}
}

// ErrDamaged says that a file of the lake is no whole Parquet file.
var ErrDamaged = fmt.Errorf("%w: no whole Parquet file of a lake", sinks.ErrCorrupt)

// retriever gives Arrow the key of a file for its key material.
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

// openSealed opens a sealed file, with FileKey.Prefix as prefix unless prefix is "". An error of the keys comes back as it came.
func openSealed(ctx context.Context, keys sinks.LakeKeys, data io.ReaderAt, size int64, prefix string) (r *file.Reader, err error) {
	k := &retriever{ctx: ctx, keys: keys}
	defer func() {
		if k.err != nil { // Arrow hides it in an error of its own
			err = k.err
		}
	}()
	defer broken(&err, ErrDamaged)
	props := pa.NewReaderProperties(nil)
	o := []pa.FileDecryptionOption{pa.WithKeyRetriever(k)}
	if prefix != "" {
		o = append(o, pa.WithDecryptAadPrefix(prefix))
	}
	props.FileDecryptProps = pa.NewFileDecryptionProperties(o...)
	r, err = file.NewParquetReader(io.NewSectionReader(data, 0, size), file.WithReadProps(props))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return r, nil
}

// Magic numbers at both ends of a file: of one with an encrypted footer, and of every other one.
const (
	magicSealed = "PARE"
	magicPlain  = "PAR1"
)
