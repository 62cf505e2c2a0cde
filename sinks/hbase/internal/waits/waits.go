// Package waits tells an operator what a client waits for: once, again when the cause changes or a minute has passed, and
// when it goes on. Many calls that wait for one place are told of once. It waits for nothing itself.
package waits

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// After is how long a call waits in silence.
	After = 4 * time.Second
	// again is how often a wait with one cause is told of, often with changing causes.
	again, often = time.Minute, 10 * time.Second
	// stale is how long a place that no call failed at is still waited for.
	stale = 30 * time.Second
)

// Place is what calls wait for. Its name is in words: "region X of table T". Calls that wait for one name wait for one
// place, on any server.
type Place struct{ Name, Server string }

func (p Place) String() string {
	if p.Server == "" {
		return p.Name
	}
	return p.Name + " on server " + p.Server
}

// Waits knows what the calls of one client wait for. Safe for concurrent use. The zero value is silent.
type Waits struct {
	Notice func(string) // gets a sentence; nil: nothing is told, and nothing noted

	waiting atomic.Int32 // how many places there are
	mu      sync.Mutex
	places  map[string]*wait
}

// wait is how calls fare at a place.
type wait struct {
	since, last time.Time // when the oldest call began, and the last failure
	told        time.Time // zero: not yet
	cause       string
}

// On tells whether there is a Notice.
func (w *Waits) On() bool { return w.Notice != nil }

// Failed notes that a call which began at that time failed at a place, and is tried again.
func (w *Waits) Failed(p Place, began time.Time, cause error) {
	if w.On() {
		w.failed(p, began, cause.Error(), time.Now())
	}
}

func (w *Waits) failed(p Place, began time.Time, cause string, now time.Time) {
	w.mu.Lock()
	x := w.places[p.Name]
	if x == nil || now.Sub(x.last) > stale {
		if x == nil {
			w.waiting.Add(1)
		}
		x = &wait{since: began}
		if w.places == nil {
			w.places = make(map[string]*wait)
		}
		w.places[p.Name] = x
	}
	x.last = now
	passed := now.Sub(x.told)
	tell := now.Sub(x.since) >= After && (x.told.IsZero() || passed >= again || passed >= often && cause != x.cause)
	if tell {
		x.told, x.cause = now, cause
	}
	w.mu.Unlock()
	if tell {
		w.Notice(fmt.Sprintf("waiting for %s: %s", p, cause))
	}
}

func (w *Waits) answered(p Place, now time.Time) {
	w.mu.Lock()
	x := w.places[p.Name]
	if x != nil {
		delete(w.places, p.Name)
		w.waiting.Add(-1)
	}
	w.mu.Unlock()
	if x != nil && !x.told.IsZero() {
		w.Notice(fmt.Sprintf("%s answers again, after %v", p, now.Sub(x.since).Round(time.Second)))
	}
}
