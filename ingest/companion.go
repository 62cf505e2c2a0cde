package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// errStop ends a walk that has found what it looked for.
var errStop = errors.New("stop")

// companion finds what x asks for beside it in its bucket, then in the ledger
// by id. (The same archive was asked before, by the archive's format.)
func (x *object) companion(ctx context.Context, want formats.Ref) (*formats.Input, error) {
	in, err := x.seek(ctx, want)
	if err == nil && x.t.Seen {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.got == nil {
			x.got = make(map[string]bool)
		}
		x.got[companions.Key(want)] = true
	}
	return in, err
}

// seek looks for a companion, and notes one that it does not find.
func (x *object) seek(ctx context.Context, want formats.Ref) (*formats.Input, error) {
	in, err := x.j.beside(ctx, x.t.Source.Bucket, x.t.Entry.Key, want.Name, func(key string) (bool, error) { return x.mayUse(ctx, key, want) })
	if !errors.Is(err, formats.ErrNoCompanion) {
		return in, err
	}
	var tried []string
	if want.ID != "" {
		if tried, err = x.j.placesOf(ctx, want.ID); err != nil {
			return nil, err
		}
		owners, err := x.approach(ctx, want.ID, tried)
		if err != nil {
			return nil, err
		}
		for _, place := range tried {
			if !x.j.sources.Serve(place, x.t.Source.Standing(), owners) {
				x.distrust(place, want, owners)
				continue
			}
			in, err := x.reopen(ctx, place)
			if !errors.Is(err, formats.ErrNoCompanion) {
				return in, err
			}
		}
	}
	if !want.Optional {
		x.miss(want, tried)
	}
	return nil, formats.ErrNoCompanion
}

// approach notes in which state the companion is, before x reads it. It returns the owners of the
// places.
func (x *object) approach(ctx context.Context, id string, places []string) (map[string]row.Standing, error) {
	if len(places) == 0 {
		return nil, nil
	}
	a, err := companions.ArrivalAt(ctx, x.j.cat, places, x.t.Source.Standing())
	if err != nil {
		return nil, environment(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.states == nil {
		x.states = make(map[string]string)
	}
	x.states[id] = a.State
	return a.Owners, nil
}

// placesOf gives the objects and members ("URL!member") that have an id.
func (j *job) placesOf(ctx context.Context, id string) ([]string, error) {
	places, err := companions.Places(ctx, j.cat, id)
	return places, environment(err)
}

// fetched opens an entry with all its bytes within reach.
func (j *job) fetched(ctx context.Context, b bucket.Bucket, e bucket.Entry) (*formats.Input, error) {
	in, err := j.openInput(ctx, b, e)
	if err != nil {
		return nil, wasThere(err)
	}
	in.Companion = noCompanion
	if in.Fetch != nil {
		if err := in.Fetch(ctx); err != nil {
			return nil, errors.Join(wasThere(err), release(in))
		}
	}
	return in, nil
}

// wasThere: what was there a moment ago and is gone has changed. Who asked for it is not gone, and asks again.
func wasThere(err error) error {
	if errors.Is(err, bucket.ErrNotFound) {
		return fmt.Errorf("%w: %v", bucket.ErrChanged, err)
	}
	return err
}

func noCompanion(context.Context, formats.Ref) (*formats.Input, error) {
	return nil, formats.ErrNoCompanion
}

// reopen opens a place of this run's sources. A member is copied: it dies with
// its archive's walk.
func (x *object) reopen(ctx context.Context, place string) (*formats.Input, error) {
	s, e, member, err := x.j.sources.Locate(ctx, place)
	if err != nil {
		return nil, err
	}
	outer, err := x.j.fetched(ctx, s.Bucket, e)
	if err != nil || member == "" {
		return outer, err
	}
	found, err := x.member(ctx, outer, outer.Name+"!"+member, x.j.o.Limits.Nesting)
	if err := errors.Join(err, release(outer)); err != nil {
		if found != nil {
			err = errors.Join(err, release(found))
		}
		return nil, err
	}
	if found == nil {
		return nil, formats.ErrNoCompanion
	}
	return found, nil
}

// member walks an archive for the member of that full name.
func (x *object) member(ctx context.Context, in *formats.Input, name string, depth int) (found *formats.Input, err error) {
	f, obj, err := formats.Open(ctx, x.j.o.Formats, in)
	if obj == nil || err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeObject(f, obj)) }()
	if obj.Members == nil || depth == 0 {
		return nil, nil
	}
	err = formats.Guard(f.Name, func() error {
		return obj.Members(ctx, func(m *formats.Input) error {
			switch {
			case m.Name == name:
				if m.Err != nil {
					return m.Err
				}
				if m.Fetch != nil {
					if err := m.Fetch(ctx); err != nil {
						return err
					}
				}
				if found, err = in.Spool(name, m.Size, io.NewSectionReader(m.Bytes, 0, m.Size)); err != nil {
					return err
				}
			case strings.HasPrefix(name, m.Name+"!"):
				if found, err = x.member(ctx, m, name, depth-1); err != nil {
					return err
				}
			}
			if found != nil {
				return errStop
			}
			return nil
		})
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return found, err
}

// missed is a companion that was asked for and not found.
type missed struct {
	want  formats.Ref
	tried []string // places that its id led to, and where it was not
}

// miss notes a companion that x asked for and did not find in the places tried. What the parser says
// may lie in the mapped object, which is closed before the load is published.
func (x *object) miss(want formats.Ref, tried []string) {
	key := companions.Key(want)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.missed == nil {
		x.missed = map[string]missed{}
	}
	if key != "" && len(x.missed) < maxMissed {
		want.ID, want.Name = strings.Clone(want.ID), strings.Clone(want.Name)
		x.missed[key] = missed{want, tried}
	}
}

// maxMissed bounds what one object waits for: the largest binaries have 40,000
// split units.
const maxMissed = 1 << 16

// arrived enters what x brought under the ids that others ask for: companions, and builds, which
// the catalog knows as artifacts.
func (x *object) arrived(ctx context.Context, in *formats.Input, ids, builds []string) error {
	if !x.j.o.DryRun {
		for _, id := range ids {
			if err := x.j.cat.Names.Add(ctx, id, catalog.Ref{Object: in.Name}); err != nil {
				return err
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.brought = append(x.brought, companions.FileKey(formats.Base(in.Name)))
	for _, id := range slices.Concat(ids, builds) {
		x.brought = append(x.brought, companions.Spellings(strings.Clone(id))...)
	}
	return nil
}
