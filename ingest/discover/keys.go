package discover

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/bucket"
)

// keysOf returns the keys of the URLs that lie in a source.
func keysOf(s *CheckedSource, urls []string) (keys []string) {
	for _, url := range urls {
		if key, ok := s.cutPrefix(url); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// keys gives the objects of those keys that are new. The next listing finds a missing object.
func (l *Lister) keys(ctx context.Context, s *CheckedSource, keys []string, take Take) error {
	for len(keys) > 0 {
		some := keys[:min(len(keys), l.roundObjects())]
		keys = keys[len(some):]
		found := make([]*Task, len(some))
		errs := make([]error, len(some))
		parallel.Do(len(some), func(i int) { found[i], errs[i] = l.keyTask(ctx, s, some[i], nil) })
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if err := take(ctx, roundOf(found)); err != nil {
			return err
		}
	}
	return nil
}

// roundOf makes a round of tasks that no listing gave. It leaves nil ones out.
func roundOf(found []*Task) *Round {
	r := &Round{Tasks: slices.DeleteFunc(found, func(t *Task) bool { return t == nil })}
	r.Seen = len(r.Tasks)
	r.Tasks = slices.DeleteFunc(r.Tasks, func(t *Task) bool { return !t.Fresh })
	r.Part()
	return r
}

// keyTask makes a task of a key. It asks the bucket for the entry unless e gives it. nil: there is
// no such object, or the run does not want it.
func (l *Lister) keyTask(ctx context.Context, s *CheckedSource, key string, e *bucket.Entry) (*Task, error) {
	if !l.wants(s, key) {
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
	t := &Task{Source: s, Entry: *e, URL: s.Bucket.URL(key)}
	var err error
	if t.Ledger, err = l.Catalog.Ledger.Get(ctx, t.URL); err != nil {
		return nil, err
	}
	t.Named = ledger.IsNamed(t.Ledger)
	if t.Fresh, err = l.isNew(ctx, t); err != nil || !t.Fresh {
		return t, err
	}
	if err := t.findSidecar(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// hintRounds bounds how often a run asks for hints. Hints that come faster than the run works wait
// for the next run.
const hintRounds = 1000

// hinted gives the objects that the hints of a source name. A hint is done as soon as its objects
// are, even if they failed: the next listing finds the rest.
func (l *Lister) hinted(ctx context.Context, s *CheckedSource, take Take) error {
	if s.Hints == nil || l.Renaming || l.DryRun {
		return nil
	}
	for range hintRounds {
		if l.Late() || ctx.Err() != nil {
			return nil
		}
		hints, err := s.Hints.Take(ctx)
		if err != nil {
			return fmt.Errorf("take hints of %s: %w", s.Prefix, err)
		}
		if len(hints) == 0 {
			return nil
		}
		var keys []string
		for _, h := range hints {
			keys = append(keys, keysOf(s, h.URLs)...)
		}
		slices.Sort(keys)
		if err := l.keys(ctx, s, slices.Compact(keys), take); err != nil {
			return err
		}
		if err := s.Hints.Done(ctx, hints); err != nil {
			return fmt.Errorf("end hints of %s: %w", s.Prefix, err)
		}
	}
	return nil
}

// inventory gives the objects of an inventory that the ledger does not know. An inventory is some
// time old, so an object that it does not name may still exist.
func (l *Lister) inventory(ctx context.Context, s *CheckedSource, take Take) error {
	var batch []bucket.Entry
	flush := func() error {
		found := make([]*Task, len(batch))
		errs := make([]error, len(batch))
		parallel.Do(len(batch), func(i int) {
			e := &batch[i]
			if e.ETag == "" {
				e = nil
			}
			found[i], errs[i] = l.keyTask(ctx, s, batch[i].Key, e)
		})
		batch = batch[:0]
		if err := errors.Join(errs...); err != nil {
			return err
		}
		return take(ctx, roundOf(found))
	}
	err := s.Inventory(ctx, func(e bucket.Entry) error {
		if key, ok := s.cutPrefix(e.Key); ok { // an inventory names whole URLs
			e.Key = key
			batch = append(batch, e)
		}
		if len(batch) < l.roundObjects() {
			return nil
		}
		return flush()
	})
	if err != nil {
		return fmt.Errorf("inventory of %s: %w", s.Prefix, err)
	}
	return flush()
}
