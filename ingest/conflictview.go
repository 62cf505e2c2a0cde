package ingest

import (
	"context"
	"slices"

	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/ledger"
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
