// Package crew tells a worker about the other workers that ingest into the same store.
//
// Each worker is a process with a lease: a record that it renews every 5 seconds. If a worker stands
// still for 30 seconds, another one ends its lease and takes its objects over. Clocks of hosts are
// not compared: a lease is over when another worker saw it unchanged for that time.
package crew

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// JudgeAge is how long a judgement about another worker is kept.
const JudgeAge = time.Second

// maxSightings bounds the workers that a crew remembers.
const maxSightings = 1 << 16

// Crew is the workers of one store, as this worker sees them. Several goroutines may use it.
type Crew struct {
	Catalog *catalog.Catalog
	Me      row.WorkerID
	// Host and Process stand in this worker's lease: other workers' Running judges by them.
	Host, Process string
	Run           string
	Started       time.Time
	DryRun        bool // nothing is written
	// Running tells whether a process still runs, if this host can know. Otherwise the lease alone
	// decides (nil: always).
	Running func(host, process string) (alive, known bool)
	// Clock is this host's clock (nil: time.Now).
	Clock func() time.Time

	others atomic.Bool // other workers are at work

	judging sync.Mutex // one judgement at a time: it asks the store
	seen    map[row.WorkerID]*sighting

	mu        sync.Mutex
	tasks     []*discover.Task // objects of other workers to look at again
	elsewhere int              // objects of other workers
}

func (c *Crew) now() time.Time {
	if c.Clock == nil {
		return time.Now()
	}
	return c.Clock()
}

// Sighting tells whether a worker lives.
type Sighting struct {
	Alive bool
	Beats bool // this worker saw it renew its lease, or knows its process
}

// sighting is a Sighting and what it is based on.
type sighting struct {
	Sighting
	beat   uint64
	since  time.Time // the beat has not changed since
	judged time.Time
}

// Others reports whether other workers are at work, as far as this one has noticed.
func (c *Crew) Others() bool { return c.others.Load() }

// NoteOthers notes that other workers are at work.
func (c *Crew) NoteOthers() { c.others.Store(true) }

// Look finds out which other workers are at work. It ends the leases of dead ones.
func (c *Crew) Look(ctx context.Context) error {
	var ids []row.WorkerID
	err := c.Catalog.Workers.Each(ctx, func(w *catalog.Worker) error {
		if w.ID != c.Me {
			ids = append(ids, w.ID)
		}
		return nil
	})
	for _, id := range ids {
		if err != nil {
			break
		}
		var s Sighting
		if s, err = c.Judge(ctx, id); s.Alive {
			c.NoteOthers()
		}
	}
	return err
}

// Alive reports whether a worker lives. A dead one loses its lease for good.
func (c *Crew) Alive(ctx context.Context, id row.WorkerID) (bool, error) {
	s, err := c.Judge(ctx, id)
	return s.Alive && err == nil, err
}

// Judge tells whether a worker lives. A dead one loses its lease for good.
func (c *Crew) Judge(ctx context.Context, id row.WorkerID) (Sighting, error) {
	if id == (row.WorkerID{}) || id == c.Me {
		return Sighting{Alive: id == c.Me}, nil
	}
	c.judging.Lock()
	defer c.judging.Unlock()
	s := c.seen[id]
	if s != nil && (!s.Alive || c.now().Sub(s.judged) < JudgeAge) {
		return s.Sighting, nil
	}
	w, err := c.Catalog.Workers.Get(ctx, id)
	if err != nil {
		return Sighting{}, err
	}

	now := c.now()
	if s == nil {
		s = &sighting{since: now}
		if w != nil {
			s.beat = w.Beat
		}
		if c.seen == nil || len(c.seen) > maxSightings {
			c.seen = make(map[row.WorkerID]*sighting)
		}
		c.seen[id] = s
	}
	s.judged = now
	if w == nil {
		s.Alive = false
		return s.Sighting, nil
	}
	if w.Beat != s.beat {
		s.beat, s.since, s.Beats = w.Beat, now, true
	}
	s.Alive = now.Sub(s.since) <= w.Lease
	if c.Running != nil {
		if alive, known := c.Running(w.Host, w.Process); known {
			s.Alive, s.Beats = alive, true
		}
	}
	if s.Alive || c.DryRun {
		return s.Sighting, nil
	}

	switch err := c.Catalog.Workers.Swap(ctx, w, nil); {
	case errors.Is(err, sinks.ErrConflict):
		// It renewed its lease, or a third worker was faster: the next call looks again.
		s.Alive, s.since, s.judged = true, now, time.Time{}
	case err != nil:
		return Sighting{}, fmt.Errorf("end the lease of worker %s, which died: %w", id, err)
	}
	return s.Sighting, nil
}
