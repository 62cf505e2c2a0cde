package lake

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
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
