package lake

import (
	"context"
	"fmt"
	"path"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Holds implements sinks.Lake.
func (l *Lake) Holds(ctx context.Context, a *symbol.Artifact, load sinks.Load) (bool, error) {
	s, err := l.state(ctx)
	if err != nil || s.manifest == nil {
		return false, err
	}
	file, err := l.holder(ctx, s.manifest, a, load)
	return file != "", err
}

// holder returns the path of the named file with the rows of a load, or "". It reads the columns artifact and load of the
// files of the load's kind and day.
func (l *Lake) holder(ctx context.Context, m *manifest, a *symbol.Artifact, load sinks.Load) (string, error) {
	key := loadKey{a.ID, load}
	for i := range m.Files {
		e := &m.Files[i]
		if e.Table != rangesTable && e.Table != classesTable || path.Dir(e.Path) != folderOf(e.Table, a.Kind, load) {
			continue
		}
		counts, err := l.count(ctx, e)
		if err != nil {
			return "", fmt.Errorf("read which loads %s holds: %w", l.b.URL(e.Path), err)
		}
		if counts[key] > 0 {
			return e.Path, nil
		}
	}
	return "", nil
}
