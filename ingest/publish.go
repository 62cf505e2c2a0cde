package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// ownBatch is from where a load's rows go to the store as they come, in a
	// batch of their own; smaller loads are gathered, so that thousands of
	// small objects share files and syncs.
	ownBatch = 1 << 20
)

// pending is a load whose rows are made and not visible.
type pending struct {
	x         *object
	id        symbol.ID
	member    string
	load      sinks.Load
	loaded    *row.Loaded
	names     []symbol.Name
	missed    map[string]missed
	states    map[string]string // of companions: as object.states
	rows      []sinks.Row       // until there is a batch
	bytes     int
	batch     sinks.Batch     // nil: the group's
	lake      *lakeBatch      // has its rows; nil: there is no lake
	kept      bool            // another load turned out to be better
	held      string          // it is much worse than what is published: how
	keptOut   *catalog.Record // another owner publishes this, which keeps it out; nil: nothing does
	overruled *row.Loaded     // another owner's, which it replaced; nil: none
	accepted  string          // digest that a person accepted in a conflict
	entered   bool
	err       error
}

func (p *pending) abort() {
	if p.batch != nil {
		p.batch.Abort()
	}
}

// write takes a row of a load that is being encoded.
func (j *job) write(ctx context.Context, p *pending, r sinks.Row) error {
	if p.batch != nil {
		return p.batch.Write(r)
	}
	p.rows = append(p.rows, r)
	p.bytes += len(r.Key) + len(r.Value)
	if p.bytes < ownBatch {
		return nil
	}
	if err := j.enter(ctx, p); err != nil {
		return err
	}
	var err error
	if p.batch, err = j.o.Store.Blocks.Begin(ctx); err != nil {
		return err
	}
	return p.writeTo(p.batch)
}

func (p *pending) writeTo(b sinks.Batch) error {
	for _, r := range p.rows {
		if err := b.Write(r); err != nil {
			return err
		}
	}
	p.rows = nil
	return nil
}

// hand gives a load to the publisher: at once if it has a batch of its own,
// else with its group. From here on its errors are the object's.
func (j *job) hand(ctx context.Context, p *pending) error {
	if p.batch == nil {
		j.group.add(ctx, j, p)
		return nil
	}
	within, ended := j.span(ctx, stageWrite, p.id.String())
	p.err = p.batch.Commit(within)
	ended(p.err)
	if p.err == nil {
		within, ended := j.span(ctx, stagePublish, p.id.String())
		p.err = j.publish(within, p)
		ended(p.err)
	}
	j.handed(ctx, p)
	return nil
}

// handed ends a load, and its object if that was the last one.
func (j *job) handed(ctx context.Context, p *pending) {
	x := p.x
	switch {
	case p.err != nil:
		x.mu.Lock()
		x.err = errors.Join(x.err, environment(fmt.Errorf("publish artifact %s: %w", p.id, p.err)))
		x.mu.Unlock()
	case p.keptOut != nil:
		// keepOut has noted it.
	case p.held != "":
		x.noteArtifact(catalog.ObjectArtifact{ID: p.id, Member: p.member, Outcome: ledger.OutcomeHeld, Error: p.held})
		j.mu.Lock()
		j.report.Append(&j.report.Held, report.Rejection{URL: ledger.Place(x.t.URL, p.member), Error: p.held})
		j.mu.Unlock()
	case p.kept:
		x.outcome(p.id, p.member, ledger.OutcomeKept)
	default:
		x.outcome(p.id, p.member, ledger.OutcomeLoaded)
		x.overrule(p)
		x.count(p.loaded)
	}
	j.landed(ctx, p)
}

// landed ends a load that the store is done with; one that was published waits for the lake.
func (j *job) landed(ctx context.Context, p *pending) {
	x, waits := p.x, p.lake != nil && p.err == nil && !p.kept
	x.mu.Lock()
	if waits {
		x.waits++
	} else {
		x.loads--
	}
	done := x.ended && x.loads == 0
	x.mu.Unlock()
	if p.lake != nil && j.lake.handed(p.lake, x, p.id, p.load, waits) {
		j.commitLake(ctx, p.lake)
	}
	if done {
		x.finish(ctx)
	}
}

