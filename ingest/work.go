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
	noteObjects = 256
	noteBytes   = 64 << 20
	// Beside other workers, a run notes this part of the objects that are left.
	notePart = 32
	// Objects of smallBytes at most wait for the store longer than they use a processor. A run reads smallAtOnce of them for
	// each of its workers, and their questions to the store travel together.
	smallBytes  = 64 << 10
	smallAtOnce = 16
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
	queue := queue{make(chan *discover.Task), make(chan *discover.Task)}
	var wg sync.WaitGroup
	for i := range j.readers(tasks, workers) {
		wg.Go(func() {
			for t := queue.take(i >= workers); t != nil; t = queue.take(i >= workers) {
				if t.Owed == nil {
					t.Owed = j.owed[t.URL]
				}
				j.builder.Build(ctx, t)
			}
		})
	}
	rest, err := j.feed(ctx, tasks, queue)
	queue.close()
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

// readers returns how many goroutines read tasks: the workers, and beside several workers the readers of small objects. One
// worker reads one object after the other.
func (j *job) readers(tasks []*discover.Task, workers int) int {
	if workers < 2 {
		return min(workers, len(tasks))
	}
	small := 0
	for _, t := range tasks {
		if isSmall(t) {
			small++
		}
	}
	return min(workers+min(small, workers*(smallAtOnce-1)), len(tasks))
}

func isSmall(t *discover.Task) bool { return t.Entry.Size <= smallBytes }

// queue gives tasks to the readers: big objects to the workers, small ones to all.
type queue struct{ big, small chan *discover.Task }

// put waits until a reader takes t, and reports whether one did before ctx ended.
func (q queue) put(ctx context.Context, t *discover.Task) bool {
	if ctx.Err() != nil {
		return false
	}
	to := q.big
	if isSmall(t) {
		to = q.small
	}
	select {
	case to <- t:
		return true
	case <-ctx.Done():
		return false
	}
}

// take waits for a task, and returns nil if there are no more.
func (q queue) take(small bool) *discover.Task {
	if small {
		return <-q.small
	}
	select {
	case t, is := <-q.big:
		if is {
			return t
		}
		return <-q.small
	case t, is := <-q.small:
		if is {
			return t
		}
		return <-q.big
	}
}

// close says that there are no more tasks.
func (q queue) close() {
	close(q.big)
	close(q.small)
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

// window holds tasks with attempts that were noted together.
type window struct {
	noted []*discover.Task // of this worker
	rest  []*discover.Task // not noted: the tasks behind them, and after an error tasks among them
	last  bool             // nothing more is to be noted
	err   error
}

// feed notes attempts, and gives tasks to the workers. It returns the tasks that limit or
// deadline left over. Alone on the store, it notes the next window while the workers read this one.
func (j *job) feed(ctx context.Context, tasks []*discover.Task, to queue) (rest []*discover.Task, err error) {
	next := make(chan window, 1)
	note := func(tasks []*discover.Task) { next <- j.note(ctx, tasks) }
	note(tasks)
	for {
		w := <-next
		ahead := !w.last && !j.crew.Others()
		if ahead {
			go note(w.rest)
		}
		for _, t := range w.noted {
			if w.err != nil || j.late() || !to.put(ctx, t) {
				rest = append(rest, t)
			}
		}
		switch {
		case w.last:
			return append(rest, w.rest...), w.err
		case !ahead:
			note(w.rest)
		}
	}
}

// note notes the attempts at the first of tasks.
func (j *job) note(ctx context.Context, tasks []*discover.Task) window {
	most := noteObjects
	if j.crew.Others() {
		// Objects that this worker has not noted are free for the others: towards the end, most of them.
		most = min(notePart, max(2*j.o.Workers, len(tasks)/notePart))
		var err error
		if tasks, err = j.crew.PassOver(ctx, tasks, most); err != nil {
			return window{rest: tasks, last: true, err: err}
		}
	}
	n, size := 0, int64(0)
	for n < len(tasks) && n < most && (n == 0 || size+tasks[n].Entry.Size <= noteBytes) {
		size += tasks[n].Entry.Size
		n++
	}
	if j.o.Limit > 0 {
		n = min(n, j.o.Limit-j.taken)
	}
	if n <= 0 || j.late() || ctx.Err() != nil {
		return window{rest: tasks, last: true}
	}
	j.taken += n
	now, w := tasks[:n], window{rest: tasks[n:]}
	ours, errs := j.journal.Begin(ctx, now)
	if err := errors.Join(errs...); err != nil {
		w.last, w.err = true, fmt.Errorf("note attempts in the ledger: %w", err)
	}
	for i, t := range now {
		switch {
		case ours[i]:
			w.noted = append(w.noted, t)
		case errs[i] != nil:
			w.rest = append([]*discover.Task{t}, w.rest...)
		case w.err == nil: // another process has it
			j.crew.NoteOthers()
			j.taken--
			j.crew.Elsewhere(t)
		}
	}
	return w
}
