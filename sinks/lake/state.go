package lake

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
)

// state returns the newest manifest with its table live. Callers share it and must not change it.
func (l *Lake) state(ctx context.Context) (*state, error) {
	m, err := l.newest(ctx)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return &state{live: map[symbol.ID]liveRow{}}, nil
	}
	l.mu.Lock()
	s := l.cached
	l.mu.Unlock()
	if s != nil && s.manifest.Number == m.Number {
		return s, nil
	}
	s = &state{manifest: m, live: map[symbol.ID]liveRow{}}
	if m.Live != nil {
		if s.live, err = l.readLive(ctx, m); err != nil {
			return nil, fmt.Errorf("read %s: %w", l.b.URL(m.Live.Path), err)
		}
	}
	l.keep(s)
	return s, nil
}

func (l *Lake) keep(s *state) {
	l.mu.Lock()
	l.cached = s
	l.mu.Unlock()
}

// Live implements sinks.Lake.
func (l *Lake) Live(ctx context.Context) (map[symbol.ID]sinks.LakeMark, error) {
	s, err := l.state(ctx)
	if err != nil {
		return nil, err
	}
	marks := make(map[symbol.ID]sinks.LakeMark, len(s.live))
	for id, r := range s.live {
		marks[id] = sinks.LakeMark{Load: r.load, Revision: r.revision}
	}
	return marks, nil
}

// Drop implements sinks.Lake.
func (l *Lake) Drop(ctx context.Context, ids []symbol.ID) error {
	return l.change(ctx, func(s *state) (*next, error) {
		n := l.following(s)
		gone := 0
		for _, id := range ids {
			if _, ok := n.live[id]; ok {
				delete(n.live, id)
				gone++
			}
		}
		if gone == 0 {
			return nil, nil
		}
		return n, nil
	})
}

// following returns the manifest after s, with nothing changed.
func (l *Lake) following(s *state) *next {
	n := &next{live: make(map[symbol.ID]liveRow, len(s.live)+1)}
	for id, r := range s.live {
		n.live[id] = r
	}
	if s.manifest != nil {
		n.manifest = *s.manifest
		n.Files = append([]entry(nil), s.manifest.Files...)
		n.Retired = append([]retired(nil), s.manifest.Retired...)
	} else {
		n.Profile = l.o.Profile
	}
	n.Format, n.Number, n.Made = manifestFormat, n.Number+1, l.o.Now().UTC()
	return n
}

// maxRebases bounds how often another writer may be faster.
const maxRebases = 1000

// change publishes the manifest that edit makes of the newest state; nil ends it without one. While other writers are faster
// it calls edit again.
func (l *Lake) change(ctx context.Context, edit func(*state) (*next, error)) error {
	for range maxRebases {
		s, err := l.state(ctx)
		if err != nil {
			return err
		}
		n, err := edit(s)
		if err != nil || n == nil {
			return err
		}
		if old := n.Live; old != nil {
			n.Retired = append(n.Retired, retired{old.Path, n.Made})
		}
		e, err := l.writeLive(ctx, n)
		if err != nil {
			return err
		}
		n.Live = e
		err = l.put(ctx, &n.manifest)
		if errors.Is(err, bucket.ErrChanged) {
			if derr := l.b.Delete(ctx, []string{e.Path}); derr != nil {
				return derr
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("publish manifest %d: %w", n.Number, err)
		}
		l.keep(&state{manifest: &n.manifest, live: n.live})
		return nil
	}
	return fmt.Errorf("publish a manifest: %w: others were faster %d times", sinks.ErrConflict, maxRebases)
}
