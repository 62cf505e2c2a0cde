package ingest

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/sinks/bucket"
)

// mayUse reports whether a file of x's bucket may be a companion of x. The names of companions can
// lead into the folder of another owner.
func (x *object) mayUse(ctx context.Context, key string, want formats.Ref) (bool, error) {
	url := x.t.Source.Bucket.URL(key)
	if s, takes := x.j.sources.Of(url); takes && s == x.t.Source {
		return true, nil
	}
	a, err := companions.ArrivalAt(ctx, x.j.cat, []string{url}, x.t.Source.Standing())
	if err != nil {
		return false, environment(err)
	}
	is := x.j.sources.Serve(url, x.t.Source.Standing(), a.Owners)
	if !is {
		x.distrust(url, want, a.Owners)
	}
	return is, nil
}

// beside opens the file called name, seen from key, if may allows its key.
func (j *job) beside(ctx context.Context, b bucket.Bucket, key, name string, may func(key string) (bool, error)) (*formats.Input, error) {
	if strings.HasSuffix(name, "/") {
		return j.within(ctx, b, path.Join(path.Dir(key), name)+"/", may)
	}
	for _, k := range keysBeside(key, name) {
		e, _, err := b.Stat(ctx, k)
		if errors.Is(err, bucket.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if is, err := may(k); err != nil {
			return nil, err
		} else if !is {
			continue
		}
		return j.fetched(ctx, b, e)
	}
	return nil, formats.ErrNoCompanion
}

// isBeside reports whether x may use a file that is there under the name of a companion.
func (x *object) isBeside(ctx context.Context, want formats.Ref) (bool, error) {
	b, key, name := x.t.Source.Bucket, x.t.Entry.Key, want.Name
	if strings.HasSuffix(name, "/") {
		e, err := firstWithin(ctx, b, path.Join(path.Dir(key), name)+"/")
		if err != nil || e == nil {
			return false, err
		}
		return x.mayUse(ctx, e.Key, want)
	}
	for _, k := range keysBeside(key, name) {
		_, _, err := b.Stat(ctx, k)
		if errors.Is(err, bucket.ErrNotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		if is, err := x.mayUse(ctx, k, want); err != nil || is {
			return is, err
		}
	}
	return false, nil
}

// within opens the first file of a folder, hidden ones aside, if may allows its key.
func (j *job) within(ctx context.Context, b bucket.Bucket, folder string, may func(key string) (bool, error)) (*formats.Input, error) {
	found, err := firstWithin(ctx, b, folder)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, formats.ErrNoCompanion
	}
	if is, err := may(found.Key); err != nil {
		return nil, err
	} else if !is {
		return nil, formats.ErrNoCompanion
	}
	return j.fetched(ctx, b, *found)
}

// firstWithin finds the first file of a folder, hidden ones aside; nil: there is none.
func firstWithin(ctx context.Context, b bucket.Bucket, folder string) (found *bucket.Entry, err error) {
	err = b.List(ctx, folder, "", func(e bucket.Entry) error {
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
	return found, nil
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
