package sinktest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/symlake/symlake/sinks"
)

// swapAll: each change is a swap of its own. A conflict keeps no other change back. Changes of one key happen in
// order.
func swapAll(t *testing.T, open func() *sinks.Store) {
	s, other := open(), open()
	a, b, c := []byte("a"), []byte("b"), []byte("c")
	set(t, s, "stays", nil, a)
	set(t, s, "changes", nil, a)
	set(t, s, "goes", nil, a)
	ch := func(key string, old, new []byte) sinks.Change {
		return sinks.Change{Key: []byte(key), Old: old, New: new}
	}
	changes := []sinks.Change{
		ch("zz", nil, a), ch("stays", b, c), ch("changes", a, b), ch("goes", a, nil), ch("absent", a, b), ch("absent", nil, nil),
		ch("empty", nil, []byte{}), ch("twice", nil, a), ch("twice", a, b), ch("twice", a, c), ch("twice", b, nil), ch("twice", nil, c),
		ch("stays", nil, c), ch("\x00\xff", nil, []byte("\x00\xff")), ch("large", nil, value([]byte("large"), 3<<20)), ch("large2", nil, value([]byte("l2"), 3<<20)),
	}
	conflicts := map[int]bool{1: true, 4: true, 9: true, 12: true}
	errs := s.Catalog.SwapAll(ctx, changes)
	if len(errs) != len(changes) {
		t.Fatalf("%d errors for %d changes", len(errs), len(changes))
	}
	for i, err := range errs {
		if conflicts[i] != errors.Is(err, sinks.ErrConflict) || !conflicts[i] && err != nil {
			t.Errorf("change %d of %q: %v", i, changes[i].Key, err)
		}
	}
	for key, want := range map[string][]byte{"zz": a, "stays": a, "changes": b, "goes": nil, "absent": nil, "empty": {}, "twice": c,
		"\x00\xff": []byte("\x00\xff"), "large": value([]byte("large"), 3<<20), "large2": value([]byte("l2"), 3<<20)} {
		if got := get(t, other, key); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%q is %.9q (nil: %v), want %.9q", key, got, got == nil, want)
		}
	}
	same := func(key string, new []byte) sinks.Change { return sinks.Change{Key: []byte(key), New: new, Same: true} }
	for i, err := range s.Catalog.SwapAll(ctx, []sinks.Change{same("same", a), same("same", a), ch("same", a, b), same("same 2", a), same("stays", a)}) {
		if is := i == 1 || i == 4; err != nil && !(is && errors.Is(err, sinks.ErrConflict)) {
			t.Errorf("change %d of a record with one meaning: %v", i, err)
		}
	}
	for key, want := range map[string][]byte{"same": b, "same 2": a, "stays": a} {
		if got := get(t, other, key); !bytes.Equal(got, want) {
			t.Errorf("%q is %q, want %q", key, got, want)
		}
	}
	if errs := s.Catalog.SwapAll(ctx, nil); len(errs) != 0 {
		t.Errorf("errors of no change: %v", errs)
	}
	mine := []byte("mine") // the caller keeps its slices
	if err := s.Catalog.SwapAll(ctx, []sinks.Change{ch("mine", nil, mine)})[0]; err != nil {
		t.Fatal(err)
	}
	copy(mine, "your")
	if got := get(t, s, "mine"); string(got) != "mine" {
		t.Errorf("a record changed with its writer's slice: %q", got)
	}
}

// swapAlls: many writers count the same records up, many records in each call. None is lost, none counted twice.
func swapAlls(t *testing.T, open func() *sinks.Store) {
	stores := []*sinks.Store{open(), open()}
	const workers, rounds, counters = 4, 6, 40
	keys := make([][]byte, counters)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "count %02d", i)
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			c := stores[w%len(stores)].Catalog
			for range rounds {
				left := keys
				for len(left) > 0 {
					values, err := c.GetAll(ctx, left)
					if err != nil {
						t.Error(err)
						return
					}
					changes := make([]sinks.Change, len(left))
					for i, old := range values {
						n := uint64(0)
						if old != nil {
							n = binary.BigEndian.Uint64(old)
						}
						changes[i] = sinks.Change{Key: left[i], Old: old, New: binary.BigEndian.AppendUint64(nil, n+1)}
					}
					var again [][]byte
					for i, err := range c.SwapAll(ctx, changes) {
						switch {
						case errors.Is(err, sinks.ErrConflict):
							again = append(again, left[i])
						case err != nil:
							t.Error(err)
							return
						}
					}
					left = again
				}
			}
		})
	}
	wg.Wait()
	for _, key := range keys {
		if v := get(t, stores[0], string(key)); len(v) != 8 || binary.BigEndian.Uint64(v) != workers*rounds {
			t.Fatalf("%q counted to %x, want %d", key, v, workers*rounds)
		}
	}
}

// getAll: answers come in the order of the keys, nil for an absent key, also more than one request carries.
func getAll(t *testing.T, open func() *sinks.Store) {
	s := open()
	const n = 2500
	changes := make([]sinks.Change, n)
	for i := range changes {
		changes[i] = sinks.Change{Key: fmt.Appendf(nil, "%05d", 2*i), New: fmt.Appendf(nil, "value %d", 2*i)}
	}
	if err := errors.Join(s.Catalog.SwapAll(ctx, changes)...); err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	for i := range 2 * n {
		keys = append(keys, fmt.Appendf(nil, "%05d", (i*1234567)%(2*n)))
	}
	keys = append(keys, keys[0])
	values, err := s.Catalog.GetAll(ctx, keys)
	if err != nil || len(values) != len(keys) {
		t.Fatalf("%d values of %d keys, %v", len(values), len(keys), err)
	}
	for i, key := range keys {
		at, err := strconv.Atoi(string(key))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint("value ", at)
		if at%2 == 1 {
			want = ""
		}
		if string(values[i]) != want || (values[i] == nil) != (want == "") {
			t.Fatalf("%q is %q, want %q", key, values[i], want)
		}
	}
	if values, err := s.Catalog.GetAll(ctx, nil); err != nil || len(values) != 0 {
		t.Fatalf("%d values of no key, %v", len(values), err)
	}
}
