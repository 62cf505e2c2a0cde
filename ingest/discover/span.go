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
	seen    int
	more    bool
	partial error // the listing ended early, so that a missing object proves nothing
}

// read compares a span with the ledger: a merge of two ordered streams.
func (r *spanReader) read(ctx context.Context) error {
	l, s, p := r.l, r.l.s, r.span
	from := p.after
	var ledgerErr error
	next, stop := iter.Pull(func(yield func(*catalog.Object) bool) {
		after, until := "", ""
		if from != "" {
			after = s.Bucket.URL(from)
		}
		if p.until != "" {
			until = s.Bucket.URL(p.until)
		}
		ledgerErr = l.Catalog.Ledger.Between(ctx, s.Prefix, after, until, func(o *catalog.Object) error {
			if !yield(o) {
				return errEnough
			}
			return nil
		})
	})
	defer stop()
	have, ok := next()

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
		for ; ok && have.URL < url; have, ok = next() {
			if err := r.missing(have); err != nil {
				return err
			}
		}
		var old *catalog.Object
		if ok && have.URL == url {
			old = have
			have, ok = next()
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

		r.seen++
		t := &Task{Source: s, Entry: e, URL: url, Ledger: old, Named: ledger.IsNamed(old)}
		is, err := l.isNew(ctx, t)
		if is && old != nil && err == nil {
			err = old.Whole()
		}
		if is {
			sidecars = max(sidecars, e.Key+SidecarSuffix)
			r.tasks = append(r.tasks, t)
			r.found.Add(1)
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
		for ; r.partial == nil && ok && (p.until == "" || have.URL <= s.Bucket.URL(p.until)); have, ok = next() {
			if err := r.missing(have); err != nil {
				return err
			}
		}
		if err := r.sidecarsBeyond(ctx); err != nil {
			return err
		}
	}
	if ledgerErr != nil && ledgerErr != errEnough {
		return fmt.Errorf("read ledger below %s: %w", s.Prefix, ledgerErr)
	}
	return nil
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
