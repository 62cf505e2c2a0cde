package serve

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/symlake/symlake/jobs/serve/fair"
)

func testGate() *gate {
	l := Limits{Concurrent: 2}
	l.defaults()
	return newGate(&l)
}

// A caller that is waited for holds no slot, and a request that wants more memory than its share does not either while it
// waits for it.
func TestParkedTurnsHoldNoSlot(t *testing.T) {
	g := testGate()
	first, err := g.enter(t.Context(), "a", 0, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	second, err := g.enter(t.Context(), "b", 0, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.ready(ended(t), "probe"); !errors.Is(err, fair.ErrFull) {
		t.Errorf("both slots are taken: %v", err)
	}
	resume := first.park()
	if err := g.ready(t.Context(), "probe"); err != nil {
		t.Errorf("one is parked: %v", err)
	}
	if err := resume(); err != nil {
		t.Fatal(err)
	}
	if err := first.take(turnBytes + 1); err != nil {
		t.Fatal(err)
	}
	waits := make(chan error)
	go func() { waits <- second.take(turnBytes + 1) }()
	if err := g.ready(t.Context(), "probe"); err != nil {
		t.Errorf("one waits for memory: %v", err)
	}
	first.fresh()
	if err := <-waits; err != nil {
		t.Error(err)
	}
	if err := second.take(g.largeBytes); !errors.As(err, new(memoryError)) {
		t.Errorf("more than there is: %v", err)
	}
	second.leave()
	first.leave()
	if release, err := g.work.Acquire(ended(t), "c", g.work.Most()); err != nil {
		t.Errorf("memory is lost: %v", err)
	} else {
		release()
	}
}

// The time of a request runs while it works or waits for its turn, not while its caller is waited for.
func TestTurnsEnd(t *testing.T) {
	g := testGate()
	one, err := g.enter(t.Context(), "a", 0, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	one.left = 0
	resume := one.park()
	select {
	case <-one.ctx.Done():
		t.Error("it ended while its caller was waited for")
	default:
	}
	one.left = time.Nanosecond
	resume()
	<-one.ctx.Done()
	if cause := context.Cause(one.ctx); !errors.Is(cause, errTime) {
		t.Errorf("it ended with %v", cause)
	}
	one.leave()
}

// ended is a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
