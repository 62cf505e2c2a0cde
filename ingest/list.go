package ingest

import (
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

// sidecar ends the key of an object that names another one's APP and BUILD.
const sidecar = ".symlake.json"

// roundObjects is how many new objects are listed before they are worked off:
// what bounds the list's memory.
const roundObjects = 1 << 16

// source is a Source, checked.
type source struct {
	Source
	include, exclude globs
	Knows            *NamePattern
	prefix           string // of the URLs of its objects
}

func newSource(s Source) (*source, error) {
	if s.Bucket == nil {
		return nil, errors.New("a source without a bucket")
	}
	src := &source{Source: s, prefix: urlPrefix(s.Bucket)}
	var err error
	if src.include, err = newGlobs(s.Include); err != nil {
		return nil, err
	}
	if src.exclude, err = newGlobs(s.Exclude); err != nil {
		return nil, err
	}
	if _, err := datePrefix(s.Dates, time.Time{}); err != nil {
		return nil, err
	}
	src.Knows, err = ParseNames(s.Names)
	return src, err
}

// wants reports whether a key is an object that this run is to look at.
func (j *job) wants(s *source, key string) bool {
	if strings.HasSuffix(key, sidecar) || s.exclude.match(key) || len(s.include) > 0 && !s.include.match(key) {
		return false
	}
	return ShardOf(key, j.o.Shards) == j.o.Shard
}

// task is an object to be taken.
type task struct {
	src      *source
	entry    bucket.Entry
	url      string
	old      *catalog.Object       // the ledger's entry; nil: none
	sidecar  bool                  // it has one beside it
	IsNamed  bool                  // the ledger finds it by its names
	alone    bool                  // nothing else is at work beside it
	was      *catalog.Object       // the ledger's entry before this run noted it as attempted
	begun    bool                  // noted as attempted by this run
	heir     row.WorkerID          // who had it and died
	suspect  bool                  // it was open when a process died
	fresh    bool                  // it is to be taken: where no listing says so
	seen     bool                  // an earlier attempt was noted in the ledger
	owed     []*catalog.Obligation // why it is to be derived again, as read before it is taken
	rederive bool                  // it was counted before: obligations alone have it taken
	retries  int                   // times it changed while it was read
}

// listOne looks at one object of a source.
func (j *job) listOne(ctx context.Context, s *source) (*round, error) {
	r := &round{}
	url := s.Bucket.URL(s.Key)
	old, err := j.cat.Object(ctx, url)
	if err != nil {
		return nil, err
	}
	e, _, err := s.Bucket.Stat(ctx, s.Key)
	if errors.Is(err, bucket.ErrNotFound) {
		if old != nil && old.State != catalog.ObjectGone {
			r.gone = append(r.gone, old)
		}
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if !j.wants(s, s.Key) {
		return r, nil
	}
	j.report.Objects.Seen++
	t := &task{src: s, entry: e, url: url, old: old, IsNamed: ledger.IsNamed(old)}
	is, err := j.isNew(ctx, t)
	if err != nil {
		return nil, err
	}
	if is {
		_, _, err := s.Bucket.Stat(ctx, s.Key+sidecar)
		t.sidecar = err == nil
		r.tasks = append(r.tasks, t)
	}
	r.part()
	return r, nil
}

// part sets those apart that were open when a process died: they are taken
// one at a time, so that the next death has one culprit.
func (r *round) part() {
	var rest []*task
	for _, t := range r.tasks {
		if t.suspect {
			r.suspects = append(r.suspects, t)
		} else {
			rest = append(rest, t)
		}
	}
	r.tasks = rest
}

// isNew reports whether an object is to be taken; by Rename, whether its names are
// to be looked at.
func (j *job) isNew(ctx context.Context, t *task) (bool, error) {
	o := t.old
	switch {
	case j.renaming:
		return o != nil && o.ETag == t.entry.ETag && (o.State == catalog.ObjectLoaded || o.State == catalog.ObjectKept), nil
	case o == nil:
		return true, nil
	case o.State == catalog.ObjectGone && o.Reason == ledger.ReasonForgotten:
		return j.o.Force, nil
	case o.State == catalog.ObjectLoading, o.State == catalog.ObjectPublished:
		if !j.o.Isolated {
			alive, err := j.alive(ctx, o.Owner)
			if err != nil || alive {
				j.elsewhere(t)
				return false, err
			}
		}
		t.suspect = o.State == catalog.ObjectLoading
		return true, nil
	case o.ETag != t.entry.ETag:
		return true, nil
	}
	switch o.State {
	case catalog.ObjectRejected, catalog.ObjectSkipped:
		return j.o.Retry && o.State == catalog.ObjectRejected || j.o.Force || j.outdated(o), nil
	case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectConflict:
		if j.o.Force || ledger.Undisputed(o) {
			return j.o.Force, nil
		}
		return j.accepted(ctx, o)
	}
	return true, nil
}

// outdated reports whether a format that looked at o has changed since, or
// when none knew it, whether one is new.
func (j *job) outdated(o *catalog.Object) bool {
	for _, f := range j.o.Formats {
		v, looked := o.Parsers[f.Name]
		if looked && v != f.Version || !looked && o.Reason == ledger.ReasonUnknown {
			return true
		}
	}
	return false
}

// versions is what outdated compares for an object that no format knows.
func versions(list []*formats.Format) map[string]int {
	m := make(map[string]int, len(list))
	for _, f := range list {
		m[f.Name] = f.Version
	}
	return m
}

// urlPrefix is what the URLs of a bucket's objects begin with, before their keys.
func urlPrefix(b bucket.Bucket) string { return strings.TrimSuffix(b.URL(""), "/") + "/" }
