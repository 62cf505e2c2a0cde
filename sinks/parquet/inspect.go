package parquet

import (
	"context"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/sinks"
)

// Inspection is what a file of a lake says of itself.
type Inspection struct {
	Table     string   `json:"table"`
	Profile   string   `json:"profile"`
	Rows      int64    `json:"rows"`
	RowGroups int      `json:"row_groups"`
	Bytes     int64    `json:"bytes"`
	Doc       string   `json:"doc"`
	Columns   []string `json:"columns"` // name, type and meaning of each
}

// Inspect reads the footer of a file of a lake. known is false if it is none.
func Inspect(ctx context.Context, r io.ReaderAt, size int64, keys func() (sinks.LakeKeys, error)) (known bool, i *Inspection, err error) {
	head, tail := make([]byte, 4), make([]byte, 4)
	if size < 12 {
		return false, nil, nil
	}
	if _, err := r.ReadAt(head, 0); err != nil {
		return false, nil, err
	}
	if _, err := r.ReadAt(tail, size-4); err != nil {
		return false, nil, err
	}
	if string(head) != string(tail) || string(tail) != magicSealed && string(tail) != magicPlain {
		return false, nil, nil
	}
	defer broken(&err, errDamaged)
	i = &Inspection{Profile: Plain, Bytes: size}
	if string(tail) == magicSealed {
		i.Profile = Sealed
		k, err := keys()
		if err != nil {
			return true, nil, fmt.Errorf("a sealed file of a lake: %w", err)
		}
		f, err := Open(Options{Keys: k}).openSealed(ctx, r, size)
		if err != nil {
			return true, nil, err
		}
		defer f.Close()
		if v := f.MetaData().KeyValueMetadata().FindValue(tableKey); v != nil {
			i.Table = *v
		}
		i.Rows, i.RowGroups = f.NumRows(), f.NumRowGroups()
	} else {
		f, err := pq.OpenFile(r, size)
		if err != nil {
			return true, nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		i.Table, _ = f.Lookup(tableKey)
		i.Rows, i.RowGroups = f.NumRows(), len(f.RowGroups())
	}
	for _, t := range Tables() {
		if t.Name != i.Table {
			continue
		}
		i.Doc = t.Doc
		for _, c := range t.Columns {
			i.Columns = append(i.Columns, fmt.Sprintf("%s %s: %s", c.Name, c.Type, c.Doc))
		}
		return true, i, nil
	}
	return true, nil, fmt.Errorf("%w: its table is %q", errDamaged, i.Table)
}
