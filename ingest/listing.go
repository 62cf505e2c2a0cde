package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// listers is how many pieces of a remote listing are read at once.
	listers = 4
	// splitKeys is how many keys of a piece are read before part of the rest is given away: a listing of a few pages
	// is not worth a request to find out.
	splitKeys = 4000
)

// listing is a walk over a source's keys: spans in no order of each other, each compared
// with the ledger as it is read, several at once.
type listing struct {
	j     *job
	s     *source
	whole bool // everything that the source may hold

	mu   sync.Mutex
	todo []*span // neither ended nor being read
	busy []*span
	stop bool // the round is full
}

// span is the keys (after, until]; until "" is the end.
type span struct {
	after, until string
	read         int // keys since it was cut
}

// round is a piece of a source's listing, compared with the ledger.
type round struct {
	tasks, suspects []*task
	gone            []*catalog.Object
	more            bool
	partial         error // wraps bucket.ErrPartial; nil: nothing is missing
}

var errStop = errors.New("stop")

// newListing begins at the front of a source, or of the days and prefixes of it that are wanted.
func (j *job) newListing(ctx context.Context, s *source) (*listing, error) {
	l := &listing{j: j, s: s}
	prefixes, err := j.Each(ctx, s)
	if err != nil {
		return nil, err
	}
	if l.whole = prefixes == nil; l.whole {
		l.todo = []*span{{}}
	}
	for _, p := range prefixes {
		// A key that is the prefix itself is no object worth a page of others.
		l.todo = append(l.todo, &span{after: p, until: p + "\U0010ffff"})
	}
	return l, nil
}

// next compares the listing with the ledger until enough is new.
func (l *listing) next(ctx context.Context) (*round, error) {
	j := l.j
	if l.s.Key != "" {
		return j.listOne(ctx, l.s)
	}
	n := 1
	if _, remote := l.s.Bucket.(bucket.Fetcher); remote {
		n = listers
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &round{}
	l.stop = false
	var found atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := 0
	idle := sync.NewCond(&l.mu)
	for range n {
		wg.Go(func() {
			for {
				p := l.take(idle)
				if p == nil {
					return
				}
				piece := &piece{l: l, p: p, found: &found, idle: idle}
				err := piece.read(ctx)
				mu.Lock()
				r.tasks = append(r.tasks, piece.tasks...)
				r.gone = append(r.gone, piece.gone...)
				r.partial = errors.Join(r.partial, piece.partial)
				seen += piece.seen
				mu.Unlock()
				l.give(p, !piece.more, idle)
				if err != nil {
					stop(err)
					l.end(idle)
				}
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r.more = len(l.todo) > 0
	slices.SortFunc(r.tasks, func(a, b *task) int { return strings.Compare(a.url, b.url) })
	j.report.Objects.Seen += seen
	r.part()
	return r, nil
}

// take gives a span to read, waiting for one while others may still part with some; nil: there is none.
func (l *listing) take(idle *sync.Cond) *span {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if l.stop || len(l.todo) == 0 && len(l.busy) == 0 {
			return nil
		}
		if n := len(l.todo); n > 0 {
			p := l.todo[0]
			l.todo = l.todo[1:]
			l.busy = append(l.busy, p)
			return p
		}
		idle.Wait()
	}
}

// give ends the reading of a span; what is left of it is for the next round.
func (l *listing) give(p *span, ended bool, idle *sync.Cond) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = slices.DeleteFunc(l.busy, func(b *span) bool { return b == p })
	if !ended {
		l.todo = append(l.todo, p)
	}
	idle.Broadcast()
}

// end makes everybody stop: the round is full, or an error came.
func (l *listing) end(idle *sync.Cond) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop = true
	idle.Broadcast()
}

// wantsMore reports whether a reader waits for a span.
func (l *listing) wantsMore() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, remote := l.s.Bucket.(bucket.Fetcher)
	return remote && !l.stop && len(l.todo) == 0 && len(l.busy) < listers
}

// piece is a span being read.
type piece struct {
	l     *listing
	p     *span
	found *atomic.Int64
	idle  *sync.Cond

	tasks []*task
	gone  []*catalog.Object
	seen  int
	more  bool
	// partial: what is missing may only not have been listed.
	partial error
}

// read compares a span with the ledger: a merge of two ordered streams.
func (x *piece) read(ctx context.Context) error {
	j, s, p := x.l.j, x.l.s, x.p
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
		ledgerErr = j.cat.ObjectsBetween(ctx, s.prefix, after, until, func(o *catalog.Object) error {
			if !yield(o) {
				return errStop
			}
			return nil
		})
	})
	defer stop()
	have, ok := next()
	missing := func(o *catalog.Object) error {
		key := strings.TrimPrefix(o.URL, s.prefix)
		if o.State == catalog.ObjectGone || ShardOf(key, j.o.Shards) != j.o.Shard {
			return nil
		}
		x.gone = append(x.gone, o)
		return o.Whole()
	}
	var ours error // what the listing is not to blame for
	sidecars := "" // none of the tasks so far has one after this key
	last := ""
	err := s.Bucket.List(ctx, "", from, func(e bucket.Entry) (err error) {
		defer func() { ours = err }()
		if p.until != "" && e.Key > p.until {
			return errStop
		}
		if e.Key <= last {
			return fmt.Errorf("%s after %s: not in order", e.Key, last)
		}
		if int(x.found.Load()) >= j.perRound && e.Key > sidecars {
			x.more = true
			x.l.end(x.idle)
			return errStop
		}
		p.after, last = e.Key, e.Key
		url := s.Bucket.URL(e.Key)
		for ; ok && have.URL < url; have, ok = next() {
			if err := missing(have); err != nil {
				return err
			}
		}
		var old *catalog.Object
		if ok && have.URL == url {
			old = have
			have, ok = next()
		}
		if p.read++; p.read%j.perSplit == 0 {
			if err := x.part(ctx); err != nil {
				return err
			}
		}
		if rest, is := strings.CutSuffix(e.Key, sidecar); is {
			for i := len(x.tasks) - 1; i >= 0 && x.tasks[i].entry.Key >= rest; i-- {
				if x.tasks[i].entry.Key == rest {
					x.tasks[i].sidecar = true
				}
			}
			return nil
		}
		if !j.wants(s, e.Key) {
			return nil
		}
		x.seen++
		t := &task{src: s, entry: e, url: url, old: old, IsNamed: ledger.IsNamed(old)}
		is, err := j.isNew(ctx, t)
		if is && old != nil && err == nil {
			err = old.Whole()
		}
		if is {
			sidecars = max(sidecars, e.Key+sidecar)
			x.tasks = append(x.tasks, t)
			x.found.Add(1)
		}
		return err
	})
	if err != nil && err != errStop {
		err = fmt.Errorf("list %s: %w", s.prefix, err)
		if ours != nil || ctx.Err() != nil {
			return err
		}
		if !errors.Is(err, bucket.ErrPartial) {
			err = &unlisted{err}
		}
		x.partial, x.gone = err, nil
	}
	if !x.more {
		for ; x.partial == nil && ok && (p.until == "" || have.URL <= s.Bucket.URL(p.until)); have, ok = next() {
			if err := missing(have); err != nil {
				return err
			}
		}
		if err := x.beyond(ctx); err != nil {
			return err
		}
	}
	if ledgerErr != nil && ledgerErr != errStop {
		return fmt.Errorf("read ledger below %s: %w", s.prefix, ledgerErr)
	}
	return nil
}

