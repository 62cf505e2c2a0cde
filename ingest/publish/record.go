package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// enter puts a load into its artifact's record, with a lease.
func (p *Publisher) enter(ctx context.Context, l *Load) error {
	next := p.entry(l, l.Seen)
	return p.entered(ctx, l, next, p.Catalog.Artifacts.Swap(ctx, l.Seen, next))
}

// entry returns the record old with a load that enters it.
func (p *Publisher) entry(l *Load, old *catalog.Record) *catalog.Record {
	heir := l.Object.Task.Heir
	next := record.Copy(old, l.Artifact)
	for i := range next.Progress {
		// The worker that had the object is dead. If it only slept, it loses this load.
		if e := &next.Progress[i]; heir != (row.WorkerID{}) && strings.HasSuffix(e.Owner, "/"+heir.String()) {
			e.Owner, e.Lease = record.Superseded, p.Now()
		}
	}
	next.Progress = append(next.Progress, catalog.Progress{Load: l.ID, Owner: p.owner(), Lease: p.Now().Add(record.LeaseTime)})
	return next
}

// entered goes on after the first attempt to enter l, which ended with err.
func (p *Publisher) entered(ctx context.Context, l *Load, next *catalog.Record, err error) error {
	for errors.Is(err, sinks.ErrConflict) && ctx.Err() == nil {
		// Another process was faster, or the store's answer to this entry was lost.
		old, rerr := p.Catalog.Artifacts.Get(ctx, l.Artifact)
		if rerr != nil {
			return rerr
		}
		if old != nil && record.Entry(old, l.ID, p.owner()) >= 0 {
			next, err = old, nil
			break
		}
		next = p.entry(l, old)
		err = p.Catalog.Artifacts.Swap(ctx, old, next)
	}
	l.entered, l.enteredAt = next, time.Now()
	return err
}

// entryAge is how long the record that enter wrote passes for the store's. A gc that takes the load for abandoned
// waits much longer, for the lease.
const entryAge = record.LeaseTime / 4

func (l *Load) lacking() companions.Lacking {
	return companions.Lacking{Object: l.Object, Load: l.Loaded, Marks: l.marks}
}

// fresh reports whether the record that enter wrote passes for the store's.
func (l *Load) fresh() bool { return l.entered != nil && time.Since(l.enteredAt) < entryAge }

// record returns the record of l's artifact: as enter wrote it a moment ago, or as it is.
func (p *Publisher) record(ctx context.Context, l *Load) (*catalog.Record, error) {
	entered, fresh := l.entered, l.fresh()
	if l.entered = nil; fresh {
		return entered, nil
	}
	return p.Catalog.Artifacts.Get(ctx, l.Artifact)
}

// makeVisible makes a load with durable rows visible: names and waiters, then one compare-and-set of the
// record.
func (p *Publisher) makeVisible(ctx context.Context, l *Load) error {
	if err := p.Lease.Check(ctx); err != nil {
		return err
	}
	old, err := p.record(ctx, l)
	if err != nil {
		return err
	}
	if old == nil { // gc took the load for abandoned: names would lead to nothing
		return record.ErrLost
	}
	unnamed := p.Verdict(old, l.Loaded, l.Accepted) == trust.Dispute
	if !unnamed { // names of a load that is kept out would lead nowhere
		if err := record.EnterNames(ctx, p.Catalog, old, l.Artifact, l.Names); err != nil {
			return err
		}
		if err := p.Waits.Await(ctx, l.lacking()); err != nil {
			return err
		}
	}

	for {
		if old != nil && old.Published != nil && old.Published.Load == l.ID {
			return nil // the store's answer to the swap was lost
		}
		if old == nil {
			return record.ErrLost
		}
		at := record.Entry(old, l.ID, p.owner())
		if at < 0 {
			return record.ErrLost
		}
		v := p.Verdict(old, l.Loaded, l.Accepted)
		if unnamed && v != trust.Dispute {
			return p.makeVisible(ctx, l) // the load that kept it out is gone
		}
		next := record.Copy(old, l.Artifact)
		if v != trust.Dispute && (!old.State.Removed() || p.Force) {
			next.Names = record.UnionNames(next.Names, l.Names)
		}
		p.rule(l, v, old, next)
		if l.kept {
			next.Progress[at].Owner, next.Progress[at].Lease = record.Superseded, p.Now()
		} else {
			if err := p.demote(ctx, l, old.Published); err != nil {
				return err
			}
			next.Progress = slices.Delete(next.Progress, at, at+1)
			if old.Previous != nil {
				next.Progress = append(next.Progress, catalog.Progress{Load: old.Previous.Load, Owner: record.Superseded, Lease: p.Now()})
			}
			next.Previous, next.Published, next.State = old.Published, l.Loaded, catalog.Live
		}

		err = p.Catalog.Artifacts.Swap(ctx, old, next)
		switch {
		case err == nil && !l.kept:
			for _, n := range next.Names {
				p.arrive(n.Text, l.Artifact)
			}
			return p.demote(ctx, l, old.Published)
		case err == nil && v == trust.Dispute:
			return p.KeepOut(ctx, l.Object, old, l.Loaded)
		case err == nil:
			return nil
		}
		if !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			now, rerr := p.Catalog.Artifacts.Get(ctx, l.Artifact)
			if rerr == nil && now != nil && now.Published != nil && now.Published.Load == l.ID {
				return nil
			}
			return err
		}
		if old, err = p.Catalog.Artifacts.Get(ctx, l.Artifact); err != nil {
			return err
		}
		if old != nil && !unnamed { // names that it had are gone, perhaps
			if err := record.EnterNames(ctx, p.Catalog, old, l.Artifact, l.Names); err != nil {
				return err
			}
		}
	}
}

