// Package sinktest is the suite that every store passes: what sinks.go
// promises, at its edges. It looks at nothing but the contract, so how a store
// keeps its promises (files, locks, crashes) is for the store's own tests.
package sinktest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symlake/symlake/sinks"
)

// Run tests the store that open gives. A test has one store, empty at first:
// open called again with the same t opens the same data once more, as another
// process would, whether the first is closed or not. The suite closes what it opens.
func Run(t *testing.T, open func(t *testing.T) *sinks.Store) {
	for _, s := range []struct {
		name string
		test func(t *testing.T, open func() *sinks.Store)
	}{
		{"batch visibility", visibility},
		{"batch refuses", refuses},
		{"batch with nothing", nothing},
		{"first", first},
		{"first of many", firstOfMany},
		{"scan", scan},
		{"many loads in one batch", manyLoads},
		{"big load among small ones", bigLoad},
		{"big values", bigValues},
		{"random batches", random},
		{"load written again", again},
		{"drop", drop},
		{"tidy", tidy},
		{"context", contexts},
		{"swap", swap},
		{"swap, many at once", swaps},
		{"swap all", swapAll},
		{"swap all, many at once", swapAlls},
		{"get all", getAll},
		{"list", list},
		{"list beside changes", changing},
		{"counters", counters},
		{"reopen", reopen},
		{"readers beside a writer", beside},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.test(t, func() *sinks.Store {
				store := open(t)
				t.Cleanup(func() { _ = store.Close() })
				return store
			})
		})
	}
}

// ctx is for calls that run to their end.
var ctx = context.Background()

// load names a load by two numbers.
func load(artifact, n int) []byte {
	p := make([]byte, sinks.PrefixBytes)
	binary.BigEndian.PutUint64(p, uint64(artifact)*0x9e3779b97f4a7c15) // as hashed ids spread
	binary.BigEndian.PutUint64(p[16:], uint64(n))
	return p
}

// key returns the key of a row of kind 1.
func key(prefix []byte, last uint64) []byte {
	return binary.BigEndian.AppendUint64(append(bytes.Clone(prefix), 1), last)
}

// span is what a lookup asks for: from a position to the end of its kind.
func span(prefix []byte, pos uint64) sinks.Span {
	return sinks.Span{From: key(prefix, pos), Stop: append(bytes.Clone(prefix), 2)}
}

// value is of n bytes that depend on the key and do not compress.
func value(key []byte, n int) []byte {
	var seed [32]byte
	for i, c := range key {
		seed[i%32] ^= c
	}
	v := make([]byte, n)
	rng := rand.NewChaCha8(seed)
	rng.Read(v)
	return v
}

// rows of a load: their last positions are 9, 19, 29, …
func rows(prefix []byte, n, valueBytes int) []sinks.Row {
	list := make([]sinks.Row, n)
	for i := range list {
		k := key(prefix, uint64(i)*10+9)
		list[i] = sinks.Row{Key: k, Value: value(k, valueBytes)}
	}
	return list
}

// commit writes rows in one batch.
func commit(t testing.TB, s *sinks.Store, rows ...[]sinks.Row) {
	t.Helper()
	b := begin(t, s)
	defer b.Abort()
	put(t, b, rows...)
	if err := b.Commit(ctx); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

func begin(t testing.TB, s *sinks.Store) sinks.Batch {
	t.Helper()
	b, err := s.Blocks.Begin(ctx)
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	return b
}

func put(t testing.TB, b sinks.Batch, rows ...[]sinks.Row) {
	t.Helper()
	for _, r := range slices.Concat(rows...) {
		if err := b.Write(r); err != nil {
			t.Fatalf("write: %v", err)
		}
	}
}

// one asks for the first row of one span.
func one(t testing.TB, s *sinks.Store, at sinks.Span) sinks.Row {
	t.Helper()
	var row sinks.Row
	calls := 0
	err := s.Blocks.First(ctx, []sinks.Span{at}, func(_ int, r sinks.Row, err error) {
		if err != nil {
			t.Errorf("first in [%x, %x): %v", at.From, at.Stop, err)
		}
		row = r
		calls++
	})
	if err != nil || calls != 1 {
		t.Fatalf("first in [%x, %x): %v, %d answers", at.From, at.Stop, err, calls)
	}
	return row
}

// all scans a span.
func all(t testing.TB, s *sinks.Store, at sinks.Span) []sinks.Row {
	t.Helper()
	var list []sinks.Row
	if err := s.Blocks.Scan(ctx, at, func(r sinks.Row) error {
		list = append(list, r)
		return nil
	}); err != nil {
		t.Fatalf("scan [%x, %x): %v", at.From, at.Stop, err)
	}
	return list
}

func same(t testing.TB, got, want []sinks.Row) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		sameRow(t, got[i], want[i])
	}
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
}

func sameRow(t testing.TB, got, want sinks.Row) {
	t.Helper()
	if !bytes.Equal(got.Key, want.Key) {
		t.Fatalf("row %x, want %x", got.Key, want.Key)
	}
	if !bytes.Equal(got.Value, want.Value) {
		t.Fatalf("row %x has another value (%d bytes, want %d)", got.Key, len(got.Value), len(want.Value))
	}
}

// ordered is every row, as a scan of the whole store gives it.
func ordered(rows ...[]sinks.Row) []sinks.Row {
	list := slices.Concat(rows...)
	slices.SortFunc(list, func(x, y sinks.Row) int { return bytes.Compare(x.Key, y.Key) })
	return list
}

var errEnough = errors.New("enough")
