package crew

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// LeaseTime is how long the other workers believe a worker that does not renew its lease.
	LeaseTime = 30 * time.Second
	beatTime  = 5 * time.Second
)

// ErrLost says that another worker took this one for dead.
var ErrLost = errors.New("this process's lease was taken away: it stood still for too long")

// Lease is this worker's membership of the crew: a record that it renews. A worker that removes the
// record takes its objects away. Several goroutines may use it.
type Lease struct {
	crew *Crew

	mu      sync.Mutex
	me      *catalog.Worker
	renewed time.Time
	lost    bool
}

// Join enters this worker's lease.
func (c *Crew) Join(ctx context.Context) (*Lease, error) {
	w := &catalog.Worker{ID: c.Me, Host: c.Host, Process: c.Process, Run: c.Run, Started: c.Started, Lease: LeaseTime}
	l := &Lease{crew: c, me: w, renewed: c.now()}
	if err := c.Catalog.Workers.Swap(ctx, nil, w); err != nil {
		return nil, err
	}
	return l, nil
}

// renew extends the lease. The error is ErrLost if the lease is gone; other errors may pass.
func (l *Lease) renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost {
		return ErrLost
	}
	next := *l.me
	next.Beat++
	began := l.crew.now()
	err := l.crew.Catalog.Workers.Swap(ctx, l.me, &next)
	if err == nil {
		l.me, l.renewed = &next, began
		return nil
	}

	now, rerr := l.crew.Catalog.Workers.Get(ctx, l.me.ID)
	switch {
	case rerr != nil:
		return err
	case now == nil:
		l.lost = true
		return ErrLost
	}
	l.me = now
	if now.Beat == next.Beat { // the store renewed it, and its answer was lost
		l.renewed = began
		return nil
	}
	return err
}

// Check returns an error unless the worker still has its lease. A worker calls it before it makes
// anything visible: if it stood still, its objects may belong to another one. A nil Lease passes.
func (l *Lease) Check(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	fresh := !l.lost && l.crew.now().Sub(l.renewed) < LeaseTime/3
	l.mu.Unlock()
	if fresh {
		return nil
	}
	return l.renew(ctx)
}

// Keep renews the lease until done. It calls stop with ErrLost when the lease is gone.
func (l *Lease) Keep(ctx context.Context, done <-chan struct{}, stop context.CancelCauseFunc) {
	tick := time.NewTicker(beatTime)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if err := l.renew(ctx); errors.Is(err, ErrLost) {
				stop(err)
				return
			}
		}
	}
}

// Close ends the lease. Another worker may take the objects that this one still has at once.
func (l *Lease) Close(ctx context.Context) {
	ctx, cancel := ledger.Detached(ctx)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
	// The next run finds and removes a lease that stays after an error.
	_ = l.crew.Catalog.Workers.Swap(ctx, l.me, nil)
}
