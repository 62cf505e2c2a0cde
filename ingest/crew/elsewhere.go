package crew

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
)

// maxElsewhere bounds the objects of other workers that a run looks at again at its end.
const maxElsewhere = 1 << 16

// errEnough ends a look at the ledger.
var errEnough = errors.New("enough")

// Elsewhere notes an object that another worker has.
func (c *Crew) Elsewhere(t *discover.Task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elsewhere++
	if len(c.tasks) < maxElsewhere {
		c.tasks = append(c.tasks, t)
	}
}

// CountElsewhere returns how many objects other workers have.
func (c *Crew) CountElsewhere() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elsewhere
}

// PassOver leaves out the tasks, of the first n, that other workers have begun since the listing. One
// look at that stretch of the ledger is cheaper than n swaps that fail.
func (c *Crew) PassOver(ctx context.Context, tasks []*discover.Task, n int) ([]*discover.Task, error) {
	n = min(n, len(tasks))
	window := tasks[:n]
	if n < 2 || !slices.IsSortedFunc(window, func(a, b *discover.Task) int { return strings.Compare(a.URL, b.URL) }) {
		return tasks, nil
	}
	now := make(map[string]*catalog.Object, n)
	looks := 4 * n // old entries may lie between new ones
	err := c.Catalog.Ledger.From(ctx, window[0].URL, func(o *catalog.Object) error {
		if looks--; looks < 0 || o.URL > window[n-1].URL {
			return errEnough
		}
		now[o.URL] = o
		return nil
	})
	if err != nil && err != errEnough {
		return tasks, fmt.Errorf("read ledger: %w", err)
	}

	var free []*discover.Task
	for _, t := range window {
		if o := now[t.URL]; o != nil && (t.Ledger == nil || o.State != t.Ledger.State || !o.Last.Equal(t.Ledger.Last)) {
			c.Elsewhere(t)
		} else {
			free = append(free, t)
		}
	}
	return append(free, tasks[n:]...), nil
}

// takeTasks returns the objects of other workers, and counts them no longer.
func (c *Crew) takeTasks() []*discover.Task {
	c.mu.Lock()
	defer c.mu.Unlock()
	tasks := c.tasks
	c.tasks = nil
	c.elsewhere -= len(tasks)
	return tasks
}

func (c *Crew) countBack(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elsewhere += n
}

// TakeOver looks again at the objects of other workers, and gives the objects of dead workers to take.
// If it cannot tell yet whether a worker lives, it waits, no longer than a lease.
func (c *Crew) TakeOver(ctx context.Context, late func() bool, take discover.Take) error {
	for {
		tasks := c.takeTasks()
		if len(tasks) == 0 || late() || c.DryRun || ctx.Err() != nil {
			c.countBack(len(tasks))
			return nil
		}
		states := make([]*catalog.Object, len(tasks))
		errs := make([]error, len(tasks))
		parallel.Do(len(tasks), func(i int) { states[i], errs[i] = c.Catalog.Ledger.Get(ctx, tasks[i].URL) })

		left := &discover.Round{}
		unsure := false
		for i, t := range tasks {
			if errs[i] != nil {
				return errs[i]
			}
			now := states[i]
			if now == nil || now.State != catalog.ObjectLoading && now.State != catalog.ObjectPublished {
				continue // the other worker finished it, or the next run takes it
			}
			s, err := c.Judge(ctx, now.Owner)
			if err != nil {
				return err
			}
			switch {
			case !s.Alive:
				*t = discover.Task{Source: t.Source, Entry: t.Entry, Sidecar: t.Sidecar, URL: t.URL, Ledger: now, Named: ledger.IsNamed(now), Suspect: now.State == catalog.ObjectLoading}
				left.Tasks = append(left.Tasks, t)
			case s.Beats:
				c.countBack(1)
			default:
				unsure = true
				c.Elsewhere(t)
			}
		}
		left.Part()
		if err := take(ctx, left); err != nil {
			return err
		}
		if !unsure {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(JudgeAge):
		}
	}
}
