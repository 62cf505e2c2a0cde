package loads

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// One look-up: the row of a position, and its whole inline chain.
func BenchmarkFind(b *testing.B) {
	l := realSynthetic(b)
	o := l.open(b)
	blocks := l.blocks(b, o)
	rnd := rand.New(rand.NewPCG(1, 1))
	pos := make([]uint64, 1<<16)
	for i := range pos {
		r := l.runs[rnd.IntN(len(l.runs))].Ranges
		pos[i] = r[rnd.IntN(len(r))].Start
	}
	to := make([]symbol.Frame, 0, 64)
	frames, n := 0, 0
	for b.Loop() {
		p := pos[n&(len(pos)-1)]
		i, _ := o.Index(p)
		to, _ = blocks[i].Find(p, to[:0])
		frames += len(to)
		n++
	}
	b.ReportMetric(float64(frames)/float64(n), "frames/op")
}

// Encode, code and seal all ranges of a load.
func BenchmarkEncode(b *testing.B) {
	k, _ := newRing(b)
	strs, runs := rowtest.Synthetic(2000, 60)
	t := tableOf(strs, runs)
	a := artifact(1 << 30)
	var out *row.Loaded
	for b.Loop() {
		e, err := NewEncoder(k, &a, row.NewLoad(time.Now()), nil, t, func(sinks.Row) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range runs {
			if err := e.Add(r); err != nil {
				b.Fatal(err)
			}
		}
		if out, err = e.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(out.Bytes)/float64(out.Ranges), "B/range")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(out.Ranges), "ns/range")
}

// What a cold look-up pays for its row.
func BenchmarkOpenBlock(b *testing.B) {
	l := realSynthetic(b)
	o := l.open(b)
	r := l.row(o.Row(3))
	for b.Loop() {
		if _, err := o.Block(3, r); err != nil {
			b.Fatal(err)
		}
	}
}

// What a cold look-up pays for its load: key, fence, dictionary and the names
// of one answer.
func BenchmarkOpenLoad(b *testing.B) {
	l := realSynthetic(b)
	r := l.row(l.open(b).Row(3))
	for b.Loop() {
		o := l.open(b)
		block, err := o.Block(3, r)
		if err != nil {
			b.Fatal(err)
		}
		block.Find(o.first[3]+20, nil)
	}
}
