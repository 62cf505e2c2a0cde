//go:build unix

package lookup_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

// BenchmarkLookupWarm asks at random addresses of an image with the inline depth of
// heavy C++ (3.8 frames an address): one question a call, and 100,000 a call.
func BenchmarkLookupWarm(b *testing.B) {
	w := lookuptest.NewWorld(b)
	im := lookuptest.NewImage(lookuptest.CartID, "ceph-osd", 200_000)
	im.Depth = 9
	loaded := w.Publish(im)
	r := rand.New(rand.NewPCG(1, 2))
	qs := make([]lookup.Query, 100_000)
	for i := range qs {
		qs[i] = lookup.Query{Artifact: im.ID, Where: symbol.Where{Space: symbol.Unslid, Value: lookuptest.ImageBase + r.Uint64N(uint64(im.Functions)*64)}}
	}
	for _, mangled := range []bool{true, false} {
		c := lookup.New(w.Store, w.KEK, lookup.Options{NoDemangle: mangled, CacheBytes: 1 << 30})
		frames := 0
		lookuptest.NoError(b, c.Frames(b.Context(), qs, func(_ int, a symbol.Answer) { frames += len(a.Frames) }))
		b.Run(fmt.Sprintf("mangled=%v/single", mangled), func(b *testing.B) {
			b.ReportAllocs()
			began := formattest.Spent(b)
			for i := range b.N {
				c.Lookup(b.Context(), qs[i%len(qs)])
			}
			b.ReportMetric(float64(formattest.Spent(b)-began)/float64(b.N), "cpu-ns/op")
		})
		b.Run(fmt.Sprintf("mangled=%v/batch", mangled), func(b *testing.B) {
			b.ReportAllocs()
			began := formattest.Spent(b)
			for n := 0; n < b.N; {
				part := qs[:min(len(qs), b.N-n)]
				lookuptest.NoError(b, c.Frames(context.Background(), part, func(int, symbol.Answer) {}))
				n += len(part)
			}
			b.ReportMetric(float64(formattest.Spent(b)-began)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(frames)/float64(len(qs)), "frames/op")
		})
	}
	b.Logf("%d ranges in %d rows, %d bytes", loaded.Ranges, loaded.Rows, loaded.Bytes)
}

// BenchmarkLookupCold opens every block of the image: decode and decrypt.
func BenchmarkLookupCold(b *testing.B) {
	w := lookuptest.NewWorld(b)
	im := lookuptest.NewImage(lookuptest.CartID, "ceph-osd", 50_000)
	im.Depth = 9
	w.Publish(im)
	var qs []lookup.Query
	for pos := uint64(0); pos < im.End; pos += 4096 {
		qs = append(qs, lookuptest.At(im.ID, pos))
	}
	b.ResetTimer()
	start := time.Now()
	for range b.N {
		lookuptest.NoError(b, lookup.New(w.Store, w.KEK, lookup.Options{}).Frames(b.Context(), qs, func(int, symbol.Answer) {}))
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/float64(b.N)/float64(w.Blocks.Spans.Load()/int64(b.N)), "µs/row")
}
