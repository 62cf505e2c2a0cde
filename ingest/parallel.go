package ingest

import (
	"errors"
	"sync"
)

// catalogAtOnce is how many catalog records are swapped at once: a store
// that groups its syncs makes one of them.
const catalogAtOnce = 64

// atOnce calls f for 0 to n-1, several at a time.
func atOnce(n int, f func(i int)) { manyAtOnce(catalogAtOnce, n, f) }

// manyAtOnce calls f for 0 to n-1, so many at a time.
func manyAtOnce(most, n int, f func(i int)) {
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

// forEach calls f for each of list, several at a time.
func forEach[T any](list []T, f func(T) error) error {
	errs := make([]error, len(list))
	atOnce(len(list), func(i int) { errs[i] = f(list[i]) })
	return errors.Join(errs...)
}