// enter puts a load into its artifact's record, with a lease.
func (j *job) enter(ctx context.Context, p *pending) error {
	heir := p.x.t.Heir
	for {
		old, err := j.cat.Artifacts.Get(ctx, p.id)
		if err != nil {
			return err
		}
		next := record.Copy(old, p.id)
		for i := range next.Progress {
			// The process that had the object is dead. Should it only have slept, this load is lost to it.
			if e := &next.Progress[i]; heir != (row.WorkerID{}) && strings.HasSuffix(e.Owner, "/"+heir.String()) {
				e.Owner, e.Lease = record.Superseded, j.o.Now()
			}
		}
		next.Progress = append(next.Progress, catalog.Progress{Load: p.load, Owner: j.owner, Lease: j.o.Now().Add(record.LeaseTime)})
		err = j.cat.Artifacts.Swap(ctx, old, next)
		if errors.Is(err, sinks.ErrConflict) && ctx.Err() == nil {
			// Somebody was faster, or it is our own entry after a lost answer.
			if now, rerr := j.cat.Artifacts.Get(ctx, p.id); rerr == nil && now != nil && record.Entry(now, p.load, j.owner) >= 0 {
				return nil
			}
			continue
		}
		return err
	}
}

// publish makes a load visible whose rows are durable: names and waiters, then
// one compare-and-set of the record.
func (j *job) publish(ctx context.Context, p *pending) error {
	if err := j.lease.Check(ctx); err != nil {
		return err
	}
	first, err := j.cat.Artifacts.Get(ctx, p.id)
	if err != nil {
		return err
	}
	if first == nil { // gc took it for abandoned: names would lead to nothing
		return record.ErrLost
	}
	unnamed := p.x.verdict(first, p.loaded, p.accepted) == trust.Dispute
	if !unnamed { // names of what is kept out lead nowhere
		if err := record.EnterNames(ctx, j.cat, first, p.id, p.names); err != nil {
			return err
		}
		if err := j.await(ctx, p); err != nil {
			return err
		}
	}
	for {
		old, err := j.cat.Artifacts.Get(ctx, p.id)
		if err != nil {
			return err
		}
		if old != nil && old.Published != nil && old.Published.Load == p.load {
			return nil // the answer to our swap was lost
		}
		if old == nil {
			return record.ErrLost
		}
		at := record.Entry(old, p.load, j.owner)
		if at < 0 {
			return record.ErrLost
		}
		v := p.x.verdict(old, p.loaded, p.accepted)
		if unnamed && v != trust.Dispute {
			return j.publish(ctx, p) // what kept it out is gone
		}
		next := record.Copy(old, p.id)
		if v != trust.Dispute && (!old.State.Removed() || j.o.Force) {
			next.Names = record.UnionNames(next.Names, p.names)
		}
		p.rule(v, old, next)
		if p.kept {
			next.Progress[at].Owner, next.Progress[at].Lease = record.Superseded, j.o.Now()
		} else {
			if err := j.demoteLoser(ctx, p, old.Published); err != nil {
				return err
			}
			next.Progress = slices.Delete(next.Progress, at, at+1)
			if old.Previous != nil {
				next.Progress = append(next.Progress, catalog.Progress{Load: old.Previous.Load, Owner: record.Superseded, Lease: j.o.Now()})
			}
			next.Previous, next.Published, next.State = old.Published, p.loaded, catalog.Live
		}
		err = j.cat.Artifacts.Swap(ctx, old, next)
		if err == nil && !p.kept {
			for _, n := range next.Names {
				j.arrive(n.Text, p.id)
			}
			return j.demoteLoser(ctx, p, old.Published)
		}
		if err == nil && v == trust.Dispute {
			return p.x.keepOut(ctx, old, p.loaded)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			now, rerr := j.cat.Artifacts.Get(ctx, p.id)
			if rerr == nil && now != nil && now.Published != nil && now.Published.Load == p.load {
				return nil
			}
			return err
		}
	}
}

// arrive tells that this run brought an artifact whose name look-ups had asked for.
func (j *job) arrive(name string, id symbol.ID) {
	if w := j.wanted.Arrive(name); w != nil {
		j.mu.Lock()
		j.report.AddWanted(w, id)
		j.mu.Unlock()
	}
}

// addNames gives names to an artifact that is published from another object.
func (j *job) addNames(ctx context.Context, rec *catalog.Record, names []symbol.Name) error {
	if j.o.DryRun {
		return nil
	}
	return record.AddNames(ctx, j.cat, rec, names)
}
