package lake

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// rowsOf is where a file has the rows of a load.
type rowsOf struct{ first, rows uint64 }

// errApart says that the rows of a load do not lie together.
var errApart = errors.New("the rows of a load do not lie together")

// count reads which loads a file has rows of, and where.
func (l *Lake) count(ctx context.Context, f journal.File) (map[loadKey]rowsOf, error) {
	there, _, err := l.b.Stat(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	if there.Size != f.Bytes {
		return nil, fmt.Errorf("it has %d bytes, the log says %d", there.Size, f.Bytes)
	}
	r, err := l.b.Open(ctx, there)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if f.Bound {
		prefix = f.Path
	}
	spans := map[loadKey]rowsOf{}
	var total uint64
	var key loadKey
	var last [2]string
	err = pqfile.ReadTexts(ctx, l.o.Keys, r, there.Size, prefix, []int{0, 1}, func(row []string) error {
		if !slices.Equal(row, last[:]) {
			copy(last[:], row)
			id, err := symbol.ParseID(row[0])
			n, err1 := hex.Decode(key.load[:], []byte(row[1]))
			if err != nil || err1 != nil || n != len(key.load) {
				return fmt.Errorf("artifact %q, load %q", row[0], row[1])
			}
			key.id = id
		}
		at := spans[key]
		if at.rows == 0 {
			at.first = total
		} else if at.first+at.rows != total && (f.Table == rangesTable || f.Table == classesTable) {
			return fmt.Errorf("load %x of %s: %w", key.load, key.id, errApart)
		}
		at.rows++
		spans[key] = at
		total++
		return ctx.Err()
	})
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if total != f.Rows || len(spans) > f.Loads {
		return nil, fmt.Errorf("%d rows of %d loads, the log says %d of %d", total, len(spans), f.Rows, f.Loads)
	}
	return spans, nil
}
