// Package parallel calls a function for many items, several at a time.
package parallel

import (
	"errors"
	"sync"
)

// catalogAtOnce is the number of catalog records to swap at once. They share requests and syncs: see
// package gather.
const catalogAtOnce = 1024

// Do calls f for 0 to n-1, at most 1024 at a time.
func Do(n int, f func(i int)) { DoMost(catalogAtOnce, n, f) }

// DoMost calls f for 0 to n-1, at most so many at a time.
func DoMost(most, n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
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

// Each calls f for each item of list, at most 1024 at a time. It joins their errors.
func Each[T any](list []T, f func(T) error) error {
	errs := make([]error, len(list))
	Do(len(list), func(i int) { errs[i] = f(list[i]) })
	return errors.Join(errs...)
}

// errOver ends a feed after an error of done.
var errOver = errors.New("the items are no longer wanted")

// Ordered calls work for each item that feed hands over, at most so many at a time. It calls done for each item
// in the order of feed, from one goroutine, after work. An error of done ends it, and comes back.
func Ordered[T any](most int, feed func(take func(T) error) error, work func(T), done func(T) error) error {
	type slot struct {
		item  T
		ready chan struct{}
	}
	order, over, ended := make(chan slot, most), make(chan struct{}), make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		for s := range order {
			<-s.ready
			if failed != nil {
				continue
			}
			if failed = done(s.item); failed != nil {
				close(over)
			}
		}
	}()
	working := make(chan struct{}, most)
	err := feed(func(item T) error {
		select {
		case <-over:
			return errOver
		case working <- struct{}{}:
		}
		s := slot{item, make(chan struct{})}
		go func() {
			work(item)
			close(s.ready)
			<-working
		}()
		order <- s
		return nil
	})
	close(order)
	<-ended
	if failed != nil {
		return failed
	}
	return err
}
