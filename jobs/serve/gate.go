package serve

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/symlake/symlake/jobs/serve/fair"
)

// Memory of requests at work, beside the memory of bodies and caches.
const (
	// workBytes are shared by all requests at work.
	workBytes = 64 << 20
	// turnBytes are what a request begins with; more than its share it gets from the large memory, one request at a time.
	turnBytes = 2 << 20
	// largeBytes is the large memory where limits are as they come.
	largeBytes = 64 << 20
	// readyTime is how long /readyz waits for what a new caller's request needs.
	readyTime = 2 * time.Second
)

// Limits bound what one request may cost; 0 means the default.
type Limits struct {
	BodyBytes   int64 // of a request, inflated: 16 MiB
	AnswerBytes int64 // 64 MiB
	Stacks      int   // of a request: 10,000
	Frames      int   // of a request, over all its stacks: 250,000
	Positions   int   // of a look-up request: 10,000
	Jobs        int   // of a request to /symbolicate/v5: 10, as Eliot has it
	// Time bounds the body's way here, and then the work on the answer, waiting for a turn included: 30 s each. The
	// answer's way back does not count.
	Time       time.Duration
	Concurrent int // requests at work at once: four a processor; the others wait
}

func (l *Limits) defaults() {
	set := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	if l.BodyBytes <= 0 {
		l.BodyBytes = 16 << 20
	}
	if l.AnswerBytes <= 0 {
		l.AnswerBytes = 64 << 20
	}
	if l.Time <= 0 {
		l.Time = 30 * time.Second
	}
	set(&l.Stacks, 10_000)
	set(&l.Frames, 250_000)
	set(&l.Positions, 10_000)
	set(&l.Jobs, 10)
	set(&l.Concurrent, 4*runtime.GOMAXPROCS(0))
}

// last is the time in which a caller takes the whole of an answer.
func (l *Limits) last() time.Duration { return 2*l.Time + 10*time.Second }

// gate lets requests work: as many at once as there are slots, within the memory for it. Whoever waits for memory holds
// no slot, and whoever holds a slot waits for nothing but the store.
type gate struct {
	slots, work, large *fair.Pool
	largeBytes         int64
}

func newGate(l *Limits) *gate {
	// What the limits allow to be parsed at once: a body as text with its copies, and frames with answers.
	large := max(largeBytes, 4*l.BodyBytes, 256*int64(l.Frames))
	slots := int64(l.Concurrent)
	return &gate{slots: fair.New(slots, max(1, slots-slots/4)), work: fair.New(workBytes, workBytes*3/4), large: fair.New(1, 1), largeBytes: large}
}

// memoryError ends a request that would take more memory than one may. Other requests that wait for what it was reading
// read it themselves, as if its caller had gone.
type memoryError struct{}

func (memoryError) Error() string {
	return "the answer takes more memory than one request may have: ask for less at once"
}

func (memoryError) Is(target error) bool { return target == context.Canceled }

// errTime ends a request when its time is over.
var errTime = errors.New("no answer in time")

// turn is a request at work. One goroutine.
type turn struct {
	g     *gate
	share string // the party that answers for it
	ctx   context.Context
	end   context.CancelCauseFunc
	clock *time.Timer
	left  time.Duration // of its time, while the clock stands
	since time.Time

	slot, work, large func() // give back; nil: not held
	most, base, held  int64  // bytes
	err               error
}

// enter waits for a request's turn. bytes is about the memory that its parsed form takes, and stays taken until leave.
func (g *gate) enter(parent context.Context, share string, bytes int64, within time.Duration) (*turn, error) {
	ctx, end := context.WithCancelCause(parent)
	t := &turn{g: g, share: share, ctx: ctx, end: end, left: within, most: min(turnBytes+bytes, g.work.Most()), base: bytes, held: bytes}
	t.start()
	var err error
	if t.work, err = g.work.Acquire(ctx, share, t.most); err == nil {
		err = t.resume()
	}
	if err == nil && t.held > t.most {
		err = t.take(0)
	}
	if err != nil {
		t.leave()
		return nil, err
	}
	return t, nil
}

// start lets the clock run.
func (t *turn) start() {
	t.since = time.Now()
	t.clock = time.AfterFunc(t.left, func() { t.end(errTime) })
}

func (t *turn) resume() (err error) {
	t.slot, err = t.g.slots.Acquire(t.ctx, t.share, 1)
	return err
}

// free gives the slot back.
func (t *turn) free() {
	if t.slot != nil {
		t.slot()
		t.slot = nil
	}
}

// park stops the clock and gives the slot back, for as long as the caller is waited for. resume ends that.
func (t *turn) park() (resume func() error) {
	t.free()
	if t.clock.Stop() {
		t.left -= time.Since(t.since)
	}
	return func() error {
		t.start()
		return t.resume()
	}
}

// yield lets others have a turn.
func (t *turn) yield() error {
	t.free()
	return t.resume()
}

// take asks for memory; the first error stays. More than a request's own share comes from the large memory.
func (t *turn) take(bytes int64) error {
	if t.err != nil {
		return t.err
	}
	if t.held += bytes; t.held <= t.most {
		return nil
	}
	if t.large != nil || t.held > t.most+t.g.largeBytes {
		t.err = memoryError{}
		return t.err
	}
	t.free()
	if t.large, t.err = t.g.large.Acquire(t.ctx, t.share, 1); t.err == nil {
		t.most += t.g.largeBytes
		t.err = t.resume()
	}
	return t.err
}

// fresh gives back the memory taken since enter.
func (t *turn) fresh() {
	t.held = t.base
	if t.large != nil && t.base <= t.most-t.g.largeBytes {
		t.most -= t.g.largeBytes
		t.large()
		t.large = nil
	}
}

// back gives memory back that was taken since so many bytes were held.
func (t *turn) back(held int64) { t.held = held }

// leave ends the turn.
func (t *turn) leave() {
	t.clock.Stop()
	t.end(context.Canceled)
	t.free()
	for _, release := range []func(){t.large, t.work} {
		if release != nil {
			release()
		}
	}
}

// ready returns nil if a request of a caller that holds nothing would get its turn.
func (g *gate) ready(ctx context.Context, share string) error {
	t, err := g.enter(ctx, share, 0, readyTime)
	if err == nil {
		t.leave()
	}
	return err
}
