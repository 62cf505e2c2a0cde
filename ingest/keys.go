package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/bucket"
)

// cutPrefix gives the key of a URL that lies in a source.
func cutPrefix(url string, s *source) (string, bool) {
	key, ok := strings.CutPrefix(url, s.prefix)
	return key, ok && key != "" && (s.Key == "" || key == s.Key)
}

// keys takes the objects of those keys that are new; one that is not there is left to the next listing.
func (j *job) keys(ctx context.Context, s *source, keys []string) error {
	for len(keys) > 0 {
		some := keys[:min(len(keys), j.perRound)]
		keys = keys[len(some):]
		found := make([]*task, len(some))
		errs := make([]error, len(some))
		parallel.Do(len(some), func(i int) { found[i], errs[i] = j.keyTask(ctx, s, some[i], nil) })
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if err := j.known(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

// known takes tasks that come from elsewhere than a listing; nil ones are left out.
func (j *job) known(ctx context.Context, found []*task) error {
	r := &round{tasks: slices.DeleteFunc(found, func(t *task) bool { return t == nil })}
	j.report.Objects.Seen += len(r.tasks)
	r.tasks = slices.DeleteFunc(r.tasks, func(t *task) bool { return !t.fresh })
	r.part()
	return j.round(ctx, r)
}

// keyTask makes a task of a key: the entry is asked for unless it is given. nil: there is no such object, or it is not wanted.
func (j *job) keyTask(ctx context.Context, s *source, key string, e *bucket.Entry) (*task, error) {
	if !j.wants(s, key) {
		return nil, nil
	}
	if e == nil {
		now, _, err := s.Bucket.Stat(ctx, key)
		if errors.Is(err, bucket.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", s.Bucket.URL(key), err)
		}
		e = &now
	}
	t := &task{src: s, entry: *e, url: s.Bucket.URL(key)}
	var err error
	if t.old, err = j.cat.Object(ctx, t.url); err != nil {
		return nil, err
	}
	t.IsNamed = ledger.IsNamed(t.old)
	if t.fresh, err = j.isNew(ctx, t); err != nil || !t.fresh {
		return t, err
	}
	_, _, err = s.Bucket.Stat(ctx, key+sidecar)
	if err != nil && !errors.Is(err, bucket.ErrNotFound) {
		return nil, err
	}
	t.sidecar = err == nil
	return t, nil
}

// hintRounds bounds how often hints are asked for: what comes faster than it is worked off waits for its turn.
const hintRounds = 1000

// hinted takes what the hints of a source name. A hint is done with when its objects are, whatever became of them:
// the next listing finds what is left.
func (j *job) hinted(ctx context.Context, s *source) error {
	if s.Hints == nil || j.renaming || j.o.DryRun {
		return nil
	}
	for range hintRounds {
		if j.late() || ctx.Err() != nil {
			return nil
		}
		hints, err := s.Hints.Take(ctx)
		if err != nil {
			return fmt.Errorf("take hints of %s: %w", s.prefix, err)
		}
		if len(hints) == 0 {
			return nil
		}
		var keys []string
		for _, h := range hints {
			for _, url := range h.URLs {
				if key, ok := cutPrefix(url, s); ok {
					keys = append(keys, key)
				}
			}
		}
		slices.Sort(keys)
		if err := j.keys(ctx, s, slices.Compact(keys)); err != nil {
			return err
		}
		if err := s.Hints.Done(ctx, hints); err != nil {
			return fmt.Errorf("end hints of %s: %w", s.prefix, err)
		}
	}
	return nil
}

// inventory takes what an inventory names and the ledger does not know. Nothing is gone because an
// inventory, which is of some time ago, does not name it.
func (j *job) inventory(ctx context.Context, s *source) error {
	var batch []bucket.Entry
	flush := func() error {
		found := make([]*task, len(batch))
		errs := make([]error, len(batch))
		parallel.Do(len(batch), func(i int) {
			e := &batch[i]
			if e.ETag == "" {
				e = nil
			}
			found[i], errs[i] = j.keyTask(ctx, s, batch[i].Key, e)
		})
		batch = batch[:0]
		if err := errors.Join(errs...); err != nil {
			return err
		}
		return j.known(ctx, found)
	}
	err := s.Inventory(ctx, func(e bucket.Entry) error {
		if key, ok := cutPrefix(e.Key, s); ok { // an inventory is of whole URLs
			e.Key = key
			batch = append(batch, e)
		}
		if len(batch) < j.perRound {
			return nil
		}
		return flush()
	})
	if err != nil {
		return fmt.Errorf("inventory of %s: %w", s.prefix, err)
	}
	return flush()
}
