package build

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row"
)

// errFound ends a walk that has found its member.
var errFound = errors.New("found")

// companion finds a companion of x: beside it in its bucket, then in the ledger by id. The format of
// an archive has looked in the archive before.
func (x *object) companion(ctx context.Context, want formats.Ref) (*formats.Input, error) {
	in, err := x.seek(ctx, want)
	if err == nil && x.Task.Seen {
		x.Find(companions.Key(want))
	}
	return in, err
}

// seek looks for a companion, and notes a companion that it does not find.
func (x *object) seek(ctx context.Context, want formats.Ref) (*formats.Input, error) {
	waits := x.b.Waits
	in, err := x.b.openBeside(ctx, x.Task.Source.Bucket, x.Task.Entry.Key, want.Name,
		func(key string) (bool, error) { return waits.MayUse(ctx, x.Object, key, want) })
	if !errors.Is(err, formats.ErrNoCompanion) {
		return in, err
	}
	var tried []string
	if want.ID != "" {
		var owners map[string]row.Standing
		if tried, owners, err = waits.Approach(ctx, x.Object, want.ID); err != nil {
			return nil, err
		}
		for _, place := range tried {
			if !waits.Serves(x.Object, place, want, owners) {
				continue
			}
			in, err := x.openPlace(ctx, place)
			if !errors.Is(err, formats.ErrNoCompanion) {
				return in, err
			}
		}
	}
	if in, err := x.openBuild(ctx, want.ID); !errors.Is(err, formats.ErrNoCompanion) {
		return in, err
	}
	if !want.Optional {
		x.Miss(companions.Key(want), want, tried)
	}
	return nil, formats.ErrNoCompanion
}

// openBuild opens the debug information of a companion's build, if the source finds builds by their ids.
func (x *object) openBuild(ctx context.Context, id string) (*formats.Input, error) {
	b := x.Task.Source.Bucket
	by, is := b.(bucket.ByBuildID)
	build := companions.BuildID(id)
	if !is || build == "" {
		return nil, formats.ErrNoCompanion
	}
	keys := by.Keys(build)
	if len(keys) == 0 || keys[0] == x.Task.Entry.Key {
		return nil, formats.ErrNoCompanion
	}
	e, _, err := b.Stat(ctx, keys[0])
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, formats.ErrNoCompanion
	}
	if err != nil {
		return nil, err
	}
	return x.b.openWhole(ctx, b, e)
}

// openPlace opens a place of this run's sources. It copies a member, which is valid only during the
// walk of its archive.
func (x *object) openPlace(ctx context.Context, place string) (*formats.Input, error) {
	s, e, member, err := x.b.Sources.Locate(ctx, place)
	if err != nil {
		return nil, err
	}
	outer, err := x.b.openWhole(ctx, s.Bucket, e)
	if err != nil || member == "" {
		return outer, err
	}
	found, err := x.member(ctx, outer, outer.Name+"!"+member, x.b.Limits.Nesting)
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

// member walks an archive to find the member of that full name.
func (x *object) member(ctx context.Context, in *formats.Input, name string, depth int) (found *formats.Input, err error) {
	f, obj, err := formats.Open(ctx, x.b.Formats, in)
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
				return errFound
			}
			return nil
		})
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}
