// Command go-queue passes work through channels: generics, closures, methods of interfaces, goroutines.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"profile/busy"
)

type task interface{ do() uint64 }

type hash struct{ seed uint64 }

func (h hash) do() uint64 {
	x := h.seed
	for i := range 500 {
		x = mix(x, uint64(i))
	}
	return x
}

type sieve struct{ below int }

func (s *sieve) do() uint64 {
	composite := make([]bool, s.below)
	sum := uint64(0)
	for i := 2; i < s.below; i++ {
		if composite[i] {
			continue
		}
		sum += uint64(i)
		for k := i * i; k < s.below; k += i {
			composite[k] = true
		}
	}
	return sum
}

func mix(a, b uint64) uint64 {
	a ^= b + 0x9e3779b97f4a7c15 + a<<6 + a>>2
	return a * 0xff51afd7ed558ccd
}

type queue[T any] struct {
	items chan T
	wait  sync.WaitGroup
}

func start[T any](workers int, each func(T)) *queue[T] {
	q := &queue[T]{items: make(chan T, 64)}
	for range workers {
		q.wait.Go(func() {
			for item := range q.items {
				each(item)
			}
		})
	}
	return q
}

func (q *queue[T]) put(item T) { q.items <- item }

func (q *queue[T]) end() {
	close(q.items)
	q.wait.Wait()
}

func main() {
	b := busy.Begin()
	defer b.End()
	var mu sync.Mutex
	sum := uint64(0)
	q := start(2, func(t task) {
		n := t.do()
		mu.Lock()
		defer mu.Unlock()
		sum += n
	})
	for i := 0; time.Now().Before(b.Until); i++ {
		if i%8 == 0 {
			q.put(&sieve{below: 2000 + i%1000})
		} else {
			q.put(hash{uint64(i)})
		}
	}
	q.end()
	fmt.Fprintln(os.Stdout, sum)
}
