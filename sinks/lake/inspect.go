package lake

import (
	"context"
	"fmt"
	"io"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfile"
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

// Inspect reads the footer of a file of a lake. known is false if the bytes are no Parquet file.
func Inspect(ctx context.Context, r io.ReaderAt, size int64, keys func() (sinks.LakeKeys, error)) (known bool, i *Inspection, err error) {
	d, err := pqfile.Describe(ctx, r, size, keys)
	if d == nil || err != nil {
		return d != nil, nil, err
	}
	i = &Inspection{Table: d.Table, Profile: d.Profile, Rows: d.Rows, RowGroups: d.RowGroups, Bytes: size}
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
	return true, nil, fmt.Errorf("%w: its table is %q", pqfile.ErrDamaged, i.Table)
}
