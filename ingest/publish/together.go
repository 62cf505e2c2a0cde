package publish

import (
	"context"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// The loads of a group take each step together, with one request to the catalog: a goroutine and a request for each load
// cost more than the loads. The order of a load's writes stays. A load that a step does not find plain takes the step
// alone, and so does a load whose part of a request failed.

// enterAll enters the loads of a group, as enter does. It writes their err.
func (p *Publisher) enterAll(ctx context.Context, loads []*Load) {
	changes := make([]catalog.Change[catalog.Record], len(loads))
	for i, l := range loads {
		changes[i] = catalog.Change[catalog.Record]{Old: l.Seen, New: p.entry(l, l.Seen)}
	}
	errs := p.Catalog.Artifacts.SwapAll(ctx, changes)
	var again []int
	for i, l := range loads {
		if errs[i] != nil {
			again = append(again, i)
			continue
		}
		l.err = p.entered(ctx, l, changes[i].New, nil)
	}
	parallel.Do(len(again), func(n int) {
		i := again[n]
		loads[i].err = p.entered(ctx, loads[i], changes[i].New, errs[i])
	})
}

// showAll makes the loads of a group without an error visible, as makeVisible does. It writes their err.
func (p *Publisher) showAll(ctx context.Context, loads []*Load) {
	var plain, alone []*Load
	for _, l := range loads {
		switch {
		case l.err != nil:
		case p.isPlain(l):
			plain = append(plain, l)
		default:
			alone = append(alone, l)
		}
	}
	alone = append(alone, p.showPlain(ctx, plain)...)
	parallel.Do(len(alone), func(i int) { alone[i].err = p.makeVisible(ctx, alone[i]) })
}

// isPlain reports whether a load is its artifact's first one.
func (p *Publisher) isPlain(l *Load) bool {
	return l.fresh() && l.entered.Published == nil && l.entered.Previous == nil && l.entered.State == catalog.Live &&
		p.Verdict(l.entered, l.Loaded, l.Accepted) == trust.Load
}

// showPlain makes plain loads visible: all names, all waiters, then all records. It returns the loads that are to take the step
// alone.
func (p *Publisher) showPlain(ctx context.Context, loads []*Load) (alone []*Load) {
	if len(loads) == 0 || p.Lease.Check(ctx) != nil {
		return loads
	}
	var names []catalog.Pair
	ends := make([]int, len(loads)) // of a load's names
	for i, l := range loads {
		names = append(names, record.LackingNames(l.entered, l.Artifact, l.Names)...)
		ends[i] = len(names)
	}
	failed := p.Catalog.Names.AddAll(ctx, names)
	lacking := make([]companions.Lacking, len(loads))
	for i, l := range loads {
		lacking[i] = l.lacking()
	}
	lost := p.Waits.AwaitAll(ctx, lacking)
	if p.Lease.Check(ctx) != nil {
		return loads
	}

	var named []*Load
	var changes []catalog.Change[catalog.Record]
	from := 0
	for i, l := range loads {
		is := !slices.ContainsFunc(failed[from:ends[i]], func(err error) bool { return err != nil })
		from = ends[i]
		at := record.Entry(l.entered, l.ID, p.owner())
		if !is || lost[i] != nil || at < 0 {
			alone = append(alone, l)
			continue
		}
		next := record.Copy(l.entered, l.Artifact)
		next.Names = record.UnionNames(next.Names, l.Names)
		p.rule(l, trust.Load, l.entered, next)
		next.Progress = slices.Delete(next.Progress, at, at+1)
		next.Published = l.Loaded
		named = append(named, l)
		changes = append(changes, catalog.Change[catalog.Record]{Old: l.entered, New: next})
	}
	for i, err := range p.Catalog.Artifacts.SwapAll(ctx, changes) {
		l := named[i]
		if l.entered = nil; err != nil { // it asks the store what became of it
			alone = append(alone, l)
			continue
		}
		l.shown = changes[i].New
		for _, n := range l.shown.Names {
			p.arrive(n.Text, l.Artifact)
		}
	}
	return alone
}

// finishAll finishes objects, as finish does. known are records of artifacts as this process wrote them.
func (p *Publisher) finishAll(ctx context.Context, objects []*outcome.Object, known map[symbol.ID]*catalog.Record) {
	var plain, alone []*outcome.Object
	for _, x := range objects {
		if ctx.Err() == nil && !p.DryRun && isPlainEnd(x) {
			plain = append(plain, x)
		} else {
			alone = append(alone, x)
		}
	}
	alone = append(alone, p.finishPlain(ctx, plain, known)...)
	parallel.Do(len(alone), func(i int) { p.finish(ctx, alone[i]) })
}

// isPlainEnd reports whether an object that did not fail is the first attempt at a new one: it has no names, no conflicts
// and no obligations to end.
func isPlainEnd(x *outcome.Object) bool {
	t := x.Task
	return x.Err() == nil && t.Before == nil && !t.Named && !t.Seen && !t.Rederive && t.Heir == (row.WorkerID{}) && len(t.Owed) == 0
}

// finishPlain finishes plain objects. It returns the objects that are to be finished alone: the ledger does not have their
// entries yet.
func (p *Publisher) finishPlain(ctx context.Context, objects []*outcome.Object, known map[symbol.ID]*catalog.Record) (alone []*outcome.Object) {
	won, err := p.wonBy(ctx, objects, known)
	if err != nil {
		return objects
	}
	var plain []*outcome.Object
	var changes []catalog.Change[catalog.Object]
	for _, x := range objects {
		o := p.lastEntry(ctx, x)
		if !won[x] || o.State != catalog.ObjectLoaded {
			alone = append(alone, x)
			continue
		}
		plain = append(plain, x)
		changes = append(changes, catalog.Change[catalog.Object]{Old: x.Task.Ledger, New: o})
	}
	if len(plain) == 0 {
		return alone
	}
	if err := p.Waits.AnnounceAll(ctx, plain); err != nil {
		return objects
	}
	written, errs := p.Journal.WriteAll(ctx, changes)
	for i, x := range plain {
		if written[i] {
			x.Task.Ledger, x.Task.Named = changes[i].New, false
		}
	}

	// The loser of an artifact looks at the record after its entry is written.
	won, err = p.wonBy(ctx, plain, known)
	parallel.Do(len(plain), func(i int) {
		x, o := plain[i], changes[i].New
		if written[i] && (err != nil || !won[x]) {
			errs[i] = ledger.DemoteLosers(ctx, p.Catalog, o)
		}
		p.Ended(x, o, errs[i])
	})
	return alone
}

// wonBy tells of which objects the records publish all loaded artifacts, and never published another object's.
func (p *Publisher) wonBy(ctx context.Context, objects []*outcome.Object, known map[symbol.ID]*catalog.Record) (map[*outcome.Object]bool, error) {
	var ids []symbol.ID
	for _, x := range objects {
		for _, a := range x.Loaded() {
			ids = append(ids, a.ID)
		}
	}
	records, err := p.Catalog.Artifacts.GetAll(ctx, ids, known)
	if err != nil {
		return nil, err
	}
	won := make(map[*outcome.Object]bool, len(objects))
	for _, x := range objects {
		won[x] = true
		for _, a := range x.Loaded() {
			rec := records[0]
			records = records[1:]
			won[x] = won[x] && rec != nil && rec.Published != nil && rec.Previous == nil && record.IsFrom(rec.Published, x.Task.URL, a.Member)
		}
	}
	return won, nil
}
