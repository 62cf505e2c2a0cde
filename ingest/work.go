package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
)

const (
	// A run notes the attempts at noteObjects objects together, if they have noteBytes at most.
	noteObjects = 32
	noteBytes   = 64 << 20
)

// work reads the objects of tasks, several at once, until all of them are published.
func (j *job) work(ctx context.Context, tasks []*discover.Task, workers int) error {
	if j.crew.Others() && len(tasks) > 1 { // each worker begins at another object
		at := int(binary.BigEndian.Uint64(j.o.Worker[:]) % uint64(len(tasks)))
		tasks = append(slices.Clone(tasks[at:]), tasks[:at]...)
	}
	if len(tasks) > 0 {
		if err := j.openAccount(ctx); err != nil {
			return err
		}
	}
	if len(tasks) > 0 && j.o.Taking != nil {
		j.taking.Do(j.o.Taking)
	}
	queue := make(chan *discover.Task)
	var wg sync.WaitGroup
	for range min(workers, len(tasks)) {
		wg.Go(func() {
			for t := range queue {
				if t.Owed == nil {
					t.Owed = j.owed[t.URL]
				}
				j.builder.Build(ctx, t)
			}
		})
	}
	rest, err := j.feed(ctx, tasks, queue)
	close(queue)
	wg.Wait()
	j.publisher.Flush(ctx)
	if len(tasks) > 0 && tasks[0].Suspect {
		j.publisher.NotePublished(ctx, 0) // the next object may kill this process, too
	}
	err = errors.Join(err, j.leaveAll(ctx, rest))
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// leaveAll notes the objects that the run did not get to. If the run was asked to stop, it notes only
// objects with a noted attempt.
func (j *job) leaveAll(ctx context.Context, rest []*discover.Task) error {
	j.tally.Write(func(r *report.Report) { r.Objects.Pending += len(rest) })
	if j.o.DryRun {
		return nil
	}
	if ctx.Err() != nil {
		rest = slices.DeleteFunc(rest, func(t *discover.Task) bool { return !t.Begun })
		var cancel context.CancelFunc
		ctx, cancel = ledger.Detached(ctx)
		defer cancel()
	}
	return parallel.Each(rest, func(t *discover.Task) error { return j.journal.Leave(ctx, t) })
}

// feed notes attempts, and gives tasks to the workers. It returns the tasks that limit or deadline left
// over.
func (j *job) feed(ctx context.Context, tasks []*discover.Task, queue chan<- *discover.Task) (rest []*discover.Task, err error) {
	for len(tasks) > 0 {
		n, size := 0, int64(0)
		most := noteObjects
		if j.crew.Others() {
			// Objects that this worker has not noted are free for the others: towards the end, most of them.
			most = min(most, max(2*j.o.Workers, len(tasks)/noteObjects))
			if tasks, err = j.crew.PassOver(ctx, tasks, most); err != nil {
				return append(rest, tasks...), err
			}
			if len(tasks) == 0 {
				break
			}
		}
		for n < len(tasks) && n < most && (n == 0 || size+tasks[n].Entry.Size <= noteBytes) {
			size += tasks[n].Entry.Size
			n++
		}
		if j.o.Limit > 0 {
			n = min(n, j.o.Limit-j.taken)
		}
		if n <= 0 || j.late() || ctx.Err() != nil {
			return append(rest, tasks...), nil
		}
		j.taken += n
		now := tasks[:n]
		tasks = tasks[n:]
		ours, errs := make([]bool, n), make([]error, n)
		parallel.Do(n, func(i int) { ours[i], errs[i] = j.journal.Begin(ctx, now[i]) })
		if err := errors.Join(errs...); err != nil {
			for i, t := range now {
				if ours[i] || errs[i] != nil { // else another process has it
					rest = append(rest, t)
				}
			}
			return append(rest, tasks...), fmt.Errorf("note attempts in the ledger: %w", err)
		}
		for i, t := range now {
			switch {
			case !ours[i]: // another process has it
				j.crew.NoteOthers()
				j.taken--
				j.crew.Elsewhere(t)
			case j.late() || ctx.Err() != nil:
				rest = append(rest, t)
			default:
				select {
				case queue <- t:
				case <-ctx.Done():
					rest = append(rest, t)
				}
			}
		}
	}
	return rest, nil
}
