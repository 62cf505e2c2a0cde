package lake

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Profile is the profile of the lake that there is; "": there is none yet.
func (l *Lake) Profile(ctx context.Context) (string, error) {
	m, err := l.newest(ctx)
	if err != nil || m == nil {
		return "", err
	}
	return m.Profile, nil
}

// Masters are the master keys that open the files of a sealed lake, and the newest one, by the
// ids that the files name.
func (l *Lake) Masters(ctx context.Context) (map[string][]byte, error) {
	m, err := l.newest(ctx)
	if err != nil || m == nil {
		return nil, err
	}
	versions := map[uint32]bool{l.o.Keys.Newest: true}
	for _, e := range m.Files {
		versions[e.Key] = true
	}
	if m.Live != nil {
		versions[m.Live.Key] = true
	}
	delete(versions, 0) // plain
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
func (l *Lake) Keys(ctx context.Context) (map[uint32]int, error) {
	m, err := l.newest(ctx)
	if err != nil || m == nil {
		return nil, err
	}
	uses := map[uint32]int{}
	for _, e := range m.Files {
		uses[e.Key]++
	}
	if m.Live != nil {
		uses[m.Live.Key]++
	}
	delete(uses, 0) // plain
	return uses, nil
}
