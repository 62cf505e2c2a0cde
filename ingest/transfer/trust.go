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
	"github.com/symlake/symlake/sinks/row"
)

// A copy keeps owners and ranks: a load bids in the target with the standing that replacing it
// takes in the source. What it may not replace there is a conflict of the target, forced or not.

// rule notes a verdict on l, a copy of what the source publishes, in next; it reports whether l is published.
func (c *copier) rule(v trust.Verdict, old, next *catalog.Record, l *row.Loaded) bool {
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

// keepOut notes in the target that the source's load may not replace what dst publishes. What the
// target's ledger knows of the object already has been decided there.
func (c *copier) keepOut(ctx context.Context, src, dst *catalog.Record) error {
	goes, err := c.goes(ctx, src.Published.Source.URL)
	if err != nil || !goes {
		c.count(&c.report.Artifacts.Kept)
		return err
	}
	c.count(&c.report.Artifacts.Conflicts)
	return c.putConflict(ctx, catalog.NewConflict(src.ID, dst.Published, src.Published, c.Now()))
}

// goes reports whether the ledger's entry of an object goes over.
func (c *copier) goes(ctx context.Context, url string) (bool, error) {
	theirs, err := c.from.Ledger.Get(ctx, url)
	if err != nil || theirs == nil {
		return false, err
	}
	ours, err := c.to.Ledger.Get(ctx, url)
	return err == nil && (ours == nil || theirs.Last.After(ours.Last)), err
}

// putConflict enters a conflict into the target, and its audit, unless it has one about the same.
func (c *copier) putConflict(ctx context.Context, x *catalog.Conflict) error {
	for {
		old, err := c.to.Conflicts.Get(ctx, x.Artifact, x.KeptOut.URL, x.KeptOut.Member)
		if err != nil || x.Tells(old) {
			return err
		}
		if old == nil || old.KeptOut != x.KeptOut {
			err = c.to.Audit.Add(ctx, catalog.Event{At: c.Now(), Who: c.Owner, What: "conflict", Detail: x.String()})
		}
		if err == nil {
			err = c.to.Conflicts.Swap(ctx, old, x)
		}
		if !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// confirm gives an artifact of the target to the owner that the source knows, who has the same content.
func (c *copier) confirm(ctx context.Context, src *catalog.Record) error {
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

// conflicts brings over what is open in the source, of objects whose entries go over, too.
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
	goes, err := c.goes(ctx, x.KeptOut.URL)
	if err != nil || !goes {
		return err
	}
	own := *x
	return c.putConflict(ctx, &own)
}

// disputed is the outcome of an artifact of an object that the target answers from another one.
func (c *copier) disputed(ctx context.Context, o *catalog.Object, a *catalog.ObjectArtifact) (string, error) {
	x, err := c.to.Conflicts.Get(ctx, a.ID, o.URL, a.Member)
	if x != nil {
		return ledger.OutcomeConflict, err
	}
	return ledger.OutcomeKept, err
}