// unlisted is bucket.ErrPartial: a source that could not be listed, or not to its end. What was listed of it is right; that
// its objects cannot be read, or another's on the same server, is not held against them.
type unlisted struct{ error }

func (u *unlisted) Is(target error) bool { return target == bucket.ErrPartial }

func (u *unlisted) Unwrap() error { return u.error }

// beyond asks for sidecars that would stand after the span's end.
func (x *piece) beyond(ctx context.Context) error {
	if x.p.until == "" {
		return nil
	}
	for i := len(x.tasks) - 1; i >= 0; i-- {
		t := x.tasks[i]
		if t.entry.Key+sidecar <= x.p.until || t.sidecar {
			if t.entry.Key+sidecar < x.p.until {
				break
			}
			continue
		}
		_, _, err := x.l.s.Bucket.Stat(ctx, t.entry.Key+sidecar)
		if err != nil && !errors.Is(err, bucket.ErrNotFound) {
			return err
		}
		t.sidecar = err == nil
	}
	return nil
}

// part gives the farther half of what is left of the span, by spelling, to a reader that has nothing to
// do. Keys are not spread evenly over spellings, so a half may be empty: that takes a request to find out.
func (x *piece) part(ctx context.Context) error {
	p := x.p
	until := p.until
	for range 6 {
		if !x.l.wantsMore() {
			return nil
		}
		mid, ok := between(p.after, until)
		if !ok {
			return nil
		}
		found := ""
		err := x.l.s.Bucket.List(ctx, "", mid, func(e bucket.Entry) error {
			found = e.Key
			return errStop
		})
		if err != nil && err != errStop {
			return err
		}
		if found != "" && (p.until == "" || found <= p.until) {
			x.l.mu.Lock()
			x.l.todo = append(x.l.todo, &span{after: mid, until: p.until})
			p.until = mid
			x.l.mu.Unlock()
			x.idle.Broadcast()
			return nil
		}
		until = mid
	}
	return nil
}

// between gives a key well between two, in ASCII after what they have in common; "" is the end.
func between(after, until string) (string, bool) {
	n := 0
	for n < len(after) && n < len(until) && after[n] == until[n] {
		n++
	}
	low, high := byte(' '), byte('~'+1)
	if n < len(after) {
		low = after[n]
	}
	if until != "" && n < len(until) {
		high = until[n]
	}
	for n < len(after) && low < '~'+1 && high <= '~'+1 {
		if high > low+1 {
			mid := after[:n] + string(rune(low+(high-low)/2))
			return mid, mid > after && (until == "" || mid < until) && isASCII(mid)
		}
		n++
		low, high = ' ', '~'+1
		if n < len(after) {
			low = after[n]
		}
	}
	return "", false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
