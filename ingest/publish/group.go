package publish

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
)

const (
	// A group of small loads is written when it has so many, or so many bytes, or is so old.
	groupLoads = 512
	groupBytes = 32 << 20
	groupAge   = 2 * time.Second
)

// group gathers small loads.
type group struct {
	mu      sync.Mutex
	loads   []*Load
	bytes   int
	since   time.Time
	flushes int        // under way
	flushed *sync.Cond // of mu: a flush has ended
}

func (g *group) add(ctx context.Context, p *Publisher, l *Load) {
	g.mu.Lock()
	if g.flushed == nil {
		g.flushed = sync.NewCond(&g.mu)
	}
	if len(g.loads) == 0 {
		g.since = time.Now()
	}
	g.loads = append(g.loads, l)
	g.bytes += l.bytes
	full := len(g.loads) >= groupLoads || g.bytes >= groupBytes
	g.mu.Unlock()
	if full {
		g.flush(ctx, p, 0)
	}
}

// flush publishes the gathered loads, if the oldest has waited for age.
func (g *group) flush(ctx context.Context, p *Publisher, age time.Duration) {
	g.mu.Lock()
	if len(g.loads) == 0 || time.Since(g.since) < age {
		g.mu.Unlock()
		return
	}
	loads := g.loads
	g.loads, g.bytes = nil, 0
	g.flushes++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.flushes--
		g.flushed.Broadcast()
	}()

	// Entered before their first row; then one batch; then visible.
	parallel.Do(len(loads), func(i int) { loads[i].err = p.enter(ctx, loads[i]) })
	if err := p.commit(ctx, loads); err != nil {
		for _, l := range loads {
			l.err = errors.Join(l.err, err)
		}
	}
	within, end := p.Tally.Begin(ctx, report.StagePublish, fmt.Sprint(len(loads), " loads"))
	parallel.Do(len(loads), func(i int) {
		l := loads[i]
		if l.err == nil {
			l.err = p.makeVisible(within, l)
		}
		p.note(ctx, l)
	})
	end(nil)
}

// flushAll publishes the gathered loads, and waits for the flushes of Tick and of abandoned workers.
func (g *group) flushAll(ctx context.Context, p *Publisher) {
	g.flush(ctx, p, 0)
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.flushes > 0 {
		g.flushed.Wait()
	}
}

// commit writes the rows of the loads that were entered, in key order: stores write ordered rows
// best.
func (p *Publisher) commit(ctx context.Context, loads []*Load) (err error) {
	ctx, end := p.Tally.Begin(ctx, report.StageWrite, fmt.Sprint(len(loads), " loads"))
	defer func() { end(err) }()
	loads = slices.SortedFunc(slices.Values(loads), func(x, y *Load) int {
		return cmp.Or(bytes.Compare(x.Artifact[:], y.Artifact[:]), bytes.Compare(x.ID[:], y.ID[:]))
	})
	b, err := p.Store.Blocks.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Abort()
	for _, l := range loads {
		if l.err != nil {
			continue
		}
		if err := l.writeTo(b); err != nil {
			return err
		}
	}
	return b.Commit(ctx)
}
