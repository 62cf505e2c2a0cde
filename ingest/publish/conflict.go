package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/row"
)

// KeepOut notes that l may not replace the load that rec publishes: in the audit, then as a conflict,
// then in the object's outcome. A person settles the conflict; a forced ingest does not.
func (p *Publisher) KeepOut(ctx context.Context, x *outcome.Object, rec *catalog.Record, l *row.Loaded) error {
	c := catalog.NewConflict(rec.ID, rec.Published, l, p.Now())
	for !p.DryRun {
		old, err := p.Catalog.Conflicts.Get(ctx, rec.ID, x.Task.URL, l.Source.Member)
		if err != nil {
			return failure.Environment(err)
		}
		if c.Tells(old) {
			c = old
			break
		}
		if old != nil {
			c.At = old.At
		}
		if old == nil || old.KeptOut != c.KeptOut {
			err = p.Catalog.Audit.Add(ctx, audit.Event{At: p.Now(), Who: p.Who, What: "conflict", Detail: c.String()})
		}
		if err == nil {
			err = p.Catalog.Conflicts.Swap(ctx, old, c)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, sinks.ErrConflict) {
			return failure.Environment(err)
		}
	}

	x.NoteConflict(c)
	k := c.Kept
	x.NoteArtifact(catalog.ObjectArtifact{ID: rec.ID, Member: l.Source.Member, Outcome: ledger.OutcomeConflict,
		Error: fmt.Sprintf("conflict: artifact %s belongs to owner %q of rank %d, by %s; objects --accept settles it", rec.ID, k.Owner, k.Rank, ledger.Place(k.URL, k.Member))})
	return nil
}

// endConflicts removes the conflicts of earlier attempts that the object has no longer, before the
// ledger says what became of it. An attempt that failed removes none.
func (p *Publisher) endConflicts(ctx context.Context, x *outcome.Object, o *catalog.Object) error {
	if x.Task.Before == nil || o.State == catalog.ObjectFailed || o.State == catalog.ObjectPending || ledger.Undisputed(x.Task.Before) {
		return nil
	}
	return conflicts.Each(ctx, p.Catalog, o.URL, func(c *catalog.Conflict) error {
		if x.HasConflict(c.Artifact, c.KeptOut.Member) {
			return nil
		}
		return conflicts.Remove(ctx, p.Catalog, c)
	})
}
