package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

type input struct {
	order uint64
	run   symbol.Run
}

// source hands out copies of runs in their order.
func source(in []input) Source[uint64] {
	slices.SortFunc(in, func(a, b input) int {
		return cmp.Or(cmp.Compare(a.run.Ranges[0].Start, b.run.Ranges[0].Start), cmp.Compare(a.order, b.order))
	})
	return func(into *symbol.Run) (uint64, bool, error) {
		if len(in) == 0 {
			return 0, false, nil
		}
		n := in[0]
		in = in[1:]
		into.Rank, into.Strings = n.run.Rank, n.run.Strings
		into.Ranges = append(into.Ranges[:0], n.run.Ranges...)
		into.Scopes = append(into.Scopes[:0], n.run.Scopes...)
		return n.order, true, nil
	}
}

func answer(r *symbol.Run, i int) string { return fmt.Sprint(r.Chain(i, nil)) }

// paint answers every position below end by looking at every run.
func paint(in []input, end uint64) []string {
	out := make([]string, end)
	best := make([]uint64, end)
	for _, n := range in {
		for i, g := range n.run.Ranges {
			for p := g.Start; p < g.End; p++ {
				if out[p] == "" || n.order < best[p] {
					out[p], best[p] = answer(&n.run, i), n.order
				}
			}
		}
	}
	return out
}

func random(r *rand.Rand, n int, end uint64) []input {
	strs := []string{"", "a", "b", "c", "d", "e", "f", "g", "x.c", "y.c"}
	in := make([]input, n)
	for k := range in {
		run := symbol.Run{Rank: symbol.Rank(1 + r.IntN(4)), Strings: strs}
		for i := range 1 + r.IntN(6) {
			run.Scopes = append(run.Scopes, symbol.Scope{Parent: int32(r.IntN(i+1)) - 1, Function: uint32(r.IntN(8)), Call: symbol.Site{File: uint32(8 + r.IntN(2)), Line: uint32(r.IntN(4))}})
		}
		at := uint64(r.IntN(int(end) - 1))
		if r.IntN(3) == 0 && k > 0 { // the same start as another
			at = in[r.IntN(k)].run.Ranges[0].Start
		}
		for range 1 + r.IntN(8) {
			to := min(at+1+uint64(r.IntN(1+r.IntN(60))), end)
			if to <= at {
				break
			}
			run.Ranges = append(run.Ranges, symbol.Range{Start: at, End: to, Scope: int32(r.IntN(len(run.Scopes))), At: symbol.Site{Line: uint32(r.IntN(3))}})
			at = to
		}
		in[k] = input{uint64(run.Rank)<<32 | uint64(k), run}
	}
	return in
}

// The sweep answers every position as a look at every run does, and
// what it emits is disjoint, ascending, contiguous and has no equal neighbors.
func TestSweepEqualsPainter(t *testing.T) {
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1))
		const end = 400
		in := random(r, 1+r.IntN(40), end)
		want := paint(in, end)
		got := make([]string, end)
		var at, ranges uint64
		var covered, lines, inline uint64
		counts, err := Sweep(source(in), func(run *symbol.Run) error {
			if run.Ranges[0].Start < at {
				t.Fatalf("seed %d: run at %d after %d", seed, run.Ranges[0].Start, at)
			}
			at = run.Ranges[0].Start
			for i, g := range run.Ranges {
				if g.Start != at || g.End <= at {
					t.Fatalf("seed %d: range [%d,%d) at %d", seed, g.Start, g.End, at)
				}
				if i > 0 && run.Ranges[i-1].Scope == g.Scope && run.Ranges[i-1].At == g.At {
					t.Fatalf("seed %d: equal neighbors at %d", seed, g.Start)
				}
				frames := run.Chain(i, nil)
				for p := g.Start; p < g.End; p++ {
					got[p] = answer(run, i)
					covered++
					if frames[0].Line != 0 {
						lines++
					}
					if len(frames) > 1 {
						inline++
					}
				}
				at = g.End
				ranges++
			}
			for i, s := range run.Scopes {
				if int(s.Parent) >= i {
					t.Fatalf("seed %d: scope %d below its parent %d", seed, i, s.Parent)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !slices.Equal(got, want) {
			for p := range got {
				if got[p] != want[p] {
					t.Fatalf("seed %d: position %d: %q, want %q", seed, p, got[p], want[p])
				}
			}
		}
		if counts.Covered != covered || counts.WithLine != lines || counts.WithInline != inline || counts.Ranges != ranges {
			t.Fatalf("seed %d: counts %+v, want %d covered, %d with line, %d inline, %d ranges", seed, counts, covered, lines, inline, ranges)
		}
	}
}

func one(order, start, end uint64, line uint32) input {
	return input{order, symbol.Run{Strings: []string{"", "f"}, Ranges: []symbol.Range{{Start: start, End: end, At: symbol.Site{Line: line}}}, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}}}
}

// A symbol that holds a function keeps its parts on both sides.
func TestSweepClips(t *testing.T) {
	var got []string
	_, err := Sweep(source([]input{one(3, 100, 500, 0), one(1, 200, 300, 7)}), func(r *symbol.Run) error {
		got = append(got, fmt.Sprintf("%d-%d:%d", r.Ranges[0].Start, r.Ranges[0].End, r.Ranges[0].At.Line))
		return nil
	})
	if want := []string{"100-200:0", "200-300:7", "300-500:0"}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v %v, want %v", got, err, want)
	}
}

// The last address is an address like any other.
func TestSweepTopOfSpace(t *testing.T) {
	const top = ^uint64(0)
	var got []symbol.Range
	_, err := Sweep(source([]input{one(3, top-16, top, 1), one(1, top-8, top, 2)}), func(r *symbol.Run) error {
		got = append(got, r.Ranges...)
		return nil
	})
	if err != nil || len(got) != 2 || got[1].Start != top-8 || got[1].End != top {
		t.Fatalf("%+v %v", got, err)
	}
}

// A winner that begins under many others is one piece, and what they shadow is
// not kept: the work grows with the runs.
func TestSweepShadowed(t *testing.T) {
	const n = 200_000
	in := []input{one(0, 0, n+1, 1)}
	for i := range uint64(n) {
		in = append(in, one(i+1, i, n+1, 2))
	}
	runs := 0
	counts, err := Sweep(source(in), func(*symbol.Run) error { runs++; return nil })
	if err != nil || runs != 1 || counts.Covered != n+1 {
		t.Fatalf("%d runs, %+v, %v", runs, counts, err)
	}
}

// codeSource hands out code as the sweep holds it.
func codeSource(in []input) ScriptSource[uint64] {
	next := source(in)
	return func(into *symbol.Script) (uint64, bool, error) { return next(&into.Run) }
}

// Runs that neither shadow nor outlast each other are all kept, up to a limit.
func TestSweepLimit(t *testing.T) {
	var in []input
	for i := range uint64(1000) { // each worse than the one before, and longer
		in = append(in, one(i, i, 10_000+i*2, 1))
	}
	s := &sweeper{emit: func(*symbol.Script) error { return nil }, limit: 20_000}
	if err := run(s, codeSource(in)); !errors.Is(err, formats.ErrLimit) {
		t.Fatal(err)
	}
	s = &sweeper{emit: s.emit, limit: 1 << 20}
	if err := run(s, codeSource(in)); err != nil || s.counts.Covered != 10_000+999*2 || s.bytes != 0 {
		t.Fatal(err, s.counts, s.bytes)
	}
}
