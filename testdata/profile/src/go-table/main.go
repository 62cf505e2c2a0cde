// Command go-table sorts and joins rows: maps, method values, recursion, iterators, a panic that is recovered.
package main

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"profile/busy"
)

type row struct {
	key   string
	value int
}

type table []row

func (t table) keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, r := range t {
			if !yield(r.key) {
				return
			}
		}
	}
}

func (t table) byKey() map[string][]row {
	m := map[string][]row{}
	for _, r := range t {
		m[r.key] = append(m[r.key], r)
	}
	return m
}

func join(a, b table) (joined table) {
	right := b.byKey()
	for _, r := range a {
		for _, other := range right[r.key] {
			joined = append(joined, row{r.key, r.value + other.value})
		}
	}
	slices.SortFunc(joined, func(x, y row) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.value, y.value)) })
	return joined
}

func depth(n int) int {
	if n < 2 {
		return n
	}
	return depth(n-1) + depth(n-2)
}

func safely(f func() int) (n int) {
	defer func() {
		if recover() != nil {
			n = -1
		}
	}()
	return f()
}

type walker struct{ steps int }

func (w *walker) walk() int {
	w.steps++
	if w.steps%3 == 0 {
		panic("tired")
	}
	return depth(12)
}

func main() {
	b := busy.Begin()
	defer b.End()
	w := &walker{}
	sum := 0
	for time.Now().Before(b.Until) {
		var left, right table
		for i := range 2000 {
			left = append(left, row{strconv.Itoa(i * 7 % 1000), i})
			right = append(right, row{strconv.Itoa(i * 13 % 1000), -i})
		}
		sum += len(join(left, right))
		sum += len(slices.Sorted(maps.Keys(left.byKey())))
		for k := range left.keys() {
			sum += len(k)
		}
		for range 100 {
			sum += safely(w.walk)
		}
	}
	fmt.Println(sum)
}
