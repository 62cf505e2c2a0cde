package discover

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// errEnough ends a listing that has given enough.
var errEnough = errors.New("enough")

// spanReader reads a span of a listing.
type spanReader struct {
	l     *listing
	span  *span
	found *atomic.Int64 // new objects of the round, by all readers
	idle  *sync.Cond

	tasks   []*Task
	gone    []*catalog.Object
	spare   *Task // of an object that was not new
	seen    int
	more    bool
	partial error // the listing ended early, so that a missing object proves nothing
}

// read compares a span with the ledger: a merge of two ordered streams.
func (r *spanReader) read(ctx context.Context) error {
	l, s, p := r.l, r.l.s, r.span
	from := p.after
	entries := r.ledger(ctx)
	defer entries.stop()

	var ours error // an error of this process, which the listing did not cause
	sidecars := "" // no task so far has a sidecar after this key
	last := ""
	err := s.Bucket.List(ctx, "", from, func(e bucket.Entry) (err error) {
		defer func() { ours = err }()
		if p.until != "" && e.Key > p.until {
			return errEnough
		}
		if e.Key <= last {
			return fmt.Errorf("%s after %s: not in order", e.Key, last)
		}
		if int(r.found.Load()) >= l.roundObjects() && e.Key > sidecars {
			r.more = true
			l.full(r.idle)
			return errEnough
		}
		p.after, last = e.Key, e.Key
		url := s.Bucket.URL(e.Key)
		old, err := entries.at(url, r.missing)
		if err != nil {
			return err
		}
		if p.read++; p.read%l.splitKeys() == 0 {
			if err := r.split(ctx); err != nil {
				return err
			}
		}
		if rest, is := strings.CutSuffix(e.Key, SidecarSuffix); is {
			r.sidecar(rest)
			return nil
		}
		if !l.wants(s, e.Key) {
			return nil
		}

		is, err := r.compare(ctx, e, url, old)
		if is {
			sidecars = max(sidecars, e.Key+SidecarSuffix)
		}
		return err
	})
	if err != nil && err != errEnough {
		err = fmt.Errorf("list %s: %w", s.Prefix, err)
		if ours != nil || ctx.Err() != nil {
			return err
		}
		if !errors.Is(err, bucket.ErrPartial) {
			err = &Unlisted{err}
		}
		r.partial, r.gone = err, nil
	}

	if !r.more {
		if r.partial == nil {
			if err := entries.rest(p.until, s.Bucket.URL(p.until), r.missing); err != nil {
				return err
			}
		}
		if err := r.sidecarsBeyond(ctx); err != nil {
			return err
		}
	}
	if entries.err != nil && entries.err != errEnough {
		return fmt.Errorf("read ledger below %s: %w", s.Prefix, entries.err)
	}
	return nil
}

// ledgerEntries are the entries of the ledger within a span, in order of their URLs.
type ledgerEntries struct {
	have *catalog.Object // the next one; nil: there is none
	next func() (*catalog.Object, bool)
	stop func()
	err  error // of the ledger
}

// ledger begins to read the entries of the span.
func (r *spanReader) ledger(ctx context.Context) *ledgerEntries {
	s, after, until := r.l.s, "", ""
	if r.span.after != "" {
		after = s.Bucket.URL(r.span.after)
	}
	if r.span.until != "" {
		until = s.Bucket.URL(r.span.until)
	}
	e := &ledgerEntries{}
	e.next, e.stop = iter.Pull(func(yield func(*catalog.Object) bool) {
		e.err = r.l.Catalog.Ledger.Between(ctx, s.Prefix, after, until, func(o *catalog.Object) error {
			if !yield(o) {
				return errEnough
			}
			return nil
		})
	})
	e.have, _ = e.next()
	return e
}

