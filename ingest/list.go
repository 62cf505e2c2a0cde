package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/sinks/bucket"
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
	names            *NamePattern
	prefix           string // of the URLs of its objects
}

func newSource(s Source) (*source, error) {
	if s.Bucket == nil {
		return nil, errors.New("a source without a bucket")
	}
	src := &source{Source: s, prefix: strings.TrimSuffix(s.Bucket.URL(""), "/") + "/"}
	var err error
	if src.include, err = newGlobs(s.Include); err != nil {
		return nil, err
	}
	if src.exclude, err = newGlobs(s.Exclude); err != nil {
		return nil, err
	}
	src.names, err = ParseNames(s.Names)
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
	old      *row.Object // the ledger's entry; nil: none
	sidecar  bool        // it has one beside it
	named    bool        // the ledger finds it by its names
	begun    bool        // noted as attempted by this run
	suspect  bool        // it was open when a process died
	rederive bool        // a companion of it has come
	retries  int         // times it changed while it was read
}

// round is a piece of a source's listing, compared with the ledger.
type round struct {
	tasks, suspects []*task
	gone            []*row.Object
	next            string // list on after this key
	more            bool
}

var errStop = errors.New("stop")

// list compares the listing above after with the ledger: a merge of two
// ordered streams.
func (j *job) list(ctx context.Context, s *source, after string) (*round, error) {
	if s.Key != "" {
		return j.listOne(ctx, s)
	}
	r := &round{}
	var ledgerErr error
	next, stop := iter.Pull(func(yield func(*row.Object) bool) {
		ledgerErr = j.cat.Objects(ctx, s.prefix, func(o *row.Object) error {
			if after != "" && o.URL <= s.Bucket.URL(after) {
				return nil
			}
			if !yield(o) {
				return errStop
			}
			return nil
		})
	})
	defer stop()
	have, ok := next()
	missing := func(o *row.Object) {
		key := strings.TrimPrefix(o.URL, s.prefix)
		if o.State != row.ObjectGone && ShardOf(key, j.o.Shards) == j.o.Shard {
			r.gone = append(r.gone, o)
		}
	}
	until := "" // no sidecar of the tasks so far comes after this key
	lastURL := ""
	err := s.Bucket.List(ctx, "", after, func(e bucket.Entry) error {
		url := s.Bucket.URL(e.Key)
		if url <= lastURL {
			return fmt.Errorf("list %s: %s after %s: not in order", s.prefix, url, lastURL)
		}
		if len(r.tasks) >= j.perRound && e.Key > until {
			r.more = true
			return errStop
		}
		r.next, lastURL = e.Key, url
		for ; ok && have.URL < url; have, ok = next() {
			missing(have)
		}
		var old *row.Object
		if ok && have.URL == url {
			old = have
			have, ok = next()
		}
		if rest, is := strings.CutSuffix(e.Key, sidecar); is {
			for i := len(r.tasks) - 1; i >= 0 && r.tasks[i].entry.Key >= rest; i-- {
				if r.tasks[i].entry.Key == rest {
					r.tasks[i].sidecar = true
				}
			}
			return nil
		}
		if !j.wants(s, e.Key) {
			return nil
		}
		j.report.Objects.Seen++
		t := &task{src: s, entry: e, url: url, old: old, named: named(old)}
		if j.isNew(t) {
			until = max(until, e.Key+sidecar)
			r.tasks = append(r.tasks, t)
		}
		return nil
	})
	if err != nil && err != errStop {
		return nil, fmt.Errorf("list %s: %w", s.prefix, err)
	}
	if !r.more {
		for ; ok; have, ok = next() {
			missing(have)
		}
	}
	if ledgerErr != nil && ledgerErr != errStop {
		return nil, fmt.Errorf("read ledger below %s: %w", s.prefix, ledgerErr)
	}
	r.part()
	return r, nil
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
		if old != nil && old.State != row.ObjectGone {
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
	t := &task{src: s, entry: e, url: url, old: old, named: named(old)}
	if j.isNew(t) {
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
func (j *job) isNew(t *task) bool {
	o := t.old
	switch {
	case j.renaming:
		return o != nil && o.ETag == t.entry.ETag && (o.State == row.ObjectLoaded || o.State == row.ObjectKept)
	case o == nil:
		return true
	case o.State == row.ObjectGone && o.Reason == reasonForgotten:
		return j.o.Force
	case o.ETag != t.entry.ETag:
		return true
	}
	switch o.State {
	case row.ObjectLoading:
		t.suspect = true
		return true
	case row.ObjectRejected:
		return j.o.Retry || j.o.Force || j.outdated(o)
	case row.ObjectLoaded, row.ObjectKept, row.ObjectSkipped:
		return j.o.Force || j.outdated(o)
	}
	return true
}

// outdated reports whether a format that looked at o has changed since, or
// when none knew it, whether one is new.
func (j *job) outdated(o *row.Object) bool {
	for _, f := range j.o.Formats {
		v, looked := o.Parsers[f.Name]
		if looked && v != f.Version || !looked && o.Reason == reasonUnknown {
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
