// Package discover finds the objects that a run is to read.
//
// A Lister compares the objects of a source with the ledger: by a listing, by prefixes and days, by
// hints, by an inventory, or by names that the caller gives. It hands the new ones over in rounds, as
// Tasks. It writes only the time of the last whole listing. Package ingest does the rest.
package discover

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// SidecarSuffix ends the key of a sidecar: a file that gives another object its APP and BUILD.
const SidecarSuffix = ".symlake.json"

// roundObjects is how many new objects a round holds at most: it bounds the memory of a listing.
const roundObjects = 1 << 16

// Lister finds the objects that a run is to read.
type Lister struct {
	Catalog *catalog.Catalog
	Formats []*formats.Format
	Now     func() time.Time

	Shard, Shards int      // only objects with a key that hashes to Shard of Shards (Shards 0: all)
	Only          []string // these objects alone, by URL; nil: all new ones
	HintsOnly     bool     // objects that hints name; nothing is listed
	Rederive      bool     // objects that older parsers read, worst quality first
	Force         bool     // loaded and forgotten objects, too
	Retry         bool     // rejected objects, too
	Isolated      bool     // objects that another worker has, too
	Renaming      bool     // loaded and kept objects that have not changed, and no others
	DryRun        bool     // nothing is written

	// Alive reports whether a worker still runs. Elsewhere notes an object that another worker has.
	Alive     func(context.Context, row.WorkerID) (bool, error)
	Elsewhere func(*Task)
	// Late reports whether the run is to take no more objects.
	Late func() bool

	RoundObjects int // new objects of a round (0: 65,536)
	SplitKeys    int // keys of a span that are read before part of the span is given away (0: 4,000)
}

func (l *Lister) roundObjects() int { return cmp.Or(l.RoundObjects, roundObjects) }

func (l *Lister) splitKeys() int { return cmp.Or(l.SplitKeys, splitKeys) }

// Take does the work of a round, before the next round is found.
type Take func(ctx context.Context, r *Round) error

// Find gives the objects of s that the run is to read to take. The error is bucket.ErrPartial if s
// holds, or may hold, more of them.
func (l *Lister) Find(ctx context.Context, s *CheckedSource, take Take) error {
	switch {
	case l.Only != nil:
		return l.keys(ctx, s, keysOf(s, l.Only), take)
	case l.Rederive:
		return l.rederive(ctx, s, take)
	}
	if err := l.hinted(ctx, s, take); err != nil || l.HintsOnly {
		return err
	}
	if s.Inventory != nil {
		return l.inventory(ctx, s, take)
	}
	return l.List(ctx, s, take)
}

// List compares a listing of s with the ledger, and gives the new objects to take. If s cannot list, List gives the
// objects that are missed.
func (l *Lister) List(ctx context.Context, s *CheckedSource, take Take) error {
	if by, is := s.Bucket.(bucket.ByBuildID); is && s.Key == "" {
		return l.demanded(ctx, s, by, take)
	}
	if by, is := s.Bucket.(bucket.ByModule); is && s.Key == "" {
		return l.demandedModules(ctx, s, by, take)
	}
	began := l.Now()
	list, err := l.newListing(ctx, s)
	if err != nil {
		return err
	}
	var partial error
	for more := true; more; {
		r, err := list.next(ctx)
		if err != nil {
			return err
		}
		if err := take(ctx, r); err != nil {
			return err
		}
		more, partial = r.more, errors.Join(partial, r.partial)
	}
	if partial != nil || !list.whole {
		return partial
	}
	return l.noteWhole(ctx, s, began)
}

// wants reports whether a key is an object that this run looks at.
func (l *Lister) wants(s *CheckedSource, key string) bool {
	return !strings.HasSuffix(key, SidecarSuffix) && s.takes(key) && ShardOf(key, l.Shards) == l.Shard
}

