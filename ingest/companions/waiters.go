package companions

import (
	"context"
	"errors"
	"sync"

	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
)

// A list of all waiters costs less than a look-up for each key if it has at most listedFirst waiters, and
// listedEach more for each key.
const (
	listedFirst = 64
	listedEach  = 16
)

// waiters finds the waiters of keys for goroutines that work side by side: they share lists of all waiters. The
// zero waiters are ready for use.
type waiters struct {
	mu    sync.Mutex
	next  *waiterList // that begins when the list under way has ended; nil: no caller needs one yet
	under bool        // a list is under way
}

// waiterList is one list of all waiters, for the keys of many callers.
type waiterList struct {
	keys  map[string]bool
	begin chan struct{} // its first caller makes the list when this is closed
	done  chan struct{}

	found map[string][]Wait // by key
	many  bool              // too many to list
	err   error
}

var errMany = errors.New("more waiters than are worth a list")

// find returns the waiters of keys. The list that it reads begins after the call.
func (w *waiters) find(ctx context.Context, c *catalog.Catalog, keys []string) ([]Wait, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	w.mu.Lock()
	l, first := w.next, w.next == nil
	if first {
		l = &waiterList{keys: make(map[string]bool), begin: make(chan struct{}), done: make(chan struct{})}
		if w.next = l; !w.under {
			close(l.begin)
			w.under = true
		}
	}
	for _, key := range keys {
		l.keys[key] = true
	}
	w.mu.Unlock()
	if first {
		<-l.begin
		w.list(ctx, c, l)
	}
	<-l.done

	if l.err == nil && !l.many {
		var all []Wait
		for _, key := range keys {
			all = append(all, l.found[key]...)
		}
		return all, nil
	}
	// The list's error may be of its caller's context.
	each := make([][]Wait, len(keys))
	errs := make([]error, len(keys))
	parallel.Do(len(keys), func(i int) {
		var some []catalog.Waiter
		some, errs[i] = c.Waiters.For(ctx, keys[i])
		for _, x := range some {
			each[i] = append(each[i], Wait{keys[i], x})
		}
	})
	var all []Wait
	for _, some := range each {
		all = append(all, some...)
	}
	return all, errors.Join(errs...)
}

// list makes a list, then lets the next one begin.
func (w *waiters) list(ctx context.Context, c *catalog.Catalog, l *waiterList) {
	w.mu.Lock()
	w.next = nil // later callers need a later list
	most := listedFirst + listedEach*len(l.keys)
	w.mu.Unlock()

	l.found = make(map[string][]Wait)
	l.err = c.Waiters.Each(ctx, func(companion string, x catalog.Waiter) error {
		if most--; most < 0 {
			return errMany
		}
		if l.keys[companion] {
			l.found[companion] = append(l.found[companion], Wait{companion, x})
		}
		return nil
	})
	if errors.Is(l.err, errMany) {
		l.many, l.err = true, nil
	}
	close(l.done)

	w.mu.Lock()
	defer w.mu.Unlock()
	if w.under = w.next != nil; w.under {
		close(w.next.begin)
	}
}
