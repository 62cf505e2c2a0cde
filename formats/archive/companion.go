package archive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/symlake/symlake/formats"
)

// indexBytes bounds the names kept to find companions: a million of a
// hundred bytes each.
const indexBytes = 128 << 20

// shelf is an archive with members that can be found again.
type shelf struct {
	in   *formats.Input
	form string
	scan func(ctx context.Context, each func(place) error) error // every member
	open func(ctx context.Context, p place) (*formats.Input, error)

	mu    sync.Mutex
	index *index // nil: not scanned yet
	err   error
}

// place is where a member is: at tells members apart, size is the form's own.
type place struct {
	name     string
	at, size int64
}

// companion returns the function that finds companions for the member asker. It
// tries a path relative to asker, then the member with a path that agrees with the
// wanted one in most trailing elements, so that a compiler's absolute path finds
// its file. Among equals the first member wins. If this archive has none, the
// archive's own companions may.
func (s *shelf) companion(asker place) func(context.Context, formats.Ref) (*formats.Input, error) {
	return func(ctx context.Context, want formats.Ref) (*formats.Input, error) {
		if want.Name != "" {
			found, ok, err := s.find(ctx, asker, want.Name)
			if err != nil {
				return nil, err
			}
			if ok {
				in, err := s.open(ctx, found)
				if err != nil {
					return nil, err
				}
				if in.Err != nil {
					return nil, errors.Join(in.Err, release(in))
				}
				if in.Fetch != nil {
					if err := in.Fetch(ctx); err != nil {
						return nil, errors.Join(err, release(in))
					}
				}
				return in, nil
			}
		}
		if s.in.Companion == nil {
			return nil, formats.ErrNoCompanion
		}
		return s.in.Companion(ctx, want)
	}
}

func (s *shelf) find(ctx context.Context, asker place, want string) (best place, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.scanned(ctx)
	if err != nil {
		return place{}, false, err
	}
	want = strings.ReplaceAll(want, "\\", "/")
	beside := path.Join(path.Dir(asker.name), want)
	if strings.HasSuffix(want, "/") {
		best, ok = x.folders[beside]
		return best, ok, nil
	}
	want = path.Clean(want)
	b := x.bunches[path.Base(want)]
	if b == nil {
		return place{}, false, nil
	}
	if !path.IsAbs(want) {
		if best, ok := b.at(beside, asker); ok {
			return best, true, nil
		}
	}
	best, ok = b.nearest(want, asker)
	return best, ok, nil
}

// scanned scans once. A failure of the archive's reader is tried again next time. Called locked.
func (s *shelf) scanned(ctx context.Context) (*index, error) {
	if s.index != nil || s.err != nil {
		return s.index, s.err
	}
	x := newIndex()
	bytes, members := 0, 0
	err := s.scan(ctx, func(p place) error {
		if bytes += len(p.name); bytes > indexBytes {
			return bad(s.form, "members", p.at, "shorter member names", formats.ErrLimit)
		}
		if members++; members > s.in.Limits.Members {
			return bad(s.form, "members", p.at, "fewer members", formats.ErrLimit)
		}
		x.add(p)
		return nil
	})
	// A broken archive still has the members before the damage.
	if err != nil && !errors.Is(err, formats.ErrCorrupt) {
		if formats.Rejects(err) {
			s.err = err
		}
		return nil, err
	}
	s.index = x
	return x, nil
}

func release(in *formats.Input) error {
	if in.Release == nil {
		return nil
	}
	return in.Release()
}

// reader reads n bytes of in at off from their start.
func reader(in *formats.Input, off, n int64) io.ReadSeeker {
	if in.Mapped != nil {
		return bytes.NewReader(in.Mapped[off : off+n])
	}
	return io.NewSectionReader(in.Bytes, off, n)
}

// label is a member's name as text: names are of any encoding.
func label(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}
