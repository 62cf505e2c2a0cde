package lake

import (
	"context"
	"fmt"
	"path"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// Holds implements sinks.Lake.
func (l *Lake) Holds(ctx context.Context, a *symbol.Artifact, load sinks.Load) (bool, error) {
	s, err := l.State(ctx, 0)
	if err != nil {
		return false, err
	}
	span, err := l.holder(ctx, &s.Changes, a, load)
	return span.File != "", err
}

// holder returns where a file that counts has the rows of a load, or no place. It reads the columns artifact and load of the
// files of the load's kind and day.
func (l *Lake) holder(ctx context.Context, c *journal.Changes, a *symbol.Artifact, load sinks.Load) (journal.Span, error) {
	key := loadKey{a.ID, load}
	for _, f := range c.Counting() {
		if f.Table != rangesTable && f.Table != classesTable || path.Dir(f.Path) != folderOf(f.Table, a.Kind, load) {
			continue
		}
		spans, err := l.count(ctx, f.File)
		if err != nil {
			return journal.Span{}, fmt.Errorf("read which loads %s holds: %w", l.b.URL(f.Path), err)
		}
		if at := spans[key]; at.rows > 0 {
			return journal.Span{File: f.Path, First: at.first, Rows: at.rows}, nil
		}
	}
	return journal.Span{}, nil
}
