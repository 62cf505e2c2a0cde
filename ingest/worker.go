package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// workerLease is how long a process is believed that does not renew its lease.
	workerLease = 30 * time.Second
	workerBeat  = 5 * time.Second
	// judgeAge is how long a judgement about another process is kept.
	judgeAge = time.Second
)

// errLease: another process took this one for dead.
var errLease = errors.New("this process's lease was taken away: it stood still for too long")

// lease is this process's standing among those that ingest into the store: a
// record that it renews and whose removal by others takes its objects away.
// Clocks of hosts are not compared: a lease is over when it was seen unchanged for its time.
type lease struct {
	cat *catalog.Catalog

	mu      sync.Mutex
	me      *catalog.Worker
	renewed time.Time
	lost    bool
}

func (j *job) openLease(ctx context.Context) (*lease, error) {
	w := &catalog.Worker{ID: j.worker, Host: j.o.Host, Process: j.o.Process, Run: j.o.Run, Started: j.o.Now(), Lease: workerLease}
	l := &lease{cat: j.cat, me: w, renewed: time.Now()}
	if err := j.cat.Workers.Swap(ctx, nil, w); err != nil {
		return nil, err
	}
	return l, nil
}

// renew extends the lease; errLease when it was taken away. Other errors may pass.
func (l *lease) renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost {
		return errLease
	}
	next := *l.me
	next.Beat++
	began := time.Now()
	err := l.cat.Workers.Swap(ctx, l.me, &next)
	if err == nil {
		l.me, l.renewed = &next, began
		return nil
	}
	now, rerr := l.cat.Workers.Get(ctx, l.me.ID)
	switch {
	case rerr != nil:
		return err
	case now == nil:
		l.lost = true
		return errLease
	}
	l.me = now
	if now.Beat == next.Beat { // the answer was lost
		l.renewed = began
		return nil
	}
	return err
}

// check is called before something becomes visible: a process that stood still may have lost what it holds.
func (l *lease) check(ctx context.Context) error {
	l.mu.Lock()
	fresh := !l.lost && time.Since(l.renewed) < workerLease/3
	l.mu.Unlock()
	if fresh {
		return nil
	}
	return l.renew(ctx)
}

// keep renews until done, and stops the run when the lease is lost.
func (l *lease) keep(ctx context.Context, done <-chan struct{}, stop context.CancelCauseFunc) {
	tick := time.NewTicker(workerBeat)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if err := l.renew(ctx); errors.Is(err, errLease) {
				stop(err)
				return
			}
		}
	}
}

// close ends the lease. What it still holds is anybody's at once.
func (l *lease) close(ctx context.Context) {
	ctx, cancel := ledger.Detached(ctx)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
	// What goes wrong here is found and removed by the next run.
	_ = l.cat.Workers.Swap(ctx, l.me, nil)
}

// peers are the other processes, as this one sees them.
type peers struct {
	mu   sync.Mutex
	seen map[row.WorkerID]*sighting
}

// sighting is what is known of a process.
type sighting struct {
	beat   uint64
	since  time.Time // it has not changed
	judged time.Time
	alive  bool
	beats  bool // it was seen to renew
}

// alive reports whether another process is to be believed. One that is not loses its lease for good.
func (j *job) alive(ctx context.Context, id row.WorkerID) (bool, error) {
	s, err := j.judge(ctx, id)
	if err != nil {
		return false, err
	}
	return s.alive, nil
}

func (j *job) judge(ctx context.Context, id row.WorkerID) (sighting, error) {
	if id == (row.WorkerID{}) || id == j.worker {
		return sighting{alive: id == j.worker}, nil
	}
	p := &j.peers
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seen[id]
	if s != nil && (!s.alive || time.Since(s.judged) < judgeAge) {
		return *s, nil
	}
	w, err := j.cat.Workers.Get(ctx, id)
	if err != nil {
		return sighting{}, err
	}
	now := time.Now()
	if s == nil {
		if len(p.seen) > 1<<16 {
			clear(p.seen)
		}
		s = &sighting{since: now}
		if w != nil {
			s.beat = w.Beat
		}
		p.seen[id] = s
	}
	s.judged = now
	if w == nil {
		s.alive = false
		return *s, nil
	}
	if w.Beat != s.beat {
		s.beat, s.since, s.beats = w.Beat, now, true
	}
	s.alive = now.Sub(s.since) <= w.Lease
	if j.o.Alive != nil {
		if alive, known := j.o.Alive(w.Host, w.Process); known {
			s.alive, s.beats = alive, true
		}
	}
	if s.alive || j.o.DryRun {
		return *s, nil
	}
	switch err := j.cat.Workers.Swap(ctx, w, nil); {
	case errors.Is(err, sinks.ErrConflict):
		s.alive, s.since, s.judged = true, now, time.Time{} // it renewed, or somebody else was faster: look again
	case err != nil:
		return sighting{}, fmt.Errorf("end the lease of worker %s, which died: %w", id, err)
	}
	return *s, nil
}

// company looks who else is at work, and ends the leases of those that are known to be dead.
func (j *job) company(ctx context.Context) error {
	var ids []row.WorkerID
	err := j.cat.Workers.Each(ctx, func(w *catalog.Worker) error {
		if w.ID != j.worker {
			ids = append(ids, w.ID)
		}
		return nil
	})
	for _, id := range ids {
		if err != nil {
			break
		}
		var s sighting
		if s, err = j.judge(ctx, id); s.alive {
			j.others.Store(true)
		}
	}
	return err
}
