package transfer

import (
	"context"
	"errors"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/row"
)

// A copy keeps owners and ranks. A load competes in the target with the standing that a source would
// need to replace it in the source's store. If it may not replace the target's load, the target gets
// a conflict, with Force too.

// apply enters a verdict on l in next, the new record. It reports whether l is published. l is a
// copy of the source's published load.
func (c *copier) apply(v trust.Verdict, old, next *catalog.Record, l *row.Loaded) bool {
	switch v {
	case trust.Load:
		return true
	case trust.Extend:
		claim := old.Published.Claimed()
		l.Claim = &claim
		return true
	case trust.Confirm:
		next.Published = record.ClaimedBy(old.Published, l.Claimed())
	}
	return false
}

// recordConflict notes in the target that the source's load may not replace the load of dst. If the
// target's ledger has a later entry of the object, the target has decided already.
func (c *copier) recordConflict(ctx context.Context, src, dst *catalog.Record) error {
	copies, err := c.copiesEntry(ctx, src.Published.Source.URL)
	if err != nil || !copies {
		c.count(&c.report.Artifacts.Kept)
		return err
	}
	c.count(&c.report.Artifacts.Conflicts)
	return c.putConflict(ctx, catalog.NewConflict(src.ID, dst.Published, src.Published, c.Now()))
}

// copiesEntry reports whether the source's ledger entry of an object replaces the target's.
func (c *copier) copiesEntry(ctx context.Context, url string) (bool, error) {
	src, err := c.from.Ledger.Get(ctx, url)
	if err != nil || src == nil {
		return false, err
	}
	dst, err := c.to.Ledger.Get(ctx, url)
	return err == nil && (dst == nil || src.Last.After(dst.Last)), err
}

// putConflict enters a conflict into the target and its audit, unless the target has an equal one.
func (c *copier) putConflict(ctx context.Context, x *catalog.Conflict) error {
	for {
		old, err := c.to.Conflicts.Get(ctx, x.Artifact, x.KeptOut.URL, x.KeptOut.Member)
		if err != nil || x.Tells(old) {
			return err
		}
		if old == nil || old.KeptOut != x.KeptOut {
			err = c.to.Audit.Add(ctx, audit.Event{At: c.Now(), Who: c.Owner, What: "conflict", Detail: x.String()})
		}
		if err == nil {
			err = c.to.Conflicts.Swap(ctx, old, x)
		}
		if !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// confirmOwner gives an artifact of the target to its owner in the source. Both have the same content.
func (c *copier) confirmOwner(ctx context.Context, src *catalog.Record) error {
	s := src.Published.Claimed()
	for {
		dst, err := c.to.Artifacts.Get(ctx, src.ID)
		if err != nil || dst == nil || c.claim(src, dst) != trust.Confirm || dst.Published.Claimed() == s {
			return err
		}
		next := record.Copy(dst, src.ID)
		next.Published = record.ClaimedBy(dst.Published, s)
		if err := c.to.Artifacts.Swap(ctx, dst, next); !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// conflicts copies the open conflicts of objects along with their ledger entries.
func (c *copier) conflicts(ctx context.Context) error {
	var list []*catalog.Conflict
	err := c.from.Conflicts.Each(ctx, "", func(x *catalog.Conflict) error {
		list = append(list, x)
		return nil
	})
	if err != nil {
		return err
	}
	errs := make([]error, len(list))
	parallel.Do(len(list), func(i int) { errs[i] = c.conflict(ctx, list[i]) })
	return errors.Join(errs...)
}

func (c *copier) conflict(ctx context.Context, x *catalog.Conflict) error {
	dst, err := c.to.Artifacts.Get(ctx, x.Artifact)
	if err != nil || dst == nil || dst.Published == nil || record.IsFrom(dst.Published, x.KeptOut.URL, x.KeptOut.Member) {
		return err
	}
	copies, err := c.copiesEntry(ctx, x.KeptOut.URL)
	if err != nil || !copies {
		return err
	}
	own := *x
	return c.putConflict(ctx, &own)
}

// outcomeBeside returns the outcome of an artifact of o that the target answers from another object.
func (c *copier) outcomeBeside(ctx context.Context, o *catalog.Object, a *catalog.ObjectArtifact) (string, error) {
	x, err := c.to.Conflicts.Get(ctx, a.ID, o.URL, a.Member)
	if x != nil {
		return ledger.OutcomeConflict, err
	}
	return ledger.OutcomeKept, err
}
