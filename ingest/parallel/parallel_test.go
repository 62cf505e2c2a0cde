package parallel

import (
	"errors"
	"sync/atomic"
	"testing"
)

func TestDoMost(t *testing.T) {
	var calls [100]atomic.Int32
	var now, most atomic.Int32
	DoMost(3, len(calls), func(i int) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		calls[i].Add(1)
		now.Add(-1)
	})
	for i := range calls {
		if n := calls[i].Load(); n != 1 {
			t.Fatalf("%d was called %d times", i, n)
		}
	}
	if n := most.Load(); n > 3 {
		t.Errorf("%d calls ran at once, 3 may", n)
	}
}

// One error does not keep the other items from being done.
func TestEach(t *testing.T) {
	failed := errors.New("failed")
	var done atomic.Int32
	err := Each([]int{1, 2, 3}, func(i int) error {
		done.Add(1)
		if i == 1 {
			return failed
		}
		return nil
	})
	if !errors.Is(err, failed) || done.Load() != 3 {
		t.Errorf("%d items were done: %v", done.Load(), err)
	}
}
