package publish

import (
	"context"
	"time"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// finish writes the ledger's entry of an object: the last thing that happens to it.
func (p *Publisher) finish(ctx context.Context, x *outcome.Object) {
	writing := ctx
	if ctx.Err() != nil { // the run was asked to stop: note the state all the same
		var cancel context.CancelFunc
		writing, cancel = ledger.Detached(ctx)
		defer cancel()
	}
	if !p.DryRun && x.Err() == nil {
		if err := x.DropLost(writing, p.Catalog); err != nil {
			x.Fail(err)
		}
	}
	o := p.lastEntry(ctx, x)
	err := p.writeEntry(writing, x, o)
	p.Ended(x, o, err)
}

// lastEntry returns the ledger's entry of an object that has ended.
func (p *Publisher) lastEntry(ctx context.Context, x *outcome.Object) *catalog.Object {
	o := p.Journal.Entry(x.Task, catalog.ObjectLoaded)
	x.Fill(o, ctx.Err() != nil)
	if x.Task.Rederive && x.NewlyRejected(o) {
		o.By = p.Journal.Account
	}
	return o
}

// writeEntry writes the ledger's entry and the records that depend on it.
func (p *Publisher) writeEntry(ctx context.Context, x *outcome.Object, o *catalog.Object) error {
	if p.DryRun {
		return nil
	}
	if err := p.endConflicts(ctx, x, o); err != nil {
		return err
	}
	ended := o.State != catalog.ObjectFailed && o.State != catalog.ObjectPending
	if ended && !x.Task.Rederive {
		if err := p.Waits.Announce(ctx, x); err != nil {
			return err
		}
	}

	// Names first: if the process dies in between, another run takes the object again. If a process
	// that died had the object open, the object may have had its names before.
	t := x.Task
	if err := p.Journal.Rename(ctx, t.Named || !ledger.IsNamed(o) && t.Heir != (row.WorkerID{}), o); err != nil {
		return err
	}
	ok, err := p.Journal.Write(ctx, t.Ledger, o)
	if err != nil || !ok {
		return err
	}
	t.Ledger, t.Named = o, ledger.IsNamed(o)
	if err := ledger.DemoteLosers(ctx, p.Catalog, o); err != nil || !ended {
		return err
	}
	return p.Waits.Discharge(ctx, x)
}

// NotePublished notes the objects that are published and have waited for the lake since age: if the
// process dies now, none of them is to blame.
func (p *Publisher) NotePublished(ctx context.Context, age time.Duration) {
	k := &p.batches
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []*outcome.Object
	var parsers []map[string]int
	for b := range k.open {
		for _, x := range b.wait {
			if m, is := x.NotePublished(age); is {
				all, parsers = append(all, x), append(parsers, m)
			}
		}
	}
	parallel.Do(len(all), func(i int) {
		x := all[i]
		o := p.Journal.Entry(x.Task, catalog.ObjectPublished)
		// Without artifacts: if another object wins one meanwhile, the end of this object settles it.
		o.Attempts, o.Artifacts, o.Parsers = 0, nil, parsers[i]
		ok, err := p.Journal.Write(ctx, x.Task.Ledger, o)
		switch {
		case err != nil:
			x.Fail(err)
		case ok:
			x.Task.Ledger = o
		}
	})
}

// FollowWinners corrects the ledger for all artifacts that another object won. A run calls it when it
// finds objects that were open when a process died: that process may have written an entry without
// looking at its records again.
func FollowWinners(ctx context.Context, c *catalog.Catalog) error {
	var loaded []*catalog.Object
	err := c.Ledger.Each(ctx, "", func(o *catalog.Object) error {
		if o.State == catalog.ObjectLoaded {
			loaded = append(loaded, o)
		}
		return nil
	})
	for _, o := range loaded {
		if err == nil {
			err = ledger.DemoteLosers(ctx, c, o)
		}
	}
	return err
}
