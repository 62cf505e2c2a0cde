package lake

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// Profile is the profile of the lake that there is; "": there is none yet.
func (l *Lake) Profile(ctx context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.refresh(ctx)
	return l.profile(), err
}

// Masters are the master keys that open the files and the log of a sealed lake, and the newest one, by the
// ids that the files name.
func (l *Lake) Masters(ctx context.Context) (map[string][]byte, error) {
	versions, err := l.Keys(ctx)
	if err != nil || versions == nil {
		return nil, err
	}
	versions[l.o.Keys.Newest] = 1
	keys := map[string][]byte{}
	for v := range versions {
		master, err := l.o.Keys.Master(ctx, v)
		if err != nil {
			return nil, fmt.Errorf("master key %s: %w", pqfile.MasterID(v), err)
		}
		keys[pqfile.MasterID(v)] = master
	}
	return keys, nil
}

// Keys implements sinks.Lake.
func (l *Lake) Keys(ctx context.Context) (uses map[uint32]int, err error) {
	err = l.view(ctx, func(s *journal.State) error {
		if s.Profile == "" {
			return nil
		}
		uses = map[uint32]int{}
		for v, n := range s.Sealed {
			uses[v] += n
		}
		for _, f := range s.Files {
			if f.Fate == journal.Counts {
				uses[f.Key]++
			}
		}
		delete(uses, 0) // plain
		return nil
	})
	return uses, err
}
