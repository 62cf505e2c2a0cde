package parallel

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"
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

// Ordered works on several items at a time, and tells of them in their order.
func TestOrdered(t *testing.T) {
	const n, most = 200, 8
	var now, peak atomic.Int32
	var got []int
	feed := func(take func(*int) error) error {
		for i := range n {
			if err := take(&i); err != nil {
				return err
			}
		}
		return nil
	}
	work := func(i *int) {
		n := now.Add(1)
		for m := peak.Load(); n > m && !peak.CompareAndSwap(m, n); m = peak.Load() {
		}
		<-time.After(time.Duration(200-*i) * 10 * time.Microsecond)
		now.Add(-1)
	}
	if err := Ordered(most, feed, work, func(i *int) error { got = append(got, *i); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(got) || len(got) != n || peak.Load() > most {
		t.Errorf("%d items, %d at a time: %v", len(got), peak.Load(), got)
	}
	stop := errors.New("stop")
	calls := 0
	err := Ordered(most, feed, func(*int) {}, func(i *int) error {
		if calls++; *i == 5 {
			return stop
		}
		return nil
	})
	if err != stop || calls != 6 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
