package stored

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// countedBlocks counts the reads.
type countedBlocks struct {
	sinks.Blocks
	scans, firsts, rows int
}

func (c *countedBlocks) Scan(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	c.scans++
	return c.Blocks.Scan(ctx, s, func(r sinks.Row) error {
		c.rows++
		return emit(r)
	})
}

func (c *countedBlocks) First(ctx context.Context, spans []sinks.Span, found func(int, sinks.Row, error)) error {
	c.firsts++
	return c.Blocks.First(ctx, spans, found)
}

// Strays finds the loads that no record names: among small and large loads, before the first, behind the last, and
// several in one gap.
func TestStrays(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := mem.New()
		b, err := s.Blocks.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var known []Known
		want := map[Load]bool{}
		large := rng.IntN(3) * 20 // in a hundred
		for i := range rng.IntN(600) {
			l := Load{symbol.ID{byte(rng.IntN(256)), byte(i >> 8), byte(i)}, sinks.Load{byte(rng.IntN(4))}}
			rows, value := 1, make([]byte, 100)
			if rng.IntN(100) < large {
				rows, value = 20, make([]byte, 8<<10)
			}
			if rng.IntN(10) == 0 {
				rows = 0 // a record without rows
			}
			for r := range rows {
				if err := b.Write(sinks.Row{Key: append(row.LoadPrefix(l.Artifact, l.ID), byte(r)), Value: value}); err != nil {
					t.Fatal(err)
				}
			}
			if rng.IntN(20) > 0 {
				known = append(known, Known{l, uint64(rows * len(value))})
			} else if rows > 0 {
				want[l] = true
			}
		}
		if err := b.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := map[Load]bool{}
		err = Strays(t.Context(), s.Blocks, known, func(id symbol.ID, l sinks.Load) error {
			if got[Load{id, l}] {
				t.Errorf("seed %d: twice %s", seed, id)
			}
			got[Load{id, l}] = true
			return nil
		})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("seed %d: %d strays, want %d: %v", seed, len(got), len(want), err)
		}
	}
}

// Small loads cost a scan together. Large loads are not read.
func TestStraysCost(t *testing.T) {
	s := mem.New()
	b, err := s.Blocks.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var known []Known
	const n = 3000
	for i := range n {
		l := Load{symbol.ID{byte(i >> 8), byte(i)}, sinks.Load{1}}
		rows := 1
		if i >= n/2 {
			rows = 100
		}
		for r := range rows {
			if err := b.Write(sinks.Row{Key: append(row.LoadPrefix(l.Artifact, l.ID), byte(r)), Value: make([]byte, 400)}); err != nil {
				t.Fatal(err)
			}
		}
		known = append(known, Known{l, uint64(rows) * 400})
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &countedBlocks{Blocks: s.Blocks}
	if err := Strays(t.Context(), c, known, func(id symbol.ID, _ sinks.Load) error { return fmt.Errorf("stray %s", id) }); err != nil {
		t.Fatal(err)
	}
	if c.scans > 2 || c.firsts > n/2/haveRowsAtOnce+2 || c.rows > n/2+100 {
		t.Errorf("%d scans of %d rows, and %d questions for %d loads", c.scans, c.rows, c.firsts, n)
	}
}
