package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row"
)

const (
	buildIDKey = "build-id:"
	dwzKey     = "dwz:"
	fileKey    = "file:"
)

// spellings are the ways in which one companion is called: a dwz file is
// asked for by its build-id and reported as dwz.
func spellings(id string) []string {
	if hex, ok := strings.CutPrefix(id, buildIDKey); ok {
		return []string{id, dwzKey + hex}
	}
	if hex, ok := strings.CutPrefix(id, dwzKey); ok {
		return []string{id, buildIDKey + hex}
	}
	return []string{id}
}

// companion finds what x asks for beside it in its bucket, then in the ledger
// by id. (The same archive was asked before, by the archive's format.)
func (x *object) companion(ctx context.Context, want formats.Ref) (*formats.Input, error) {
	in, err := x.j.beside(ctx, x.t.src.Bucket, x.t.entry.Key, want.Name)
	if !errors.Is(err, formats.ErrNoCompanion) {
		return in, err
	}
	if want.ID != "" {
		for _, place := range x.j.placesOf(ctx, want.ID) {
			if !x.j.serves(place, x.t.src.standing()) {
				x.distrust(place, want)
				continue
			}
			in, err := x.reopen(ctx, place)
			if !errors.Is(err, formats.ErrNoCompanion) {
				return in, err
			}
		}
	}
	if !want.Optional {
		x.miss(want)
	}
	return nil, formats.ErrNoCompanion
}

// beside opens the file called name, seen from key.
func (j *job) beside(ctx context.Context, b bucket.Bucket, key, name string) (*formats.Input, error) {
	if strings.HasSuffix(name, "/") {
		return j.within(ctx, b, path.Join(path.Dir(key), name)+"/")
	}
	for _, k := range keysBeside(key, name) {
		e, _, err := b.Stat(ctx, k)
		if errors.Is(err, bucket.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return j.fetched(ctx, b, e)
	}
	return nil, formats.ErrNoCompanion
}

// within opens the first file of a folder, hidden ones aside.
func (j *job) within(ctx context.Context, b bucket.Bucket, folder string) (*formats.Input, error) {
	var found *bucket.Entry
	err := b.List(ctx, folder, "", func(e bucket.Entry) error {
		rest := strings.TrimPrefix(e.Key, folder)
		if rest == "" || rest[0] == '.' || strings.Contains(rest, "/") {
			return nil
		}
		found = &e
		return errStop
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, err
	}
	if found == nil {
		return nil, formats.ErrNoCompanion
	}
	return j.fetched(ctx, b, *found)
}

// keysBeside lists the keys at which a file called name may lie, seen from key.
func keysBeside(key, name string) []string {
	if name == "" {
		return nil
	}
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	dir := path.Dir(key)
	var all []string
	add := func(k string) {
		k = strings.TrimPrefix(k, "/")
		if k != key && k != "." && k != ".." && !strings.HasPrefix(k, "../") && !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	if !path.IsAbs(name) {
		add(path.Join(dir, name))
	}
	add(path.Join(dir, path.Base(name)))
	add(strings.TrimPrefix(name, "../"))
	return all
}

// placesOf gives the objects and members ("URL!member") that have an id.
// A catalog that cannot be read gives none: it will be asked again when what it
// lists would have arrived.
func (j *job) placesOf(ctx context.Context, id string) []string {
	var places []string
	for _, s := range spellings(id) {
		refs, err := j.cat.Names(ctx, s, 4)
		if err != nil {
			continue
		}
		for _, r := range refs {
			if r.Object != "" {
				places = append(places, r.Object)
			}
		}
	}
	if hex, ok := strings.CutPrefix(spellings(id)[0], buildIDKey); ok {
		rec, err := j.cat.Artifact(ctx, symbol.NewID(symbol.ELF, strings.ToLower(hex)))
		if err == nil && rec != nil && rec.Published != nil {
			s := rec.Published.Source
			places = append(places, join(s.URL, s.Member))
		}
	}
	return places
}

func join(url, member string) string {
	if member == "" {
		return url
	}
	return url + "!" + member
}

// locate finds the source and entry that a place begins with, and the member
// that is left.
func (j *job) locate(ctx context.Context, place string) (*source, bucket.Entry, string, error) {
	for _, s := range j.sources {
		rest, ok := strings.CutPrefix(place, s.prefix)
		if !ok {
			continue
		}
		for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], '!') {
			e, _, err := s.Bucket.Stat(ctx, rest[:end])
			if errors.Is(err, bucket.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, e, "", err
			}
			return s, e, strings.TrimPrefix(rest[end:], "!"), nil
		}
	}
	return nil, bucket.Entry{}, "", formats.ErrNoCompanion
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
	s, e, member, err := x.j.locate(ctx, place)
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

// miss notes what x asked for and nobody had.
func (x *object) miss(want formats.Ref) {
	key := want.ID
	if key == "" {
		key = waitName(want.Name) // whatever comes under an id says so when it comes
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.missed == nil {
		x.missed = map[string]bool{}
	}
	if key != "" && len(x.missed) < maxMissed {
		x.missed[key] = true
	}
}

// maxMissed bounds what one object waits for: the largest binaries have 40,000
// split units.
const maxMissed = 1 << 16

// waitName is the waiter's key for a file name.
func waitName(name string) string {
	if name == "" {
		return ""
	}
	return fileKey + strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
}

// arrived notes what x brought that others may wait for, and which of them do:
// companions, and builds, which the catalog knows as artifacts.
func (x *object) arrived(ctx context.Context, in *formats.Input, companions, builds []string) error {
	j := x.j
	keys := []string{waitName(formats.Base(in.Name))}
	for _, id := range slices.Concat(companions, builds) {
		keys = append(keys, spellings(id)...)
	}
	if !j.o.DryRun {
		for _, id := range companions {
			if err := j.cat.AddName(ctx, id, row.Ref{Object: in.Name}); err != nil {
				return err
			}
		}
	}
	for _, k := range keys {
		ws, err := j.cat.Waiters(ctx, k)
		if err != nil {
			return err
		}
		for _, w := range ws {
			x.wakes = append(x.wakes, waiting{k, w})
		}
	}
	return nil
}

// waiting is a waiter and the key it waits under.
type waiting struct {
	key string
	row.Waiter
}

// wake queues the objects that wait for what came. Their waiter records go when
// they have been derived again, so that a killed run forgets nobody.
func (j *job) wake(ws []waiting) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, w := range ws {
		if j.woken[w.Object] == nil {
			j.wakeList = append(j.wakeList, w.Object)
		}
		j.woken[w.Object] = append(j.woken[w.Object], w)
	}
}
