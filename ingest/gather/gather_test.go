package gather

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/sinktest"
)

func TestStore(t *testing.T) {
	stores := map[testing.TB]*sinks.Store{}
	var mu sync.Mutex
	sinktest.Run(t, func(t *testing.T) *sinks.Store {
		mu.Lock()
		defer mu.Unlock()
		if stores[t] == nil {
			stores[t] = mem.New()
		}
		s := *stores[t]
		s.Catalog = Catalog(s.Catalog)
		return &s
	})
}

// slow takes a while for each request, and counts the requests.
type slow struct {
	sinks.Catalog
	requests atomic.Int64
}

var errSlow = errors.New("the store is away")

func (s *slow) wait(ctx context.Context) error {
	s.requests.Add(1)
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slow) GetAll(ctx context.Context, keys [][]byte) ([][]byte, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	if string(keys[0]) == "bad" {
		return nil, errSlow
	}
	return s.Catalog.GetAll(ctx, keys)
}

func (s *slow) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	if err := s.wait(ctx); err != nil {
		errs := make([]error, len(changes))
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	return s.Catalog.SwapAll(ctx, changes)
}

// Goroutines that work side by side share requests. Each gets its own answer.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Catalog: mem.New().Catalog}
		c := Catalog(s)
		const n = 500
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				key := binary.BigEndian.AppendUint32(nil, uint32(i))
				for j := range 3 {
					old, err := c.Get(t.Context(), key)
					if err == nil {
						err = c.Swap(t.Context(), key, old, append(old, byte(j)))
					}
					if err != nil {
						t.Error(err)
					}
				}
				if v, err := c.Get(t.Context(), key); err != nil || string(v) != "\x00\x01\x02" {
					t.Errorf("%d: %q, %v", i, v, err)
				}
				if err := c.Swap(t.Context(), key, nil, key); !errors.Is(err, sinks.ErrConflict) {
					t.Errorf("%d: %v, want its conflict", i, err)
				}
			})
		}
		wg.Wait()
		if got := s.requests.Load(); got > 100 { // a request for each call would be 4,000
			t.Errorf("%d requests for %d calls", got, 8*n)
		}
	})
}

// A caller that gives up takes no answer away from the others. A request that no caller wants any more ends.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Catalog: mem.New().Catalog}
		c := Catalog(s)
		var wg sync.WaitGroup
		for range requests { // the calls behind them travel together
			wg.Go(func() { _, _ = c.Get(t.Context(), []byte("first")) })
			wg.Go(func() { _ = c.Swap(t.Context(), []byte("first"), nil, nil) })
			synctest.Wait()
		}
		soon, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		for i := range 4 {
			ctx, want := t.Context(), error(nil)
			if i%2 == 0 {
				ctx, want = soon, context.DeadlineExceeded
			}
			wg.Go(func() {
				if _, err := c.Get(ctx, []byte("k")); !errors.Is(err, want) {
					t.Errorf("get %d: %v", i, err)
				}
			})
			wg.Go(func() { // a change that is under way ends before its caller goes on
				if err := c.Swap(ctx, fmt.Appendf(nil, "k%d", i), nil, []byte("v")); err != nil {
					t.Errorf("swap %d: %v", i, err)
				}
			})
		}
		wg.Wait()

		began := time.Now()
		alone, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := c.Swap(alone, []byte("x"), nil, []byte("v")); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 200*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := c.Swap(alone, []byte("x"), nil, []byte("v")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that is over: %v", err)
		}
		if _, err := c.Get(t.Context(), []byte("bad")); !errors.Is(err, errSlow) {
			t.Errorf("%v", err)
		}
	})
}

// damaged cannot read keys that begin with x.
type damaged struct{ slow }

func (d *damaged) GetAll(ctx context.Context, keys [][]byte) ([][]byte, error) {
	values, err := d.slow.GetAll(ctx, keys)
	errs, failed := make(sinks.KeyErrors, len(keys)), false
	for i, key := range keys {
		if err == nil && key[0] == 'x' {
			errs[i], failed = fmt.Errorf("%w: %s", sinks.ErrCorrupt, key), true
		}
	}
	if failed {
		return values, errs
	}
	return values, err
}

// A record that cannot be read costs its own caller alone, also where its request carries the calls of others.
func TestDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &damaged{slow{Catalog: mem.New().Catalog}}
		if err := d.Catalog.Swap(t.Context(), []byte("a"), nil, []byte("v")); err != nil {
			t.Fatal(err)
		}
		c := Catalog(d)
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				switch i % 4 {
				case 0:
					if _, err := c.Get(t.Context(), []byte("x")); !errors.Is(err, sinks.ErrCorrupt) {
						t.Errorf("get x: %v", err)
					}
				case 1:
					values, err := c.GetAll(t.Context(), [][]byte{[]byte("a"), []byte("x1"), []byte("a")})
					errs := sinks.ByKey(err, 3)
					if errs[0] != nil || errs[2] != nil || !errors.Is(errs[1], sinks.ErrCorrupt) || string(values[2]) != "v" {
						t.Errorf("get many: %q, %v", values, errs)
					}
				default:
					if v, err := c.Get(t.Context(), []byte("a")); err != nil || string(v) != "v" {
						t.Errorf("get a: %q, %v", v, err)
					}
				}
			})
		}
		wg.Wait()
	})
}
