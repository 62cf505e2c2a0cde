package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// A conflict is a durable record: see catalog.Conflict. An ingest finds it and tells it; a person
// settles it by Accept or Dismiss. A forced ingest does not.

// keepOut notes that l may not replace what rec publishes: in the audit, then as a record, then in
// the object's outcome.
func (x *object) keepOut(ctx context.Context, rec *catalog.Record, l *row.Loaded) error {
	j := x.j
	c := catalog.NewConflict(rec.ID, rec.Published, l, j.o.Now())
	for !j.o.DryRun {
		old, err := j.cat.Conflicts.Get(ctx, rec.ID, x.t.URL, l.Source.Member)
		if err != nil {
			return environment(err)
		}
		if c.Tells(old) {
			c = old
			break
		}
		if old != nil {
			c.At = old.At
		}
		if old == nil || old.KeptOut != c.KeptOut {
			err = j.cat.Audit.Add(ctx, catalog.Event{At: j.o.Now(), Who: j.o.Owner, What: "conflict", Detail: c.String()})
		}
		if err == nil {
			err = j.cat.Conflicts.Swap(ctx, old, c)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, sinks.ErrConflict) {
			return environment(err)
		}
	}
	x.mu.Lock()
	x.conflicts = append(x.conflicts, c)
	x.mu.Unlock()
	p := c.Kept
	x.noteArtifact(catalog.ObjectArtifact{ID: rec.ID, Member: l.Source.Member, Outcome: ledger.OutcomeConflict,
		Error: fmt.Sprintf("conflict: artifact %s belongs to owner %q of rank %d, by %s; objects --accept settles it", rec.ID, p.Owner, p.Rank, ledger.Place(p.URL, p.Member))})
	return nil
}

// settleConflicts removes the conflicts of earlier attempts that the object has no longer, before
// the ledger says what became of it. An attempt that failed removes none.
func (x *object) settleConflicts(ctx context.Context, o *catalog.Object) error {
	if x.t.Before == nil || o.State == catalog.ObjectFailed || o.State == catalog.ObjectPending || ledger.Undisputed(x.t.Before) {
		return nil
	}
	return conflicts.Each(ctx, x.j.cat, o.URL, func(c *catalog.Conflict) error {
		if slices.ContainsFunc(x.conflicts, func(k *catalog.Conflict) bool {
			return k.Artifact == c.Artifact && k.KeptOut.Member == c.KeptOut.Member
		}) {
			return nil
		}
		return conflicts.Remove(ctx, x.j.cat, c)
	})
}
