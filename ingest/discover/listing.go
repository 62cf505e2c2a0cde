package discover

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/sinks/bucket"
)

const (
	// listers is how many spans of a remote listing are read at once.
	listers = 4
	// splitKeys is how many keys of a span are read before part of it is given away: finding out
	// the rest of a few pages is not worth a request.
	splitKeys = 4000
)

// listing walks over a source's keys: spans in no order of each other. Several goroutines read
// spans at once, and compare them with the ledger.
type listing struct {
	*Lister
	s     *CheckedSource
	whole bool // the spans cover everything that the source may hold

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

// newListing begins at the front of a source, or of the days and prefixes of it that are wanted.
func (l *Lister) newListing(ctx context.Context, s *CheckedSource) (*listing, error) {
	w := &listing{Lister: l, s: s}
	prefixes, err := l.prefixes(ctx, s)
	if err != nil {
		return nil, err
	}
	if w.whole = prefixes == nil; w.whole {
		w.todo = []*span{{}}
	}
	for _, p := range prefixes {
		// The span leaves out a key that equals the prefix: it is no object worth another page.
		w.todo = append(w.todo, &span{after: p, until: p + "\U0010ffff"})
	}
	return w, nil
}

// next compares the listing with the ledger until a round is full.
func (l *listing) next(ctx context.Context) (*Round, error) {
	if l.s.Key != "" {
		return l.listOne(ctx, l.s)
	}
	n := 1
	if _, remote := l.s.Bucket.(bucket.Fetcher); remote {
		n = listers
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	r := &Round{}
	l.stop = false
	var found atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	idle := sync.NewCond(&l.mu)
	for range n {
		wg.Go(func() {
			for {
				p := l.claim(idle)
				if p == nil {
					return
				}
				reader := &spanReader{l: l, span: p, found: &found, idle: idle}
				err := reader.read(ctx)
				mu.Lock()
				r.Tasks = append(r.Tasks, reader.tasks...)
				r.Gone = append(r.Gone, reader.gone...)
				r.partial = errors.Join(r.partial, reader.partial)
				r.Seen += reader.seen
				mu.Unlock()
				l.giveBack(p, !reader.more, idle)
				if err != nil {
					stop(err)
					l.full(idle)
				}
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r.more = len(l.todo) > 0
	slices.SortFunc(r.Tasks, func(a, b *Task) int { return strings.Compare(a.URL, b.URL) })
	r.Part()
	return r, nil
}

// claim returns a span to read. It waits while other readers may give part of their spans away.
// nil: there is none.
func (l *listing) claim(idle *sync.Cond) *span {
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

// giveBack ends the reading of a span. The next round reads the rest of a span that has not ended.
func (l *listing) giveBack(p *span, ended bool, idle *sync.Cond) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = slices.DeleteFunc(l.busy, func(b *span) bool { return b == p })
	if !ended {
		l.todo = append(l.todo, p)
	}
	idle.Broadcast()
}

// full stops all readers: the round is full, or an error came.
func (l *listing) full(idle *sync.Cond) {
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

// give adds the end of a span that is being read, from mid on, to the spans to read.
func (l *listing) give(p *span, mid string, idle *sync.Cond) {
	l.mu.Lock()
	l.todo = append(l.todo, &span{after: mid, until: p.until})
	p.until = mid
	l.mu.Unlock()
	idle.Broadcast()
}

// between returns a key well between two, in ASCII after their common front; "" is the end.
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
