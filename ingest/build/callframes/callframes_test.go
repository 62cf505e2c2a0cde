package callframes

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
	"github.com/symlake/symlake/sinks/scratch"
)

// table makes rules, and rules 0.
func table(n int) []string {
	all := []string{""}
	for i := range n {
		r := unwind.Rules{CFA: unwind.Rule{How: unwind.Register, Reg: 7, Offset: int64(8 * i)}}
		all = append(all, string(r.Append(nil)))
	}
	return all
}

func sorter(t *testing.T, budget int64, lim formats.Limits) *Sorter {
	lim = lim.WithDefaults()
	b := scratch.NewBudget(budget)
	s := New(Options{Budget: b, Scratch: t.TempDir(), Limits: &lim, RuleBytes: 1 << 20})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if b.Used() != 0 {
			t.Errorf("%d bytes of the budget are not given back", b.Used())
		}
	})
	return s
}

func swept(t *testing.T, s *Sorter) (ranges []symbol.UnwindRange) {
	t.Helper()
	if err := s.Each(t.Context(), func(g symbol.UnwindRange) error { ranges = append(ranges, g); return nil }); err != nil {
		t.Fatal(err)
	}
	return ranges
}

// Pieces that overlap in any way come out as the plainest thing says, from memory and from disk, and each time.
func TestSweep(t *testing.T) {
	t.Parallel()
	for seed, c := range []struct {
		pieces, most int
		budget       int64
		space        uint64
	}{{300, 4, 1 << 30, 500}, {20_000, 50, 1 << 30, 1 << 20}, {20_000, 3, 1 << 30, 1 << 12}, {120_000, 64, 1 << 19, 1 << 22}} {
		r := rand.New(rand.NewPCG(uint64(seed), 28))
		rules := table(6)
		var pieces []*symbol.Unwind
		for n := 0; n < c.pieces; {
			u := &symbol.Unwind{Rank: symbol.UnwindRank(1 + r.IntN(3)), Rules: rules}
			for range 1 + r.IntN(c.most) {
				start := r.Uint64N(c.space)
				u.Ranges = append(u.Ranges, symbol.UnwindRange{Start: start, End: start + 1 + r.Uint64N(40), Rules: r.Uint32N(uint32(len(rules)))})
			}
			n += len(u.Ranges)
			pieces = append(pieces, u)
		}
		s := sorter(t, c.budget, formats.Limits{})
		a := &formats.Artifact{Unwind: func(_ context.Context, emit func(*symbol.Unwind) error) (q symbol.Quality, err error) {
			for _, u := range pieces {
				if err := emit(u); err != nil {
					return q, err
				}
			}
			return q, nil
		}}
		if _, err := a.Unwind(t.Context(), s.Add); err != nil {
			t.Fatal(err)
		}
		if disk := c.budget < 1<<20; (s.file != nil) != disk {
			t.Errorf("case %d: on disk: %t", seed, s.file != nil)
		}
		want := formattest.UnwindOf(t, &formats.Format{Name: "pieces"}, a)
		for range 2 {
			got := swept(t, s)
			same := slices.EqualFunc(got, want.Ranges, func(a, b symbol.UnwindRange) bool {
				return a.Start == b.Start && a.End == b.End && s.Rules()[a.Rules] == want.Rules[b.Rules]
			})
			if !same || s.Left != 0 {
				t.Fatalf("case %d: %d ranges, want %d, or others; %d left out", seed, len(got), len(want.Ranges), s.Left)
			}
		}
	}
}

// What breaks the contract or a limit is left out and counted. Nothing of the piece is kept.
func TestLeft(t *testing.T) {
	t.Parallel()
	s := sorter(t, 1<<30, formats.Limits{UnwindRanges: 6, UnwindRules: 3})
	rules := append(table(5), "nonsense")
	add := func(rank symbol.UnwindRank, ranges ...symbol.UnwindRange) {
		t.Helper()
		if err := s.Add(&symbol.Unwind{Rank: rank, Rules: rules, Ranges: ranges}); err != nil {
			t.Fatal(err)
		}
	}
	add(0, symbol.UnwindRange{Start: 0, End: 1, Rules: 1})
	add(4, symbol.UnwindRange{Start: 0, End: 1, Rules: 1})
	add(1, symbol.UnwindRange{Start: 1, End: 1, Rules: 1}, symbol.UnwindRange{Start: 1, End: math.MaxUint64, Rules: 1},
		symbol.UnwindRange{Start: 1, End: 2, Rules: 7}, symbol.UnwindRange{Start: 1, End: 2, Rules: 6})
	for i := range uint32(5) {
		add(1, symbol.UnwindRange{Start: uint64(i) * 2, End: uint64(i)*2 + 1, Rules: i + 1})
	}
	if got := swept(t, s); len(got) != 3 || s.Left != 6+2 {
		t.Errorf("%v, %d left out", got, s.Left)
	}
	for i := range uint64(5) {
		add(1, symbol.UnwindRange{Start: 100 + i*2, End: 101 + i*2, Rules: 1})
	}
	if got := swept(t, s); len(got) != 6 || s.Left != 8+2 {
		t.Errorf("%v, %d left out", got, s.Left)
	}
}

// Ranges without end that all overlap are bounded.
func TestOverlap(t *testing.T) {
	t.Parallel()
	s := sorter(t, 1<<30, formats.Limits{})
	u := &symbol.Unwind{Rank: 1, Rules: table(2)}
	for i := range uint64(maxOverlap + 1000) {
		u.Ranges = append(u.Ranges, symbol.UnwindRange{Start: i, End: 1<<40 + i, Rules: 1 + uint32(i%2)})
	}
	if err := s.Add(u); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := swept(t, s); len(got) == 0 || s.Left != 1000 {
			t.Errorf("%d ranges, %d left out", len(got), s.Left)
		}
	}
	enough := errors.New("enough")
	if err := s.Each(t.Context(), func(symbol.UnwindRange) error { return enough }); err != enough {
		t.Errorf("emit's error came back as %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Each(ctx, func(symbol.UnwindRange) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled sweep: %v", err)
	}
}
