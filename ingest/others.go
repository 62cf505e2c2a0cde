package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
)

// elsewhere notes an object that another process has.
func (j *job) elsewhere(t *discover.Task) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.report.Objects.Elsewhere++
	if len(j.theirs) < maxTheirs {
		j.theirs = append(j.theirs, t)
	}
}

// passOver leaves out of the first n tasks what other processes have taken since they were listed: one look at that
// stretch of the ledger is cheaper than as many swaps that come to nothing.
func (j *job) passOver(ctx context.Context, tasks []*discover.Task, n int) ([]*discover.Task, error) {
	n = min(n, len(tasks))
	window := tasks[:n]
	if n < 2 || !slices.IsSortedFunc(window, func(a, b *discover.Task) int { return strings.Compare(a.URL, b.URL) }) {
		return tasks, nil
	}
	now := make(map[string]*catalog.Object, n)
	looks := 4 * n // old entries may lie between new ones
	err := j.cat.Ledger.From(ctx, window[0].URL, func(o *catalog.Object) error {
		if looks--; looks < 0 || o.URL > window[n-1].URL {
			return errStop
		}
		now[o.URL] = o
		return nil
	})
	if err != nil && err != errStop {
		return tasks, fmt.Errorf("read ledger: %w", err)
	}
	var free []*discover.Task
	for _, t := range window {
		if o := now[t.URL]; o != nil && (t.Ledger == nil || o.State != t.Ledger.State || !o.Last.Equal(t.Ledger.Last)) {
			j.elsewhere(t)
		} else {
			free = append(free, t)
		}
	}
	return append(free, tasks[n:]...), nil
}

// takeOver looks again at what other processes had, and takes what they left. It waits for those of which
// it does not know yet whether they live: no longer than their lease.
func (j *job) takeOver(ctx context.Context) error {
	for {
		j.mu.Lock()
		theirs := j.theirs
		j.theirs = nil
		j.report.Objects.Elsewhere -= len(theirs)
		j.mu.Unlock()
		if len(theirs) == 0 || j.late() || j.o.DryRun || ctx.Err() != nil {
			j.mu.Lock()
			j.report.Objects.Elsewhere += len(theirs)
			j.mu.Unlock()
			return nil
		}
		left := &discover.Round{}
		unsure := false
		states := make([]*catalog.Object, len(theirs))
		errs := make([]error, len(theirs))
		parallel.Do(len(theirs), func(i int) { states[i], errs[i] = j.cat.Ledger.Get(ctx, theirs[i].URL) })
		for i, t := range theirs {
			if errs[i] != nil {
				return errs[i]
			}
			now := states[i]
			if now == nil || now.State != catalog.ObjectLoading && now.State != catalog.ObjectPublished {
				continue // settled, or for the next run
			}
			s, err := j.judge(ctx, now.Owner)
			if err != nil {
				return err
			}
			switch {
			case !s.alive:
				*t = discover.Task{Source: t.Source, Entry: t.Entry, Sidecar: t.Sidecar, URL: t.URL, Ledger: now, Named: ledger.IsNamed(now), Suspect: now.State == catalog.ObjectLoading}
				left.Tasks = append(left.Tasks, t)
			case s.beats:
				j.mu.Lock()
				j.report.Objects.Elsewhere++
				j.mu.Unlock()
			default:
				unsure = true
				j.elsewhere(t)
			}
		}
		left.Part()
		if err := j.round(ctx, left); err != nil {
			return err
		}
		if !unsure {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(judgeAge):
		}
	}
}

// doubtful takes objects that were open when a process died, each alone with nothing else unfinished, so that the
// next death has one culprit. One that was there too often gets a process of its own.
func (j *job) doubtful(ctx context.Context, suspects []*discover.Task) error {
	for _, t := range suspects {
		if t.Ledger.Interrupted+1 >= maxInterrupted && !j.o.Isolated {
			if err := j.isolate(ctx, t); err != nil {
				return err
			}
			continue
		}
		if err := j.work(ctx, []*discover.Task{t}, 1); err != nil {
			return err
		}
	}
	return nil
}
