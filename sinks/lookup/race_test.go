package lookup_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

// Many who ask for one cold block cost one scan, one record and one opening.
func TestOneScan(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 20)
	loaded := w.publish(im)
	failIf(t, loaded.Rows != 1, "%d rows", loaded.Rows)
	for round := range 50 {
		slow := func(context.Context) error {
			if round == 0 {
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		}
		w.blocks.before.Store(&slow)
		w.blocks.spans.Store(0)
		w.values.gets.Store(0)
		c := w.client()
		together(16, func(i int) {
			if i%2 == 0 {
				im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
			} else {
				im.check(t, 20, ask(t, c, at(im.ID, 20))[0])
			}
		})
		failIf(t, w.blocks.spans.Load() > 2, "round %d: %d rows read: want the block and at most the shared strings", round, w.blocks.spans.Load())
		failIf(t, w.values.gets.Load() != 1, "round %d: %d records read", round, w.values.gets.Load())
	}
}

// Batches that want each other's rows do not wait for each other for ever.
func TestBatchesCross(t *testing.T) {
	w := newWorld(t)
	images := []*image{newImage(cartID, "libcart.so", 4000), newImage(strings.Repeat("cd", 20), "libgame.so", 4000)}
	for _, im := range images {
		w.publish(im)
	}
	for range 5 {
		c := w.clientWith(lookup.Options{CacheBytes: 4 << 20})
		together(8, func(i int) {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			var qs []lookup.Query
			for range 100 {
				im := images[r.IntN(2)]
				qs = append(qs, at(im.ID, r.Uint64N(im.End)))
			}
			for k, a := range ask(t, c, qs...) {
				im := images[0]
				if qs[k].Artifact != im.ID {
					im = images[1]
				}
				im.check(t, qs[k].Where.Value, a)
			}
		})
	}
}

// Whoever reads for others may give up; the others are answered all the same.
func TestLeaderGivesUp(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 20)
	w.publish(im)
	c := w.client()
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
	w.blocks.before.Store(&hold)
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error)
	go func() {
		gaveUp <- c.Frames(ctx, []lookup.Query{at(im.ID, 20)}, func(int, symbol.Answer) { t.Error("answered after cancel") })
	}()
	<-arrived
	answered := make(chan symbol.Answer)
	go func() { answered <- c.Lookup(t.Context(), at(im.ID, 20)) }()
	time.Sleep(5 * time.Millisecond)
	cancel()
	failIf(t, !errors.Is(<-gaveUp, context.Canceled), "the leader's error is not its context's")
	im.check(t, 20, <-answered)
}

func TestDeadline(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 20)
	w.publish(im)
	c := w.client()
	c.Lookup(t.Context(), at(im.ID, 1<<40)) // record cached, rows not
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	w.blocks.before.Store(&hang)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	err := c.Frames(ctx, []lookup.Query{at(im.ID, 20)}, func(int, symbol.Answer) { t.Error("answered") })
	failIf(t, !errors.Is(err, context.DeadlineExceeded), "%v", err)
	a := c.Lookup(ctx, at(im.ID, 20))
	failIf(t, a.Status != symbol.Unavailable || !errors.Is(a.Err, context.DeadlineExceeded), "%+v", a)
	_, err = c.Stack(ctx, stackOf(t, "#00 pc 00000014  libcart.so (BuildId: "+cartID+")\n"), lookup.StackOptions{})
	failIf(t, !errors.Is(err, context.DeadlineExceeded), "%v", err)
	w.blocks.before.Store(nil)
	im.check(t, 20, c.Lookup(t.Context(), at(im.ID, 20)))
}
