package browse

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/ingest/survey"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// youngest is the age below which a survey is never taken again.
	youngest = time.Second
	// restShare bounds the time that surveys take: after one, so many times its length pass before the next.
	restShare = 30
	// staleWait is how long a caller waits for a new survey where there is an old one.
	staleWait = time.Second
)

// Overview keeps the last survey of a store. It takes a new one when a caller asks and the last is old. Safe for
// concurrent use.
type Overview struct {
	open func(ctx context.Context) (*catalog.Catalog, error)
	ctx  context.Context // of all surveys
	end  context.CancelFunc

	mu     sync.Mutex
	last   *survey.Survey
	taking *taking
}

// taking is a survey on its way.
type taking struct {
	read atomic.Int64  // records
	done chan struct{} // closed when it ended; then err is set
	err  error
}

// NewOverview returns an overview of the catalog that open returns. End stops its work.
func NewOverview(open func(ctx context.Context) (*catalog.Catalog, error)) *Overview {
	o := &Overview{open: open}
	o.ctx, o.end = context.WithCancel(context.Background())
	return o
}

// End stops a survey that is on its way, and refuses new ones.
func (o *Overview) End() { o.end() }

// ErrTaking says that the first survey of a store is on its way.
var ErrTaking = errors.New("the store is being read for the first time: ask again")

// ErrEnded says that the server ends.
var ErrEnded = errors.New("the server ends: ask another")

// Survey returns a survey of the store that is not old, or the last one if a new one takes long. Where there is none yet,
// it waits at most so long, and the error is ErrTaking then.
func (o *Overview) Survey(ctx context.Context, patience time.Duration) (*survey.Survey, error) {
	o.mu.Lock()
	last, t := o.last, o.taking
	if last != nil && time.Since(last.Taken) < max(youngest, restShare*last.Took) {
		o.mu.Unlock()
		return last, nil
	}
	if t == nil {
		t = &taking{done: make(chan struct{})}
		o.taking = t
		go o.take(t)
	}
	o.mu.Unlock()

	if last != nil {
		patience = staleWait
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
		if last == nil {
			return nil, fmt.Errorf("%w (%d records so far)", ErrTaking, t.read.Load())
		}
		return last, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t.err != nil {
		return nil, t.err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last, nil
}

// take takes a survey.
func (o *Overview) take(t *taking) {
	c, err := o.open(o.ctx)
	var s *survey.Survey
	if err == nil {
		s, err = survey.Take(o.ctx, c, func(read int) { t.read.Store(int64(read)) })
	}
	if o.ctx.Err() != nil {
		err = ErrEnded
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		o.last = s
	}
	t.err, o.taking = err, nil
	close(t.done)
}