// listOne looks at the one object of a source.
func (l *Lister) listOne(ctx context.Context, s *CheckedSource) (*Round, error) {
	r := &Round{}
	url := s.Bucket.URL(s.Key)
	old, err := l.Catalog.Ledger.Get(ctx, url)
	if err != nil {
		return nil, err
	}
	e, _, err := s.Bucket.Stat(ctx, s.Key)
	if errors.Is(err, bucket.ErrNotFound) {
		if old != nil && old.State != catalog.ObjectGone {
			r.Gone = append(r.Gone, old)
		}
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if !l.wants(s, s.Key) {
		return r, nil
	}

	r.Seen++
	t := &Task{Source: s, Entry: e, URL: url, Ledger: old, Named: ledger.IsNamed(old)}
	is, err := l.isNew(ctx, t)
	if err != nil {
		return nil, err
	}
	if is {
		_, _, err := s.Bucket.Stat(ctx, s.Key+SidecarSuffix)
		t.Sidecar = err == nil
		r.Tasks = append(r.Tasks, t)
	}
	r.Part()
	return r, nil
}

// isNew reports whether the run is to read an object. If the lister is Renaming, it reports whether
// the run is to look at the object's names.
func (l *Lister) isNew(ctx context.Context, t *Task) (bool, error) {
	o := t.Ledger
	switch {
	case l.Renaming:
		return o != nil && o.ETag == t.Entry.ETag && (o.State == catalog.ObjectLoaded || o.State == catalog.ObjectKept), nil
	case o == nil:
		return true, nil
	case o.State == catalog.ObjectGone && o.Reason == ledger.ReasonForgotten:
		return l.Force, nil
	case o.State == catalog.ObjectLoading, o.State == catalog.ObjectPublished:
		if !l.Isolated {
			alive, err := l.Alive(ctx, o.Owner)
			if err != nil || alive {
				l.Elsewhere(t)
				return false, err
			}
		}
		t.Suspect = o.State == catalog.ObjectLoading
		return true, nil
	case o.ETag != t.Entry.ETag:
		return true, nil
	}

	switch o.State {
	case catalog.ObjectRejected, catalog.ObjectSkipped:
		return l.Retry && o.State == catalog.ObjectRejected || l.Force || l.outdated(o), nil
	case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectConflict:
		if l.Force || ledger.Undisputed(o) {
			return l.Force, nil
		}
		return l.accepted(ctx, o)
	}
	return true, nil
}

// accepted reports whether a person accepted a conflict of an object: conflicts.Accept may have died before
// it put the object back as pending.
func (l *Lister) accepted(ctx context.Context, o *catalog.Object) (is bool, err error) {
	err = l.Catalog.Conflicts.Each(ctx, o.URL, func(c *catalog.Conflict) error {
		is = is || !c.Accepted.IsZero()
		return nil
	})
	return is, err
}

// outdated reports whether a format that looked at o has changed since. If no format knew o, it
// reports whether one is new.
func (l *Lister) outdated(o *catalog.Object) bool {
	for _, f := range l.Formats {
		v, looked := o.Parsers[f.Name]
		if looked && v != f.Version || !looked && o.Reason == ledger.ReasonUnknown {
			return true
		}
	}
	return false
}

// Versions returns the parser version of each format, by name. The ledger keeps them for an object
// that no format knows.
func Versions(list []*formats.Format) map[string]int {
	m := make(map[string]int, len(list))
	for _, f := range list {
		m[f.Name] = f.Version
	}
	return m
}

// OwedTask returns a task that derives an object of one of the sources again, for the obligations
// owed. nil: the object is gone or changed, is quarantined, or another worker has it.
func (l *Lister) OwedTask(ctx context.Context, all Sources, old *catalog.Object, owed []*catalog.Obligation) (*Task, error) {
	_, e, member, err := all.Locate(ctx, old.URL)
	if errors.Is(err, formats.ErrNoCompanion) || err == nil && member != "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if old.ETag != e.ETag {
		return nil, nil // a changed object is new itself, and asks again
	}

	s, _ := all.Of(old.URL) // of sources that share a bucket, the one with the object's owner
	t := &Task{Source: s, Entry: e, URL: old.URL, Ledger: old, Named: ledger.IsNamed(old), Owed: owed}
	switch old.State {
	case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectConflict, catalog.ObjectSkipped:
		t.Rederive = true
	case catalog.ObjectRejected:
		if strings.HasPrefix(old.Reason, ledger.ReasonCrashed) {
			return nil, nil
		}
	case catalog.ObjectLoading, catalog.ObjectPublished:
		if alive, err := l.Alive(ctx, old.Owner); err != nil || alive {
			return nil, err
		}
		t.Suspect = old.State == catalog.ObjectLoading
	default:
		return nil, nil
	}
	return t, t.findSidecar(ctx)
}

// findSidecar looks for a sidecar beside the object.
func (t *Task) findSidecar(ctx context.Context) error {
	_, _, err := t.Source.Bucket.Stat(ctx, t.Entry.Key+SidecarSuffix)
	if err != nil && !errors.Is(err, bucket.ErrNotFound) {
		return err
	}
	t.Sidecar = err == nil
	return nil
}
