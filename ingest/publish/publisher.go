// Package publish makes the loads of objects visible: rows, names and waiters, the artifact's record,
// the lake, and last the ledger.
//
// The order of writes is what makes a death harmless, and TestCrashPoints guards it:
//
//	enter     the load enters its artifact's record, with a lease, before its first row
//	rows      one batch of its own for a big load, one batch for a group of small loads
//	names     lead to the artifact, and waiters wait for the companions that the load lacks
//	record    one compare-and-set publishes the load
//	lake      a batch of the lake names the load
//	ledger    the entry of the object, when all of its loads are done
package publish

import (
	"context"
	"fmt"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/crew"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/journal"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// OwnBatchBytes is the size from which a load's rows go to the store as they come, in a batch of
// their own. Smaller loads are gathered, so that thousands of small objects share files and syncs.
const OwnBatchBytes = 1 << 20

// Publisher makes the loads of a run visible. Several goroutines may use it.
type Publisher struct {
	Store   *sinks.Store
	Keyring *row.Keyring
	Lake    sinks.Lake // nil: there is none
	Catalog *catalog.Catalog

	Crew    *crew.Crew
	Lease   *crew.Lease // nil: the run writes nothing
	Journal *journal.Journal
	Waits   *companions.Waits
	Wanted  *wanted.Names
	Tally   *report.Tally

	Who        string // host and process, for people: in the audit
	Now        func() time.Time
	Shards     int
	Force      bool    // replace pinned loads, and better ones
	MinQuality float64 // keeps out loads that are much worse than the published one (0: none)
	DryRun     bool

	// Ended is called when an object has ended, with its ledger entry, and the error that kept the
	// entry from being written.
	Ended func(x *outcome.Object, o *catalog.Object, err error)

	group   group
	batches batches
}

// owner is the owner of this worker's loads in records.
func (p *Publisher) owner() string { return p.Who + "/" + p.Journal.Worker.String() }

// Load is a load with rows that are made and not visible yet. Its builder fills the exported fields.
type Load struct {
	Object   *outcome.Object
	Artifact symbol.ID
	Member   string
	ID       sinks.Load
	Names    []symbol.Name
	Seen     *catalog.Record // the artifact's record, as the builder read it; nil: there was none
	Accepted string          // digest that a person accepted in a conflict; "": none
	Lake     *Batch          // has its rows; nil: there is no lake
	Loaded   *row.Loaded     // what the record will say of it

	marks     outcome.Marks   // of companions
	entered   *catalog.Record // as enter wrote it; nil: it is to be read anew
	enteredAt time.Time
	shown     *catalog.Record // as it was written to publish the load with its group; nil: the load was published alone
	rows      []sinks.Row     // until there is a batch
	bytes     int
	batch     sinks.Batch // nil: the group's

	kept      bool            // another load is better
	held      string          // why it is much worse than the published load; "": it is not
	keptOut   *catalog.Record // another owner's, which keeps it out; nil: nothing does
	overruled *row.Loaded     // another owner's, which it replaced; nil: none
	err       error
}

// Abort drops the load's batch. After Publish it does nothing.
func (l *Load) Abort() {
	if l.batch != nil {
		l.batch.Abort()
	}
}

// Write takes a row of a load that is being encoded.
func (p *Publisher) Write(ctx context.Context, l *Load, r sinks.Row) error {
	if l.batch != nil {
		return l.batch.Write(r)
	}
	l.rows = append(l.rows, r)
	l.bytes += len(r.Key) + len(r.Value)
	if l.bytes < OwnBatchBytes {
		return nil
	}
	if err := p.enter(ctx, l); err != nil {
		return err
	}
	var err error
	if l.batch, err = p.Store.Blocks.Begin(ctx); err != nil {
		return err
	}
	return l.writeTo(l.batch)
}

func (l *Load) writeTo(b sinks.Batch) error {
	for _, r := range l.rows {
		if err := b.Write(r); err != nil {
			return err
		}
	}
	l.rows = nil
	return nil
}

// Publish publishes a load: at once if it has a batch of its own, else with its group. Its errors are
// the object's. It returns failure.ErrTime if the run abandoned the object.
func (p *Publisher) Publish(l *Load) error {
	marks, ok := l.Object.StartLoad()
	if !ok {
		p.DropFromLake(l)
		return failure.ErrTime
	}
	l.marks = marks
	ctx := l.Object.Run
	if l.batch == nil {
		p.group.add(ctx, p, l)
		return nil
	}
	within, end := p.Tally.Begin(ctx, report.StageWrite, l.Artifact.String())
	l.err = l.batch.Commit(within)
	end(l.err)
	if l.err == nil {
		within, end := p.Tally.Begin(ctx, report.StagePublish, l.Artifact.String())
		l.err = p.makeVisible(within, l)
		end(l.err)
	}
	if p.note(ctx, l) {
		p.finish(ctx, l.Object)
	}
	return nil
}

// DropFromLake tells the lake's batch that a load will not be published.
func (p *Publisher) DropFromLake(l *Load) {
	if l.Lake != nil && p.batches.decide(l.Lake, l.Object, l.Artifact, l.ID, false) {
		p.commitLake(l.Object.Run, l.Lake)
	}
}

// note notes what became of a load. last reports whether that was its object's last one: then the caller finishes the
// object.
func (p *Publisher) note(ctx context.Context, l *Load) (last bool) {
	x := l.Object
	switch {
	case l.err != nil:
		x.Fail(failure.Environment(fmt.Errorf("publish artifact %s: %w", l.Artifact, l.err)))
	case l.keptOut != nil:
		// KeepOut has noted it.
	case l.held != "":
		x.NoteArtifact(catalog.ObjectArtifact{ID: l.Artifact, Member: l.Member, Outcome: ledger.OutcomeHeld, Error: l.held})
		p.Tally.Write(func(r *report.Report) {
			r.Append(&r.Held, report.Rejection{URL: ledger.Place(x.Task.URL, l.Member), Error: l.held})
		})
	case l.kept:
		x.Note(l.Artifact, l.Member, ledger.OutcomeKept)
	default:
		x.Note(l.Artifact, l.Member, ledger.OutcomeLoaded)
		warnOverruled(l)
		x.CountLoad(l.Loaded)
	}

	// A load that was published waits for the lake.
	waits := l.Lake != nil && l.err == nil && !l.kept
	last = x.EndLoad(waits)
	if l.Lake != nil && p.batches.decide(l.Lake, x, l.Artifact, l.ID, waits) {
		p.commitLake(ctx, l.Lake)
	}
	return last
}

// End ends an object that hands no more loads over, once all of its loads are done.
func (p *Publisher) End(ctx context.Context, x *outcome.Object, err error) {
	if x.End(err) {
		p.finish(ctx, x)
	}
}

// AddNames gives names to an artifact that is published from another object, and makes x wait until
// the lake has them.
func (p *Publisher) AddNames(ctx context.Context, x *outcome.Object, rec *catalog.Record, names []symbol.Name) error {
	if p.DryRun {
		return nil
	}
	if err := record.AddNames(ctx, p.Catalog, rec, names); err != nil || p.Lake == nil {
		return err
	}
	x.AwaitLake()
	err := p.await(ctx, x, rec.ID)
	if err != nil {
		x.EndLake(nil)
	}
	return err
}

// AwaitToo records the companions that l lacks, where another object has published equal content
// (p): that object may be gone when the companion comes.
func (p *Publisher) AwaitToo(ctx context.Context, x *outcome.Object, published, l *row.Loaded) error {
	if published.Digest != l.Digest || p.DryRun {
		return nil
	}
	return failure.Environment(p.Waits.Await(ctx, companions.Lacking{Object: x, Load: l, Marks: x.Marks()}))
}

// Flush publishes everything that was handed over, and waits until it is published.
func (p *Publisher) Flush(ctx context.Context) { p.group.flushAll(ctx, p) }

// Tick publishes and notes, until done, what has waited for some time.
func (p *Publisher) Tick(ctx context.Context, done <-chan struct{}) {
	tick := time.NewTicker(groupAge / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.group.flush(ctx, p, p.group.old)
			p.NotePublished(ctx, groupAge)
		case <-done:
			return
		}
	}
}
