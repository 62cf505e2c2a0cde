package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/symlake/symlake/ingest/parallel"
	"slices"
	"sync"
	"time"
)

const (
	// A group of small loads is written when it has so many, or so many bytes,
	// or is so old.
	groupLoads = 512
	groupBytes = 32 << 20
	groupAge   = 2 * time.Second
)

// group gathers small loads.
type group struct {
	mu     sync.Mutex
	loads  []*pending
	bytes  int
	since  time.Time
	flying int       // flushes under way
	landed sync.Cond // of mu: one of them has ended
}

func (g *group) add(ctx context.Context, j *job, p *pending) {
	g.mu.Lock()
	if len(g.loads) == 0 {
		g.since = time.Now()
	}
	g.loads = append(g.loads, p)
	g.bytes += p.bytes
	full := len(g.loads) >= groupLoads || g.bytes >= groupBytes
	g.mu.Unlock()
	if full {
		g.flush(ctx, j, 0)
	}
}

// flush publishes what has been gathered for at least age.
func (g *group) flush(ctx context.Context, j *job, age time.Duration) {
	g.mu.Lock()
	if len(g.loads) == 0 || time.Since(g.since) < age {
		g.mu.Unlock()
		return
	}
	loads := g.loads
	g.loads, g.bytes = nil, 0
	g.flying++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.flying--
		g.landed.Broadcast()
	}()

	// Entered before their first row; then one batch; then visible.
	parallel.Do(len(loads), func(i int) { loads[i].err = j.enter(ctx, loads[i]) })
	if err := j.commit(ctx, loads); err != nil {
		for _, p := range loads {
			p.err = errors.Join(p.err, err)
		}
	}
	within, ended := j.span(ctx, stagePublish, fmt.Sprint(len(loads), " loads"))
	parallel.Do(len(loads), func(i int) {
		p := loads[i]
		if p.err == nil {
			p.err = j.publish(within, p)
		}
		j.handed(ctx, p)
	})
	ended(nil)
}

// settle publishes what has been gathered, and waits for what is being published: by the clock, or by a worker that is
// left behind.
func (g *group) settle(ctx context.Context, j *job) {
	g.flush(ctx, j, 0)
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.flying > 0 {
		g.landed.Wait()
	}
}

// commit writes the rows of those that were entered, in key order, as a store
// that keeps them so likes them best.
func (j *job) commit(ctx context.Context, loads []*pending) (err error) {
	ctx, ended := j.span(ctx, stageWrite, fmt.Sprint(len(loads), " loads"))
	defer func() { ended(err) }()
	loads = slices.SortedFunc(slices.Values(loads), func(x, y *pending) int {
		return cmp.Or(bytes.Compare(x.id[:], y.id[:]), bytes.Compare(x.load[:], y.load[:]))
	})
	b, err := j.o.Store.Blocks.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Abort()
	for _, p := range loads {
		if p.err != nil {
			continue
		}
		if err := p.writeTo(b); err != nil {
			return err
		}
	}
	return b.Commit(ctx)
}
