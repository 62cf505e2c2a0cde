package conflicts

import (
	"context"
	"slices"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/catalog"
)

// View is a conflict with the record and the ledger entry that it concerns.
type View struct {
	*catalog.Conflict
	Record *catalog.Record // nil: there is none
	object *catalog.Object // nil: the ledger does not know it
}

// EachView reads all conflicts, then calls f for each.
func EachView(ctx context.Context, c *catalog.Catalog, f func(*View) error) error {
	return Each(ctx, c, "", func(x *catalog.Conflict) error {
		v := &View{Conflict: x}
		var err error
		if v.Record, err = c.Artifacts.Get(ctx, x.Artifact); err != nil {
			return err
		}
		if v.object, err = c.Ledger.Get(ctx, x.KeptOut.URL); err != nil {
			return err
		}
		return f(v)
	})
}

// Decided reports whether the ledger knows the outcome of the object.
func (v *View) Decided() bool {
	if v.object == nil {
		return false
	}
	switch v.object.State {
	case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectConflict, catalog.ObjectSkipped, catalog.ObjectRejected:
		return true
	}
	return false
}

// Unlisted reports whether the ledger's entry names all artifacts of the object, and not the conflict.
func (v *View) Unlisted() bool {
	return v.Decided() && len(v.object.Artifacts) < ledger.MaxArtifacts && !slices.ContainsFunc(v.object.Artifacts, func(a catalog.ObjectArtifact) bool {
		return a.ID == v.Artifact && a.Member == v.KeptOut.Member && a.Outcome == ledger.OutcomeConflict
	})
}

// Past reports whether nothing is left to settle: the artifact was removed, the object is gone, or a dead
// attempt left the record behind.
func (v *View) Past() bool {
	return v.Record == nil || v.Record.Published == nil || v.Record.State.Removed() ||
		v.object != nil && v.object.State == catalog.ObjectGone || v.Unlisted()
}
