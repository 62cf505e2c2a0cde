package build

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/failure"
)

// AbandonTime is how long a run waits for an object that was told to end.
const AbandonTime = 10 * time.Second

// patience returns how long a run waits for an object that was told to end: never longer than the
// object's own time, so that an object ends after twice its time at the latest.
func patience(objectTime time.Duration) time.Duration { return min(AbandonTime, objectTime) }

// limited calls f with the time that one object may take. If f does not end in time, it is abandoned:
// it can publish nothing any more.
func (x *object) limited(run context.Context, f func(context.Context) error) error {
	b := x.b
	ctx, stop := context.WithCancelCause(run)
	defer stop(nil)
	budget := time.AfterFunc(b.ObjectTime, func() { stop(failure.ErrTime) })
	defer budget.Stop()
	if !b.HardStop.IsZero() {
		late := time.AfterFunc(time.Until(b.HardStop), func() { stop(failure.ErrDeadline) })
		defer late.Stop()
	}
	done := make(chan error, 1)
	b.hands.run(run, func() { done <- f(ctx) })
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(patience(b.ObjectTime)):
			x.abandon()
			err = context.Cause(ctx)
		}
	}

	switch cause := context.Cause(ctx); {
	case err == nil || run.Err() != nil:
		return err
	case cause == failure.ErrTime:
		e := &formats.Error{Format: "ingest", Section: "limits.time", Want: fmt.Sprintf("an object done within %v", b.ObjectTime), Err: formats.ErrLimit}
		return x.reject(run, symbol.ID{}, "", e)
	case cause == failure.ErrDeadline && x.hadItAll():
		return fmt.Errorf("--deadline: it was not done in a whole run, %v", b.HardStop.Sub(b.Began).Round(time.Second))
	case cause == failure.ErrDeadline:
		return failure.ErrDeadline
	}
	return err
}

// hands are the goroutines that read objects. One that has read an object reads the next: its stack has grown, and growing
// a new one costs as much as reading a small object. One whose object does not end reads nothing else.
type hands struct{ idle chan func() }

// run calls f in a goroutine, which ends with ctx at the latest once f has returned.
func (h *hands) run(ctx context.Context, f func()) {
	select {
	case h.idle <- f:
	default:
		go func() {
			for {
				f()
				select {
				case f = <-h.idle:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
}

// hadItAll reports whether the object was at work for nearly all of the run.
func (x *object) hadItAll() bool {
	return x.Started.Sub(x.b.Started) < x.b.HardStop.Sub(x.b.Began)/10
}

// slots counts the builder's slots that an object's work has: at most Workers pieces of work use the
// processors.
type slots struct {
	mu   sync.Mutex
	held int
}

// abandon gives the slots of work that does not end to others.
func (x *object) abandon() {
	x.slots.mu.Lock()
	x.Abandon()
	held := x.slots.held
	x.slots.held = 0
	x.slots.mu.Unlock()
	for range held {
		<-x.b.slots
	}
}

// slot waits for a slot.
func (x *object) slot(ctx context.Context) error {
	select {
	case x.b.slots <- struct{}{}:
		return x.hold()
	case <-ctx.Done():
		return fmt.Errorf("wait for a worker: %w", context.Cause(ctx))
	}
}

// spareSlot takes a slot if one is free, and reports whether it did.
func (x *object) spareSlot() bool {
	select {
	case x.b.slots <- struct{}{}:
		return x.hold() == nil
	default:
		return false
	}
}

// hold counts the slot that was just taken, or gives it back if the work was abandoned.
func (x *object) hold() error {
	x.slots.mu.Lock()
	defer x.slots.mu.Unlock()
	if x.Abandoned() {
		<-x.b.slots
		return failure.ErrTime
	}
	x.slots.held++
	return nil
}

func (x *object) unslot() {
	x.slots.mu.Lock()
	defer x.slots.mu.Unlock()
	if !x.Abandoned() {
		x.slots.held--
		<-x.b.slots
	}
}
