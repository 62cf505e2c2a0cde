package pprof

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// BenchmarkAnswer answers a profile of a million samples, with thirty frames each from 20,000 places.
func BenchmarkAnswer(b *testing.B) {
	const places = 20000
	var p builder
	p.put(profileType, p.string("samples"), p.string("count"))
	p.put(profileMapping, 1, 0x7f0000000000, 0x7f00ffffffff, 0, p.string("libcart.so"))
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range places {
		p.put(profileLocation, uint64(i+1), 1, 0x7f0000000000+uint64(i)*0x9e3779b1%0xffffffff)
	}
	stack := make([]uint64, 30)
	for range 1_000_000 {
		for i := range stack {
			stack[i] = 1 + rnd.Uint64N(places)
		}
		p.sample(1, stack...)
	}
	data := p.strings().b
	o := func() *profile.Options {
		return &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
			a := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Linkage: "_ZN4shop4Cart3addEi", File: "cart.cpp"}}}
			for i := range frames {
				a.Frames[0].Line = uint32(frames[i].At.Value)
				answer(i, &a)
			}
			return nil
		}}
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Format.Answer(b.Context(), profile.Bytes("x", data), io.Discard, o()); err != nil {
			b.Fatal(err)
		}
	}
}
