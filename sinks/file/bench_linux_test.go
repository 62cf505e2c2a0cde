package file

import (
	"sync/atomic"
	"testing"

	"github.com/symlake/symlake/sinks"
)

func BenchmarkFirst(b *testing.B) {
	s := openStore(b, b.TempDir(), Options{})
	for n := range 50 {
		if err := commit(s, n); err != nil {
			b.Fatal(err)
		}
	}
	var spans [50]sinks.Span
	for n := range spans {
		p := sinks.Prefix(prefixOf(n))
		spans[n] = sinks.Span{From: p[:], Stop: p.Next()}
	}
	for i := 0; b.Loop(); i++ {
		if err := s.Blocks.First(ctx, spans[i%50:i%50+1], func(_ int, r sinks.Row, err error) {
			if err != nil || r.Key == nil {
				b.Error("no row", err)
			}
		}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProcess is a whole cold process: start, open, a record, a row.
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	s := openStore(b, dir, Options{})
	for n := range 50 {
		publishOne(b, s, n+1)
	}
	s.Close()
	for b.Loop() {
		if out, err := child(b, "lookup", dir).Output(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}

func BenchmarkSwap(b *testing.B) {
	s := openStore(b, b.TempDir(), Options{})
	b.SetParallelism(8)
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Catalog.Swap(ctx, publishKey(int(n.Add(1))), nil, make([]byte, 500)); err != nil {
				b.Error(err)
			}
		}
	})
}
