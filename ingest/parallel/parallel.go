// Package parallel calls a function for many items, several at a time.
package parallel

import (
	"errors"
	"sync"
)

// catalogAtOnce is the number of catalog records to swap at once. A store that groups its syncs makes
// one sync of them.
const catalogAtOnce = 64

// Do calls f for 0 to n-1, at most 64 at a time.
func Do(n int, f func(i int)) { DoMost(catalogAtOnce, n, f) }

// DoMost calls f for 0 to n-1, at most so many at a time.
func DoMost(most, n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, most) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// Each calls f for each item of list, at most 64 at a time. It joins their errors.
func Each[T any](list []T, f func(T) error) error {
	errs := make([]error, len(list))
	Do(len(list), func(i int) { errs[i] = f(list[i]) })
	return errors.Join(errs...)
}
