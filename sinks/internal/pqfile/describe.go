package pqfile

import (
	"context"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/sinks"
)

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
		f, err := pq.OpenFile(r, size)
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
	f, err := openSealed(ctx, k, r, size)
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

// ends reads the first and the last four bytes of a file; "" of one that is too short.
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
