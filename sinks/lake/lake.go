package lake

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
)

// Options says where a lake is and how it is written.
type Options struct {
	Bucket  bucket.Bucket
	Profile string         // sinks.LakeSealed or sinks.LakePlain; of a lake that exists it must be its own
	Keys    sinks.LakeKeys // sinks.LakePlain uses Names alone
	// OneKey seals all files of a master key with one data key, for readers that take only one.
	OneKey bool
	// SingleWriter: nobody else writes this lake, so a bucket that overwrites what must be new will do.
	SingleWriter bool
	Scratch      string           // folder for files being written that the bucket has no place for yet ("": the system's); they have no name there
	Now          func() time.Time // nil: time.Now
	// Go starts what encodes a file beside who writes it, one a file, which ends with the file; nil: nobody does. It
	// takes up to twice the memory.
	Go func(func())
}

// Lake implements sinks.Lake.
type Lake struct {
	o Options
	b bucket.Bucket

	mu     sync.Mutex
	seen   uint64 // number of the newest manifest that was met
	probed bool
	cached *state
}

// state is what a manifest and its table live say.
type state struct {
	manifest *manifest // nil: there is none
	live     map[symbol.ID]liveRow
}

// Open opens the lake in a bucket; there may be none yet.
func Open(o Options) *Lake {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Lake{o: o, b: o.Bucket}
}

// state reads what counts now. It is shared: read only.
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

// Begin implements sinks.Lake.
func (l *Lake) Begin(ctx context.Context) (sinks.LakeBatch, error) {
	m, err := l.newest(ctx)
	if err != nil {
		return nil, err
	}
	if m != nil && m.Profile != l.o.Profile {
		return nil, fmt.Errorf("%w: it is %s, not %s", sinks.ErrLakeProfile, m.Profile, l.o.Profile)
	}
	if m == nil {
		if err := l.probe(ctx); err != nil {
			return nil, err
		}
	}
	return newBatch(l, l.o.Profile), nil
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

// next is a manifest in the making.
type next struct {
	manifest
	live map[symbol.ID]liveRow
}

// following is the manifest after s, as long as nothing changes.
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

// maxRebases is how often another writer may be faster.
const maxRebases = 1000

// change publishes what edit makes of the newest state (nil: nothing), again and again while others are
// faster.
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

// probe tries twice whether the bucket refuses to overwrite what must be new.
func (l *Lake) probe(ctx context.Context) error {
	l.mu.Lock()
	done := l.probed || l.o.SingleWriter
	l.mu.Unlock()
	if done {
		return nil
	}
	key := "_probe/" + rand.Text()
	defer l.b.Delete(context.WithoutCancel(ctx), []string{key})
	if err := l.b.Create(ctx, key, "", bytes.NewReader([]byte("1"))); err != nil {
		return fmt.Errorf("try the bucket of the lake: %w", err)
	}
	for range 2 {
		err := l.b.Create(ctx, key, "", bytes.NewReader([]byte("2")))
		if err == nil {
			return fmt.Errorf("%s: %w", l.b.URL(""), sinks.ErrLakeUnsafe)
		}
		if !errors.Is(err, bucket.ErrChanged) {
			return fmt.Errorf("try the bucket of the lake: %w", err)
		}
	}
	l.mu.Lock()
	l.probed = true
	l.mu.Unlock()
	return nil
}
