// Package fair shares a resource among callers so that no caller locks out the others.
//
// A caller may hold a part of a pool only. When units come free, the caller with the fewest units gets them first,
// and among equals the caller that waited longest. Each caller's own requests stand in one line.
package fair

import (
	"context"
	"errors"
	"sync"
)

// The reasons why a request got nothing until its context ended.
var (
	// ErrShare says that the caller itself holds what it may hold: others would have been served.
	ErrShare = errors.New("the caller's own share is in use")
	// ErrFull says that the pool had nothing left for a caller that held nothing.
	ErrFull = errors.New("nothing was left")
)

// Pool is a number of equal units. Safe for concurrent use.
type Pool struct {
	mu      sync.Mutex
	free    int64
	total   int64
	most    int64 // of one caller
	callers map[string]*caller
	turn    uint64 // counts the waiters
}

type caller struct {
	held  int64
	queue []*waiter
}

type waiter struct {
	n       int64
	turn    uint64
	granted chan struct{} // closed when the units are the waiter's
}

// New makes a pool of total units. A caller holds at most most of them.
func New(total, most int64) *Pool {
	total = max(total, 1)
	return &Pool{free: total, total: total, most: min(max(most, 1), total), callers: map[string]*caller{}}
}

// Most is the largest number of units that one request can get.
func (p *Pool) Most() int64 { return p.most }

// Acquire waits for n units, at most Most, and takes them for the caller. release gives them back; it may be called
// more than once. If ctx ends first, the error is ErrShare or ErrFull.
func (p *Pool) Acquire(ctx context.Context, name string, n int64) (release func(), err error) {
	n = min(max(n, 1), p.most)
	p.mu.Lock()
	c := p.callers[name]
	if c == nil {
		c = &caller{}
		p.callers[name] = c
	}
	p.turn++
	w := &waiter{n: n, turn: p.turn, granted: make(chan struct{})}
	c.queue = append(c.queue, w)
	p.grant()
	p.mu.Unlock()

	select {
	case <-w.granted:
	default:
		select {
		case <-w.granted:
		case <-ctx.Done():
			if err := p.leave(name, c, w); err != nil {
				return nil, err
			}
		}
	}
	var once sync.Once
	return func() { once.Do(func() { p.put(name, c, n) }) }, nil
}

// leave takes a waiter out of its line; nil: it was granted at the last moment.
func (p *Pool) leave(name string, c *caller, w *waiter) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range c.queue {
		if other != w {
			continue
		}
		c.queue = append(c.queue[:i:i], c.queue[i+1:]...)
		err := ErrFull
		if c.held > 0 {
			err = ErrShare
		}
		p.forget(name, c)
		p.grant() // the next in line may want less
		return err
	}
	return nil
}

func (p *Pool) put(name string, c *caller, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.held -= n
	p.free += n
	p.forget(name, c)
	p.grant()
}

// forget drops a caller that neither holds nor wants anything.
func (p *Pool) forget(name string, c *caller) {
	if c.held == 0 && len(c.queue) == 0 && p.callers[name] == c {
		delete(p.callers, name)
	}
}

// grant hands out the free units. It stops at the first waiter that wants more, so that many small requests
// never keep a large one waiting.
func (p *Pool) grant() {
	for {
		var next *caller
		for _, c := range p.callers {
			if len(c.queue) == 0 || c.held > 0 && c.held+c.queue[0].n > p.most {
				continue
			}
			if next == nil || c.held < next.held || c.held == next.held && c.queue[0].turn < next.queue[0].turn {
				next = c
			}
		}
		if next == nil || next.queue[0].n > p.free {
			return
		}
		w := next.queue[0]
		next.queue = next.queue[1:]
		next.held += w.n
		p.free -= w.n
		close(w.granted)
	}
}
