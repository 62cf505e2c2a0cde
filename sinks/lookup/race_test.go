package lookup_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

// Many callers that ask for one cold block cost one scan, one record and one opening.
func TestOneScan(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 20)
	loaded := w.Publish(im)
	lookuptest.FailIf(t, loaded.Rows != 1, "%d rows", loaded.Rows)
	for round := range 50 {
		var callers atomic.Int64
		slow := func(context.Context) error {
			if round == 0 {
				formattest.Await(t, "all callers ask", func() bool { return callers.Load() == 16 })
			}
			return nil
		}
		w.Blocks.Before.Store(&slow)
		w.Blocks.Spans.Store(0)
		w.Values.Gets.Store(0)
		c := w.Client()
		lookuptest.Together(16, func(i int) {
			callers.Add(1)
			if i%2 == 0 {
				im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
			} else {
				im.Check(t, 20, lookuptest.Ask(t, c, lookuptest.At(im.ID, 20))[0])
			}
		})
		lookuptest.FailIf(t, w.Blocks.Spans.Load() > 2, "round %d: %d rows read: want the block and at most the shared strings", round, w.Blocks.Spans.Load())
		lookuptest.FailIf(t, w.Values.Gets.Load() != 1, "round %d: %d records read", round, w.Values.Gets.Load())
	}
}

// Batches that want each other's rows do not wait for each other for ever.
func TestBatchesCross(t *testing.T) {
	w := lookuptest.NewWorld(t)
	images := []*lookuptest.Image{lookuptest.NewImage(lookuptest.CartID, "libcart.so", 4000), lookuptest.NewImage(strings.Repeat("cd", 20), "libgame.so", 4000)}
	for _, im := range images {
		w.Publish(im)
	}
	for range 5 {
		c := w.ClientWith(lookup.Options{CacheBytes: 4 << 20})
		lookuptest.Together(8, func(i int) {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			var qs []lookup.Query
			for range 100 {
				im := images[r.IntN(2)]
				qs = append(qs, lookuptest.At(im.ID, r.Uint64N(im.End)))
			}
			for k, a := range lookuptest.Ask(t, c, qs...) {
				im := images[0]
				if qs[k].Artifact != im.ID {
					im = images[1]
				}
				im.Check(t, qs[k].Where.Value, a)
			}
		})
	}
}

// A caller that reads for others may give up; the others are answered all the same. TestFlightLeaderGivesUp has the
// case that the other caller waits already.
func TestLeaderGivesUp(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 20)
	w.Publish(im)
	// Whether the second caller is waiting already when the first one gives up is chance: many rounds have both.
	for range 50 {
		leaderGivesUp(t, w, im)
	}
}

func leaderGivesUp(t *testing.T, w *lookuptest.World, im *lookuptest.Image) {
	t.Helper()
	c := w.Client()
	arrived := make(chan struct{})
	var first atomic.Bool
	hold := func(ctx context.Context) error {
		if first.CompareAndSwap(false, true) {
			close(arrived)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	w.Blocks.Before.Store(&hold)
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error)
	go func() {
		gaveUp <- c.Frames(ctx, []lookup.Query{lookuptest.At(im.ID, 20)}, func(int, symbol.Answer) { t.Error("answered after cancel") })
	}()
	<-arrived
	answered := make(chan symbol.Answer)
	go func() { answered <- c.Lookup(t.Context(), lookuptest.At(im.ID, 20)) }()
	cancel()
	lookuptest.FailIf(t, !errors.Is(<-gaveUp, context.Canceled), "the leader's error is not its context's")
	im.Check(t, 20, <-answered)
}

func TestDeadline(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 20)
	w.Publish(im)
	c := w.Client()
	c.Lookup(t.Context(), lookuptest.At(im.ID, 1<<40)) // record cached, rows not
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	w.Blocks.Before.Store(&hang)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	err := c.Frames(ctx, []lookup.Query{lookuptest.At(im.ID, 20)}, func(int, symbol.Answer) { t.Error("answered") })
	lookuptest.FailIf(t, !errors.Is(err, context.DeadlineExceeded), "%v", err)
	a := c.Lookup(ctx, lookuptest.At(im.ID, 20))
	lookuptest.FailIf(t, a.Status != symbol.Unavailable || !errors.Is(a.Err, context.DeadlineExceeded), "%+v", a)
	w.Blocks.Before.Store(nil)
	im.Check(t, 20, c.Lookup(t.Context(), lookuptest.At(im.ID, 20)))
}
