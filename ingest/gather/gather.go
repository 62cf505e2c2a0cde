// Package gather lets goroutines that work side by side share the requests of a catalog.
//
// A call that comes while another request is under way waits for it. All calls that waited then travel in
// one request. So 500 goroutines that each change one record cost a store a few requests, and a file store
// a few syncs. A lone call waits for nothing.
//
// Each call keeps its meaning: a Swap is durable when it returns, and its conflict is its own.
package gather

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/sinks"
)

const (
	// requestRecords is the number of records from which a request takes no further call.
	requestRecords = 1024
	// requests may be under way at the same time, of each kind.
	requests = 2
)

// catalog gathers the calls of goroutines.
type catalog struct {
	sinks.Catalog
	gets  lane[[]byte, []byte]
	swaps lane[sinks.Change, error]
}

// Catalog returns c with shared requests. It starts goroutines only while calls are under way.
func Catalog(c sinks.Catalog) sinks.Catalog {
	return &catalog{Catalog: c,
		gets: lane[[]byte, []byte]{carry: c.GetAll},
		swaps: lane[sinks.Change, error]{carry: func(ctx context.Context, changes []sinks.Change) ([]error, error) {
			return c.SwapAll(ctx, changes), nil
		}}}
}

func (c *catalog) Get(ctx context.Context, key []byte) ([]byte, error) {
	values, err := c.GetAll(ctx, [][]byte{key})
	if err := sinks.ByKey(err, 1)[0]; err != nil {
		return nil, err
	}
	return values[0], nil
}

// GetAll returns when ctx ends, even if the request is still under way.
func (c *catalog) GetAll(ctx context.Context, keys [][]byte) ([][]byte, error) {
	if len(keys) == 0 {
		return nil, ctx.Err()
	}
	a, err := c.gets.add(ctx, keys)
	if err != nil {
		return nil, err
	}
	select {
	case <-a.done:
		return a.answers, a.failure()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *catalog) Swap(ctx context.Context, key, old, new []byte) error {
	return c.SwapAll(ctx, []sinks.Change{{Key: key, Old: old, New: new}})[0]
}

// SwapAll waits for the request in any case, so that no change happens after it returned.
func (c *catalog) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	if len(changes) == 0 {
		return nil
	}
	a, err := c.swaps.add(ctx, changes)
	if err != nil {
		errs := make([]error, len(changes))
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	<-a.done
	for i, err := range a.answers {
		if a.ctx.Err() != nil && errors.Is(err, context.Canceled) {
			a.answers[i] = a.ctx.Err()
		}
	}
	return a.answers
}

// lane carries questions of one kind. carry gives an answer to each question, in their order, or an error for
// all.
type lane[Q, A any] struct {
	carry func(context.Context, []Q) ([]A, error)

	mu   sync.Mutex
	todo []*call[Q, A]
	busy int // requests under way
}

// call is the questions of one caller. They travel together.
type call[Q, A any] struct {
	ctx       context.Context
	questions []Q
	answers   []A
	err       error
	done      chan struct{} // closed when answers or err are there
}

func (a *call[Q, A]) failure() error {
	if a.err != nil && a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	return a.err
}

func (l *lane[Q, A]) add(ctx context.Context, questions []Q) (*call[Q, A], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := &call[Q, A]{ctx: ctx, questions: questions, done: make(chan struct{})}
	l.mu.Lock()
	l.todo = append(l.todo, a)
	start, alone := l.busy < requests, l.busy == 0
	if start {
		l.busy++
	}
	if alone {
		l.todo = nil
	}
	l.mu.Unlock()
	switch {
	case alone:
		l.request([]*call[Q, A]{a}) // a goroutine for it would cost as much as a small request
		l.end()
	case start:
		go l.serve()
	}
	return a, nil
}

// end ends a request. If calls have come meanwhile, a goroutine serves them.
func (l *lane[Q, A]) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.todo) > 0 {
		go l.serve()
	} else {
		l.busy--
	}
}

// serve makes requests until no call waits.
func (l *lane[Q, A]) serve() {
	for {
		runtime.Gosched() // goroutines that are about to call come along
		calls := l.take()
		if calls == nil {
			return
		}
		l.request(calls)
	}
}

// take takes the calls of one request; nil: there are none, and the request under way is over.
func (l *lane[Q, A]) take() []*call[Q, A] {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, records := 0, 0
	for n < len(l.todo) && (n == 0 || records+len(l.todo[n].questions) <= requestRecords) {
		records += len(l.todo[n].questions)
		n++
	}
	if n == 0 {
		l.busy--
		l.todo = nil
		return nil
	}
	calls := l.todo[:n:n]
	l.todo = l.todo[n:]
	return calls
}

// ownErrors returns the errors of a call's keys; nil if all have answers.
func ownErrors(errs sinks.KeyErrors) error {
	if !slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		return nil
	}
	return errs
}

// request carries the questions of calls. It ends early when no caller wants an answer any more.
func (l *lane[Q, A]) request(calls []*call[Q, A]) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(calls[0].ctx))
	defer cancel()
	var wanted atomic.Int64
	wanted.Store(1)
	leave := func() {
		if wanted.Add(-1) == 0 {
			cancel()
		}
	}
	var questions []Q
	for i, a := range calls {
		questions = append(questions, a.questions...)
		if i == 0 || a.ctx != calls[i-1].ctx {
			wanted.Add(1)
			defer context.AfterFunc(a.ctx, leave)()
		}
	}
	leave()

	answers, err := l.carry(ctx, questions)
	parts, _ := err.(sinks.KeyErrors)
	for _, a := range calls {
		n := len(a.questions)
		a.err = err
		if parts != nil { // a record that cannot be read is its caller's alone
			a.err = ownErrors(parts[:n:n])
			parts = parts[n:]
		}
		if len(answers) > 0 {
			a.answers, answers = answers[:n:n], answers[n:]
		}
		close(a.done)
	}
}
