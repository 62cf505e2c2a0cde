package ingest

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
)

// abandonTime is how long a run waits for an object that was told to end.
const abandonTime = 10 * time.Second

// patience returns how long a run waits for an object that was told to end: never longer than the object's own time, so
// that an object ends after twice its time at the latest.
func patience(objectTime time.Duration) time.Duration { return min(abandonTime, objectTime) }

var (
	// errTime: an object took longer than its budget.
	errTime = errors.New("limits.time")
	// errDeadline: the run's time was over.
	errDeadline = errors.New("the run's deadline has passed")
)

// limited calls f with the time that one object may take. Work that does not end when it is told to is
// left behind: it can publish nothing any more.
func (x *object) limited(run context.Context, f func(context.Context) error) error {
	j := x.j
	ctx, stop := context.WithCancelCause(run)
	defer stop(nil)
	budget := time.AfterFunc(j.o.ObjectTime, func() { stop(errTime) })
	defer budget.Stop()
	if !j.hardStop.IsZero() {
		late := time.AfterFunc(time.Until(j.hardStop), func() { stop(errDeadline) })
		defer late.Stop()
	}
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(patience(j.o.ObjectTime)):
			err = x.abandon(context.Cause(ctx))
		}
	}
	switch cause := context.Cause(ctx); {
	case err == nil || run.Err() != nil:
		return err
	case cause == errTime:
		e := &formats.Error{Format: "ingest", Section: "limits.time", Want: fmt.Sprintf("an object done within %v", j.o.ObjectTime), Err: formats.ErrLimit}
		return x.reject(run, symbol.ID{}, "", e)
	case cause == errDeadline && x.hadItAll():
		return fmt.Errorf("--deadline: it was not done in a whole run, %v", j.hardStop.Sub(j.began).Round(time.Second))
	case cause == errDeadline:
		return errDeadline
	}
	return err
}

// hadItAll: the object was at work for nearly all of the run.
func (x *object) hadItAll() bool {
	return x.started.Sub(x.j.report.Started) < x.j.hardStop.Sub(x.j.began)/10
}

// abandon gives what work that does not end holds of the run to others.
func (x *object) abandon(cause error) error {
	x.mu.Lock()
	x.abandoned = true
	held := x.slots
	x.slots = 0
	x.mu.Unlock()
	for range held {
		<-x.j.slots
	}
	return cause
}

// slot waits until fewer than Workers pieces of work use the processors.
func (x *object) slot(ctx context.Context) error {
	select {
	case x.j.slots <- struct{}{}:
		return x.hold()
	case <-ctx.Done():
		return fmt.Errorf("wait for a worker: %w", context.Cause(ctx))
	}
}

// spareSlot takes a slot if one is free, and reports whether it did.
func (x *object) spareSlot() bool {
	select {
	case x.j.slots <- struct{}{}:
		return x.hold() == nil
	default:
		return false
	}
}

// hold notes the slot that was just taken, or gives it back if the work was abandoned.
func (x *object) hold() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.abandoned {
		<-x.j.slots
		return errTime
	}
	x.slots++
	return nil
}

func (x *object) unslot() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.abandoned {
		x.slots--
		<-x.j.slots
	}
}

// environmental is an error of the store, the lake or the disk: no object is to blame.
type environmental struct{ error }

func (e environmental) Unwrap() error { return e.error }

func environment(err error) error {
	if err == nil {
		return nil
	}
	return environmental{err}
}

// isObjects reports whether a failure may be the object's own: its bytes cannot be had.
func isObjects(err error) bool {
	var env environmental
	switch {
	case errors.As(err, &env), errors.Is(err, bucket.ErrChanged):
		return false
	}
	return !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, syscall.EMFILE)
}

// settleUnread counts the objects that could not be read, and quarantines those that failed in too many runs.
// A run that the environment stopped counts nobody.
func (j *job) settleUnread(ctx context.Context) error {
	return parallel.Each(j.unread, func(t *discover.Task) error {
		old := t.Ledger
		if old == nil || old.State != catalog.ObjectFailed {
			return nil
		}
		next := *old
		if next.Attempts++; next.Attempts >= maxAttempts {
			next.State, next.Reason = catalog.ObjectRejected, fmt.Sprintf("failed in %d runs, last: %s", next.Attempts, old.Reason)
		}
		ok, err := j.note(ctx, old, &next)
		if err != nil || !ok || next.State != catalog.ObjectRejected {
			return err
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.report.Objects.Failed--
		j.report.Objects.Rejected++
		j.report.DropFailed(next.URL)
		j.report.Append(&j.report.Rejected, report.Rejection{URL: next.URL, Error: next.Reason})
		return nil
	})
}
