package fair

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
)

// A caller that asks for everything leaves room for another, which then comes before all that the first still wants.
func TestOneCallerDoesNotLockOut(t *testing.T) {
	p := New(8, 6)
	ended, end := context.WithCancel(t.Context())
	end()
	var greedy []func()
	for range 6 {
		release, err := p.Acquire(t.Context(), "greedy", 1)
		if err != nil {
			t.Fatal(err)
		}
		greedy = append(greedy, release)
	}
	if _, err := p.Acquire(ended, "greedy", 1); !errors.Is(err, ErrShare) {
		t.Fatalf("above its share: %v", err)
	}
	one, err := p.Acquire(ended, "other", 2)
	if err != nil {
		t.Fatalf("the other caller: %v", err)
	}
	if _, err := p.Acquire(ended, "third", 1); !errors.Is(err, ErrFull) {
		t.Fatalf("a full pool: %v", err)
	}
	one()
	one()

	// Both wait for one unit; greedy asked first.
	full, err := p.Acquire(t.Context(), "filler", 2)
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan string, 2)
	for _, name := range []string{"greedy", "other"} {
		go func() {
			release, err := p.Acquire(t.Context(), name, 1)
			if err != nil {
				t.Error(err)
			}
			order <- name
			release()
		}()
		for waiting := false; !waiting; {
			p.mu.Lock()
			waiting = p.callers[name] != nil && len(p.callers[name].queue) == 1
			p.mu.Unlock()
		}
	}
	greedy[0]()
	if got := <-order; got != "other" {
		t.Errorf("%s was served first", got)
	}
	<-order
	full()
	for _, release := range greedy {
		release()
	}
	if p.free != 8 || len(p.callers) != 0 {
		t.Errorf("%d units are free, %d callers known", p.free, len(p.callers))
	}
}

// However callers come, give up and go, units are neither lost nor given twice.
func TestPoolKeepsCount(t *testing.T) {
	p := New(100, 60)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 2000 {
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(3) == 0 {
					cancel()
				}
				release, err := p.Acquire(ctx, strconv.Itoa(r.IntN(3)), 1+r.Int64N(120))
				cancel()
				if err == nil {
					release()
				}
			}
		})
	}
	wg.Wait()
	if p.free != p.total || len(p.callers) != 0 {
		t.Errorf("%d of %d are free, %d callers known", p.free, p.total, len(p.callers))
	}
}