// Verdict decides between l and the load that rec publishes. accepted is the digest that a person
// accepted in a conflict ("": none).
func (p *Publisher) Verdict(rec *catalog.Record, l *row.Loaded, accepted string) trust.Verdict {
	return trust.Between(rec, l, accepted, p.Force)
}

// rule notes a verdict on l beside the load that old publishes, and the artifact's new owner in next.
func (p *Publisher) rule(l *Load, v trust.Verdict, old, next *catalog.Record) {
	l.kept, l.held, l.keptOut, l.overruled, l.Loaded.Claim = v != trust.Load && v != trust.Extend, "", nil, nil, nil
	switch {
	case v == trust.Dispute:
		l.keptOut = old
	case v == trust.Confirm:
		next.Published = record.ClaimedBy(old.Published, l.Loaded.Source.Standing)
	case v == trust.Extend:
		c := old.Published.Claimed()
		l.Loaded.Claim = &c
	}
	switch {
	case l.kept || old.Published == nil || l.Accepted != "":
	case trust.Relate(l.Loaded.Source.Standing, l.Object.Task.URL, old.Published) == trust.Above:
		l.overruled = old.Published // its quality does not count against a source of a higher rank
	case !p.Force:
		l.held = trust.Worse(old.Published, l.Loaded, p.MinQuality)
		l.kept = l.held != ""
	}
}

// warnOverruled warns that l replaced a load of another owner.
func warnOverruled(l *Load) {
	if l.overruled == nil {
		return
	}
	o, s := l.overruled, l.overruled.Claimed()
	l.Object.Warn(report.Rejection{URL: ledger.Place(l.Object.Task.URL, l.Member),
		Error: fmt.Sprintf("owner: artifact %s of owner %q and rank %d, from %s, was replaced: this source's rank is %d", l.Artifact, s.Owner, s.Rank, ledger.Place(o.Source.URL, o.Source.Member), l.Loaded.Source.Rank)})
}

// demote notes in the ledger that l replaces was (nil: nothing).
//
// The ledger says "loaded" of an object for the artifacts that are answered from it, and "kept" for
// artifacts that another object won, in any order. The winner demotes the loser before its record
// changes, so that a death in between leaves nothing undone, and once more after it. The loser looks
// at the record after its own entry is written. So the later of the two sees the other.
func (p *Publisher) demote(ctx context.Context, l *Load, was *row.Loaded) error {
	if was == nil || record.IsFrom(was, l.Loaded.Source.URL, l.Loaded.Source.Member) {
		return nil
	}
	return ledger.Demote(ctx, p.Catalog, was.Source.URL, l.Artifact, was.Source.Member)
}

// arrive tells that this run brought a name that look-ups had asked for.
func (p *Publisher) arrive(name string, id symbol.ID) {
	if w := p.Wanted.Arrive(name); w != nil {
		p.Tally.Write(func(r *report.Report) { r.AddWanted(w, id) })
	}
}

// Confirm gives an artifact to the source of x, as long as its published load is that one.
func (p *Publisher) Confirm(ctx context.Context, x *outcome.Object, id symbol.ID, member string, published sinks.Load) error {
	standing := x.Task.Source.Standing()
	for !p.DryRun {
		rec, err := p.Catalog.Artifacts.Get(ctx, id)
		if err != nil {
			return failure.Environment(err)
		}
		if rec == nil || rec.Published == nil || rec.Published.Load != published || standing == rec.Published.Claimed() {
			break // another process was faster
		}
		next := record.Copy(rec, id)
		next.Published = record.ClaimedBy(rec.Published, standing)
		err = p.Catalog.Artifacts.Swap(ctx, rec, next)
		if err == nil {
			break
		}
		if !errors.Is(err, sinks.ErrConflict) {
			return failure.Environment(err)
		}
	}
	x.Note(id, member, ledger.OutcomeKept)
	return nil
}
