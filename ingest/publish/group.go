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

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// A group of small loads is written when it has so many, or so many bytes, or is so old.
	groupLoads = 1024
	groupBytes = 32 << 20
	groupAge   = 2 * time.Second
	// So many groups may be on their way into the store. One more is gathered meanwhile.
	groupsAtOnce = 2
)

// group gathers small loads.
type group struct {
	mu      sync.Mutex
	loads   []*Load
	bytes   int
	since   time.Time
	flushes int        // under way
	flushed *sync.Cond // of mu: a flush has ended
	writing chan struct{}
}

func (g *group) add(ctx context.Context, p *Publisher, l *Load) {
	g.mu.Lock()
	if g.flushed == nil {
		g.flushed = sync.NewCond(&g.mu)
		g.writing = make(chan struct{}, groupsAtOnce)
	}
	if len(g.loads) == 0 {
		g.since = time.Now()
	}
	g.loads = append(g.loads, l)
	g.bytes += l.bytes
	full := g.full()
	g.mu.Unlock()
	if full {
		g.flush(ctx, p, g.full)
	}
}

// full reports whether the group is to be written. mu is held, as for each due function of flush.
func (g *group) full() bool { return len(g.loads) >= groupLoads || g.bytes >= groupBytes }

// old reports whether the oldest load has waited for groupAge.
func (g *group) old() bool { return len(g.loads) > 0 && time.Since(g.since) >= groupAge }

func (g *group) any() bool { return len(g.loads) > 0 }

// flush publishes the gathered loads if they are due. It waits while groupsAtOnce groups are on their way; so the
// caller hands over no further load meanwhile.
func (g *group) flush(ctx context.Context, p *Publisher, due func() bool) {
	g.mu.Lock()
	is := due()
	g.mu.Unlock()
	if !is {
		return
	}
	g.writing <- struct{}{}
	defer func() { <-g.writing }()
	g.mu.Lock()
	if !due() { // another goroutine took them
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
	p.enterAll(ctx, loads)
	if err := p.commit(ctx, loads); err != nil {
		for _, l := range loads {
			l.err = errors.Join(l.err, err)
		}
	}
	within, end := p.Tally.Begin(ctx, report.StagePublish, fmt.Sprint(len(loads), " loads"))
	p.showAll(within, loads)
	var done []*outcome.Object
	known := make(map[symbol.ID]*catalog.Record, len(loads))
	for _, l := range loads {
		if l.shown != nil {
			known[l.Artifact] = l.shown
		}
		if p.note(ctx, l) {
			done = append(done, l.Object)
		}
	}
	p.finishAll(ctx, done, known)
	end(nil)
}

// flushAll publishes the gathered loads, and waits for the flushes of Tick and of abandoned workers.
func (g *group) flushAll(ctx context.Context, p *Publisher) {
	g.flush(ctx, p, g.any)
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
