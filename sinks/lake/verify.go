package lake

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// Verify reads the log back, and what it names, as far as that tells which rows there are. It calls problem
// for each fault. It calls rows with the number of rows of ranges of each load. It fails if ctx ends or
// the bucket cannot be read at all.
func (l *Lake) Verify(ctx context.Context, rows func(id symbol.ID, load sinks.Load, n uint64), problem func(where string, err error)) error {
	if err := l.log.Verify(ctx, func(err error) { problem("log", err) }); err != nil {
		return err
	}
	s, err := l.State(ctx, 0)
	if err != nil {
		return err
	}
	files := map[string]map[loadKey]rowsOf{}
	holders := map[loadKey][]string{} // files of ranges or classes
	for _, f := range s.Counting() {
		spans, err := l.count(ctx, f.File)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			problem("file "+l.b.URL(f.Path), err)
			continue
		}
		files[f.Path] = spans
		if f.Table == rangesTable || f.Table == classesTable {
			for key := range spans {
				holders[key] = append(holders[key], f.Path)
			}
		}
	}
	for id, n := range s.Live {
		key := loadKey{id, n.Load}
		for _, span := range []journal.Span{n.Rows, n.Facts, n.Names} {
			spans, read := files[span.File]
			_, counts := s.Find(span.File)
			at := spans[key]
			switch {
			case span.File == "":
			case !counts:
				problem("artifact "+id.String(), fmt.Errorf("the log does not name its file %s", span.File))
			case read && at.rows == 0:
				problem("artifact "+id.String(), fmt.Errorf("file %s has no row of its load %x", span.File, n.Load))
			case read && span.Rows > 0 && at != (rowsOf{span.First, span.Rows}) && span != n.Facts && span != n.Names:
				problem("artifact "+id.String(), fmt.Errorf("file %s has rows %d to %d of its load %x, and the log says %d to %d",
					span.File, at.first, at.first+at.rows, n.Load, span.First, span.First+span.Rows))
			}
		}
		for _, path := range holders[key] {
			if path != n.Rows.File {
				problem("artifact "+id.String(), fmt.Errorf("its load %x has rows in %s and in %s", n.Load, n.Rows.File, path))
			}
		}
		if f, ok := s.Find(n.Rows.File); ok && f.Table == rangesTable || n.Rows.File == "" {
			rows(id, n.Load, files[n.Rows.File][key].rows)
		}
	}
	return nil
}

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
