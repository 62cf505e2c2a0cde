package lookup

import (
	"context"
	"errors"
	"sync"
)

// flights lets one caller do what several ask for at once. The first to join
// a key leads: it does the work with its own context and lands the outcome.
// The others wait, each no longer than its own context allows; if the leader
// gave up because its context ended, they start over.
type flights[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]*flight[V]
}

type flight[V any] struct {
	landed chan struct{}
	v      V
	err    error
}

// join returns the flight of a key. Whoever leads must land it, and must not
// wait for another flight of the same map before it has.
func (fs *flights[K, V]) join(key K) (f *flight[V], leads bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.m[key]; f != nil {
		return f, false
	}
	if fs.m == nil {
		fs.m = map[K]*flight[V]{}
	}
	f = &flight[V]{landed: make(chan struct{})}
	fs.m[key] = f
	return f, true
}

// land ends a flight. What it brings must be in the cache by then, so that
// later callers find it there.
func (fs *flights[K, V]) land(key K, f *flight[V], v V, err error) {
	fs.mu.Lock()
	delete(fs.m, key)
	fs.mu.Unlock()
	f.v, f.err = v, err
	close(f.landed)
}

// wait gives the outcome of a flight that another caller leads. again: the
// leader's context ended, not ours.
func (f *flight[V]) wait(ctx context.Context) (v V, again bool, err error) {
	select {
	case <-f.landed:
	case <-ctx.Done():
		return v, false, ctx.Err()
	}
	if f.err != nil && isContext(f.err) && ctx.Err() == nil {
		return v, true, nil
	}
	return f.v, false, f.err
}

// do runs read for key, or takes the outcome of the caller that does. cached is
// asked again once the key is ours: the flight before may just have landed.
func (fs *flights[K, V]) do(ctx context.Context, key K, cached func() (V, bool), read func() (V, error)) (V, error) {
	for {
		f, leads := fs.join(key)
		if leads {
			return fs.lead(key, f, cached, read)
		}
		if v, again, err := f.wait(ctx); !again {
			return v, err
		}
	}
}

func (fs *flights[K, V]) lead(key K, f *flight[V], cached func() (V, bool), read func() (V, error)) (v V, err error) {
	err = errAbandoned // what others see should read panic
	defer func() { fs.land(key, f, v, err) }()
	if got, ok := cached(); ok {
		v, err = got, nil
		return v, err
	}
	v, err = read()
	return v, err
}

var errAbandoned = errors.New("the read was abandoned")

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
