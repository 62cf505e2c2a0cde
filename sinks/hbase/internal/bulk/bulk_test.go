package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/symlake/symlake/sinks"
)

func seeded(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func splits() [][]byte { return [][]byte{{0x20}, {0x40}, {0x80}, {0x80, 0x01}, {0xf0}} }

func sorted(all [][]sinks.Row) [][]sinks.Row {
	return slices.SortedFunc(slices.Values(all), func(x, y []sinks.Row) int { return bytes.Compare(x[0].Key, y[0].Key) })
}

// One file a region, in any order of loads and for the smallest buffer.
func TestOneFileARegion(t *testing.T) {
	rng := seeded(t)
	all := loads(rng, 300, 20, 2000)
	inOrder := sorted(all)
	for _, c := range []struct {
		name   string
		all    [][]sinks.Row
		buffer int
	}{{"any order", all, 1 << 30}, {"in passes", all, 100 << 10}, {"row by row", all[:60], 1}, {"in order", inOrder, 64 << 10}} {
		t.Run(c.name, func(t *testing.T) {
			table := newCluster(t, splits()...)
			b := table.batch(c.buffer)
			defer b.Abort()
			write(t, b, c.all)
			if err := b.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			table.holds(c.all...)
			regions := make(map[string]bool)
			for _, rows := range c.all {
				r, err := find(table.regions, rows[0].Key)
				if err != nil {
					t.Fatal(err)
				}
				regions[string(r.Start)] = true
			}
			if table.files != len(regions) {
				t.Errorf("%d files for %d regions", table.files, len(regions))
			}
		})
	}
}

// Rows that come in order are staged once: nothing is merged.
func TestInOrderIsWrittenOnce(t *testing.T) {
	table := newCluster(t, splits()...)
	b := table.batch(32 << 10)
	defer b.Abort()
	write(t, b, sorted(loads(seeded(t), 200, 20, 2000)))
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(b.stage.files); n >= len(table.regions) {
		t.Errorf("%d files closed for %d regions", n, len(table.regions))
	}
}

// Regions split and merge between the cut and every load: the files are cut again.
func TestBoundariesChange(t *testing.T) {
	for _, moves := range []bool{false, true} {
		rng := seeded(t)
		all := loads(rng, 300, 20, 500)
		table := newCluster(t, splits()...)
		table.moves = moves
		n := 0
		table.before = func(c *cluster, row []byte) error {
			c.mu.Lock()
			n++
			now, at := n, all[rng.IntN(len(all))][0].Key // regions are delivered at once
			c.mu.Unlock()
			switch {
			case now == 4:
				c.merge()
			case now < 12:
				c.split(at[:1+now%24]) // also within an artifact
			}
			return nil
		}
		b := table.batch(1 << 20)
		write(t, b, all)
		if err := b.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		table.holds(all...)
	}
}

// An answer that was lost, before or after the load was done.
func TestUnclear(t *testing.T) {
	for _, moves := range []bool{false, true} {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("moves %v, done %v", moves, done), func(t *testing.T) {
				all := loads(seeded(t), 100, 20, 500)
				table := newCluster(t, splits()...)
				table.moves = moves
				lost := make(map[string]bool)
				lose := func(row []byte) error {
					if lost[string(row)] {
						return nil
					}
					lost[string(row)] = true
					return fmt.Errorf("load: %w", ErrUnclear)
				}
				if done {
					table.after = lose
				} else {
					table.before = func(c *cluster, row []byte) error {
						c.mu.Lock()
						defer c.mu.Unlock()
						return lose(row)
					}
				}
				b := table.batch(1 << 20)
				write(t, b, all)
				if err := b.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				table.holds(all...)
			})
		}
	}
}

var errDown = errors.New("java.io.IOException: no space left on device")

// A refusal ends the batch with its words, and nothing stays staged.
func TestRefused(t *testing.T) {
	all := loads(seeded(t), 100, 20, 500)
	table := newCluster(t, splits()...)
	n := 0
	table.before = func(c *cluster, _ []byte) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if n++; n > 2 {
			return errDown
		}
		return nil
	}
	b := table.batch(1 << 20)
	write(t, b, all)
	err := b.Commit(t.Context())
	if !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	b.Abort()
	if len(table.dirs) != 0 {
		t.Fatal("the staging folder is left")
	}
	// The same rows again, in another batch.
	table.before = nil
	b = table.batch(1 << 20)
	write(t, b, all)
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	table.holds(all...)
}

// A file that vanished with its rows is an error, not a success.
func TestLost(t *testing.T) {
	all := loads(seeded(t), 20, 5, 500)
	table := newCluster(t)
	table.before = func(c *cluster, _ []byte) error {
		for dir := range c.dirs {
			if err := os.RemoveAll(dir[len("file:"):] + "/" + family); err != nil {
				t.Error(err)
			}
		}
		return ErrUnclear
	}
	b := table.batch(1 << 20)
	defer b.Abort()
	b.o.To.(*Loader).Now = clock(settleTime)
	write(t, b, all)
	if err := b.Commit(t.Context()); !errors.Is(err, errGone) {
		t.Fatal(err)
	}
}