// at returns the entry of a URL, or nil. It calls missing for each entry before.
func (e *ledgerEntries) at(url string, missing func(*catalog.Object) error) (*catalog.Object, error) {
	for e.have != nil && e.have.URL < url {
		if err := missing(e.have); err != nil {
			return nil, err
		}
		e.have, _ = e.next()
	}
	if e.have == nil || e.have.URL != url {
		return nil, nil
	}
	old := e.have
	e.have, _ = e.next()
	return old, nil
}

// rest calls missing for the entries that are left, up to the URL last unless until is "".
func (e *ledgerEntries) rest(until, last string, missing func(*catalog.Object) error) error {
	for e.have != nil && (until == "" || e.have.URL <= last) {
		if err := missing(e.have); err != nil {
			return err
		}
		e.have, _ = e.next()
	}
	return nil
}

// compare makes a task of an object that is new, or that changed since old, its entry in the ledger or nil.
func (r *spanReader) compare(ctx context.Context, e bucket.Entry, url string, old *catalog.Object) (isNew bool, err error) {
	r.seen++
	t := r.spare
	if t == nil {
		t = new(Task)
	}
	*t = Task{Source: r.l.s, Entry: e, URL: url, Ledger: old, Named: ledger.IsNamed(old)}
	r.spare = nil
	if isNew, err = r.l.isNew(ctx, t); !isNew {
		if old == nil || old.Owner == (row.WorkerID{}) { // nothing else has the task
			r.spare = t
		}
		return false, err
	}
	if old != nil && err == nil {
		err = old.Whole()
	}
	r.tasks = append(r.tasks, t)
	r.found.Add(1)
	return true, err
}

// missing notes an object of the ledger that the listing does not have.
func (r *spanReader) missing(o *catalog.Object) error {
	key := strings.TrimPrefix(o.URL, r.l.s.Prefix)
	if o.State == catalog.ObjectGone || ShardOf(key, r.l.Shards) != r.l.Shard {
		return nil
	}
	r.gone = append(r.gone, o)
	return o.Whole()
}

// sidecar notes the sidecar of a key.
func (r *spanReader) sidecar(key string) {
	for i := len(r.tasks) - 1; i >= 0 && r.tasks[i].Entry.Key >= key; i-- {
		if r.tasks[i].Entry.Key == key {
			r.tasks[i].Sidecar = true
		}
	}
}

// Unlisted is a bucket.ErrPartial: symlake could not list a source, or not to its end. The objects
// that it listed are right. If their bytes cannot be had either, they count no failed attempt.
type Unlisted struct{ error }

// Is reports whether target is bucket.ErrPartial.
func (u *Unlisted) Is(target error) bool { return target == bucket.ErrPartial }

func (u *Unlisted) Unwrap() error { return u.error }

// sidecarsBeyond asks for sidecars that would stand after the span's end.
func (r *spanReader) sidecarsBeyond(ctx context.Context) error {
	if r.span.until == "" {
		return nil
	}
	for i := len(r.tasks) - 1; i >= 0; i-- {
		t := r.tasks[i]
		if t.Entry.Key+SidecarSuffix <= r.span.until || t.Sidecar {
			if t.Entry.Key+SidecarSuffix < r.span.until {
				break
			}
			continue
		}
		if err := t.findSidecar(ctx); err != nil {
			return err
		}
	}
	return nil
}

// split gives the farther half of the rest of the span, by spelling, to an idle reader. Keys are not
// spread evenly over spellings, so a half may be empty: finding out takes a request.
func (r *spanReader) split(ctx context.Context) error {
	p := r.span
	until := p.until
	for range 6 {
		if !r.l.wantsMore() {
			return nil
		}
		mid, ok := between(p.after, until)
		if !ok {
			return nil
		}
		found := ""
		err := r.l.s.Bucket.List(ctx, "", mid, func(e bucket.Entry) error {
			found = e.Key
			return errEnough
		})
		if err != nil && err != errEnough {
			return err
		}
		if found != "" && (p.until == "" || found <= p.until) {
			r.l.give(p, mid, r.idle)
			return nil
		}
		until = mid
	}
	return nil
}
