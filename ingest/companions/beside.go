package companions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row"
)

// errFound ends a listing that has found its file.
var errFound = errors.New("found")

// Beside finds the file called name, seen from key, if may allows its key. The error is
// formats.ErrNoCompanion if there is none.
func Beside(ctx context.Context, b bucket.Bucket, key, name string, may func(key string) (bool, error)) (bucket.Entry, error) {
	if strings.HasSuffix(name, "/") {
		first, err := firstWithin(ctx, b, path.Join(path.Dir(key), name)+"/")
		if err != nil {
			return bucket.Entry{}, err
		}
		if first == nil {
			return bucket.Entry{}, formats.ErrNoCompanion
		}
		if is, err := may(first.Key); err != nil {
			return bucket.Entry{}, err
		} else if !is {
			return bucket.Entry{}, formats.ErrNoCompanion
		}
		return *first, nil
	}
	for _, k := range keysBeside(key, name) {
		e, _, err := b.Stat(ctx, k)
		if errors.Is(err, bucket.ErrNotFound) {
			continue
		}
		if err != nil {
			return bucket.Entry{}, err
		}
		if is, err := may(k); err != nil {
			return bucket.Entry{}, err
		} else if !is {
			continue
		}
		return e, nil
	}
	return bucket.Entry{}, formats.ErrNoCompanion
}

// firstWithin finds the first file of a folder, hidden ones aside; nil: there is none.
func firstWithin(ctx context.Context, b bucket.Bucket, folder string) (found *bucket.Entry, err error) {
	err = b.List(ctx, folder, "", func(e bucket.Entry) error {
		rest := strings.TrimPrefix(e.Key, folder)
		if rest == "" || rest[0] == '.' || strings.Contains(rest, "/") {
			return nil
		}
		found = &e
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
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

// MayUse reports whether x may use a file of its bucket as companion. The names of companions can
// lead into the folder of another owner.
func (w *Waits) MayUse(ctx context.Context, x *outcome.Object, key string, want formats.Ref) (bool, error) {
	t := x.Task
	url := t.Source.Bucket.URL(key)
	if s, takes := w.Sources.Of(url); takes && s == t.Source {
		return true, nil
	}
	a, err := ArrivalAt(ctx, w.Catalog, []string{url}, t.Source.Standing())
	if err != nil {
		return false, failure.Environment(err)
	}
	return w.Serves(x, url, want, a.Owners), nil
}

// Serves reports whether x may use a companion at a place. If not, it warns. owners are the owners
// of places by the ledger.
func (w *Waits) Serves(x *outcome.Object, place string, want formats.Ref, owners map[string]row.Standing) bool {
	if w.Sources.Serve(place, x.Task.Source.Standing(), owners) {
		return true
	}
	if strings.HasPrefix(want.ID, imagePrefix) {
		return false
	}
	s, _ := w.Sources.Standing(place, owners)
	x.Warn(report.Rejection{URL: x.Task.URL, Error: fmt.Sprintf("companion: %s is not used for %s: its source has owner %q and rank %d", place, cmp.Or(want.ID, want.Name), s.Owner, s.Rank)})
	return false
}

// isBeside reports whether x may use a file that lies under the name of a companion.
func (w *Waits) isBeside(ctx context.Context, x *outcome.Object, want formats.Ref) (bool, error) {
	_, err := Beside(ctx, x.Task.Source.Bucket, x.Task.Entry.Key, want.Name, func(key string) (bool, error) { return w.MayUse(ctx, x, key, want) })
	if errors.Is(err, formats.ErrNoCompanion) {
		return false, nil
	}
	return err == nil, err
}

// Approach finds the places of a companion by its id, and notes the companion's state before x reads
// it. It returns the owners of the places, too.
func (w *Waits) Approach(ctx context.Context, x *outcome.Object, id string) (places []string, owners map[string]row.Standing, err error) {
	if places, err = Places(ctx, w.Catalog, id); err != nil || len(places) == 0 {
		return nil, nil, failure.Environment(err)
	}
	a, err := ArrivalAt(ctx, w.Catalog, places, x.Task.Source.Standing())
	if err != nil {
		return nil, nil, failure.Environment(err)
	}
	x.NoteState(id, a.State)
	return places, a.Owners, nil
}
