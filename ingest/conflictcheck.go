package ingest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks/catalog"
)

// conflictView is a conflict with what it speaks of.
type conflictView struct {
	*catalog.Conflict
	record *catalog.Record // nil: there is none
	object *catalog.Object // nil: the ledger does not know it
}

// eachView reads all conflicts, then calls f for each with what it speaks of.
func eachView(ctx context.Context, c *catalog.Catalog, f func(*conflictView) error) error {
	return conflicts.Each(ctx, c, "", func(x *catalog.Conflict) error {
		v := &conflictView{Conflict: x}
		var err error
		if v.record, err = c.Artifacts.Get(ctx, x.Artifact); err != nil {
			return err
		}
		if v.object, err = c.Ledger.Get(ctx, x.KeptOut.URL); err != nil {
			return err
		}
		return f(v)
	})
}

// settled reports whether the ledger says of the object what became of it.
func (v *conflictView) settled() bool {
	if v.object == nil {
		return false
	}
	switch v.object.State {
	case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectConflict, catalog.ObjectSkipped, catalog.ObjectRejected:
		return true
	}
	return false
}

// unlisted reports whether the ledger's entry, which names all artifacts of the object, does not
// name the conflict.
func (v *conflictView) unlisted() bool {
	return v.settled() && len(v.object.Artifacts) < ledger.MaxArtifacts && !slices.ContainsFunc(v.object.Artifacts, func(a catalog.ObjectArtifact) bool {
		return a.ID == v.Artifact && a.Member == v.KeptOut.Member && a.Outcome == ledger.OutcomeConflict
	})
}

// past reports whether there is nothing left to settle: the artifact was removed, the object is
// gone, or an attempt that died left the record behind.
func (v *conflictView) past() bool {
	return v.record == nil || v.record.Published == nil || v.record.State.Removed() ||
		v.object != nil && v.object.State == catalog.ObjectGone || v.unlisted()
}

// conflicts removes the conflicts that are past.
func (g *collector) conflicts(ctx context.Context) error {
	return eachView(ctx, g.cat, func(v *conflictView) error {
		if !v.past() {
			return nil
		}
		g.report.Conflicts++
		if g.DryRun {
			return nil
		}
		if err := ledger.ChangeOutcome(ctx, g.cat, v.KeptOut.Source, v.Artifact, ledger.OutcomeConflict, ledger.OutcomeKept); err != nil {
			return err
		}
		return conflicts.Remove(ctx, g.cat, v.Conflict)
	})
}

// conflicts checks that records, ledger and conflicts say the same of who holds what.
func (v *verifier) conflicts(ctx context.Context) {
	err := eachView(ctx, v.cat, func(c *conflictView) error {
		where := fmt.Sprintf("conflict of %s about %s", ledger.Place(c.KeptOut.URL, c.KeptOut.Member), c.Artifact)
		if c.record == nil || c.record.Published == nil || c.record.State.Removed() || !c.settled() {
			return ctx.Err() // gc removes it, or an ingest is about to settle it
		}
		p := c.record.Published
		switch {
		case record.IsFrom(p, c.KeptOut.URL, c.KeptOut.Member) && hex.EncodeToString(p.Digest[:]) == c.KeptOut.Digest:
			v.problem(where, errors.New("the load that it keeps out is published, and no person accepted it"))
		case hex.EncodeToString(p.Load[:]) == c.Load && c.KeptOut.MayReplace(p.Claimed()):
			v.problem(where, fmt.Errorf("the published load has owner %q and rank %d, the conflict says %q and %d",
				p.Claimed().Owner, p.Claimed().Rank, c.Kept.Owner, c.Kept.Rank))
		case c.unlisted():
			v.problem(where, errors.New("the ledger does not name it: gc removes it"))
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		v.problem("conflicts", err)
	}
}

// conflict checks that a conflict that the ledger names has its record.
func (v *verifier) conflict(ctx context.Context, o *catalog.Object, a *catalog.ObjectArtifact) {
	c, err := v.cat.Conflicts.Get(ctx, a.ID, o.URL, a.Member)
	if err == nil && c == nil {
		err = fmt.Errorf("artifact %s is in conflict by the ledger, and no record says with what", a.ID)
	}
	if err != nil && ctx.Err() == nil {
		v.problem("object "+o.URL, err)
	}
}
