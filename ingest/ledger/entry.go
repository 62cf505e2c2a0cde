// Package ledger reads and changes the ledger's entries of objects: states, outcomes of their artifacts,
// and the names under which a look-up finds objects without artifacts.
//
// The ledger calls an artifact of an object "loaded" if the object answers it, and "kept" if another
// object won it. The winner demotes the loser before its own record changes, so that a death in between
// leaves no work, and again after that. The loser looks at the record after it has written its own entry.
// The later of the two sees the other.
package ledger

import (
	"context"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
)

// The outcomes of an artifact in the ledger.
const (
	OutcomeLoaded   = "loaded"
	OutcomeKept     = "kept"
	OutcomeSkipped  = "skipped"
	OutcomeRejected = "rejected"
	OutcomeHeld     = "held"     // much worse than the published load
	OutcomeConflict = "conflict" // another owner's load keeps it out
)

// OutcomeForgotten is the outcome of an artifact that a person removed.
const OutcomeForgotten = "forgotten"

// Reasons that programs compare.
const (
	ReasonUnknown   = "unknown-format"
	ReasonEmpty     = "no-symbols"
	ReasonCompanion = "companion" // part of another object, and nothing by itself
	ReasonForgotten = "forgotten" // a person removed it: only force lifts it
	ReasonCrashed   = "the process that opened it died"
	ReasonAbsent    = "the server does not have it" // a source that cannot list was asked for it
)

// MaxArtifacts bounds the artifacts that a ledger entry names, because it is one record of the catalog.
// Counts include the others.
const MaxArtifacts = 10_000

// has reports whether an artifact has an outcome.
func has(list []catalog.ObjectArtifact, outcome string) bool {
	return slices.ContainsFunc(list, func(a catalog.ObjectArtifact) bool { return a.Outcome == outcome })
}

// StateOf returns the state of an object from the outcomes of its artifacts.
func StateOf(list []catalog.ObjectArtifact) catalog.ObjectState {
	switch {
	case has(list, OutcomeLoaded):
		return catalog.ObjectLoaded
	case has(list, OutcomeConflict):
		return catalog.ObjectConflict
	}
	return catalog.ObjectKept
}

// Undisputed reports whether an entry proves that its object has no conflict: its attempt ended, and it
// names all artifacts.
func Undisputed(o *catalog.Object) bool {
	switch o.State {
	case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectSkipped, catalog.ObjectRejected:
		return len(o.Artifacts) < MaxArtifacts && !has(o.Artifacts, OutcomeConflict)
	}
	return false
}

// Artifacts returns the artifacts that an object has given or would give.
func Artifacts(o *catalog.Object) []symbol.ID {
	var ids []symbol.ID
	for _, a := range o.Artifacts {
		if (a.Outcome == OutcomeLoaded || a.Outcome == OutcomeKept) && a.ID != (symbol.ID{}) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// InStore returns the artifacts of an object that the store has, by the ledger.
func InStore(o *catalog.Object) (ids []symbol.ID) {
	if o.State != catalog.ObjectLoaded && o.State != catalog.ObjectKept && o.State != catalog.ObjectPublished {
		return nil
	}
	return Artifacts(o)
}

// EndedAs returns the state in which an object ended before a run began to derive it again. Only loaded
// and kept objects wait for companions; skipped objects have no artifacts.
func EndedAs(o *catalog.Object) catalog.ObjectState {
	switch {
	case has(o.Artifacts, OutcomeLoaded), o.State == catalog.ObjectPublished:
		return catalog.ObjectLoaded
	case has(o.Artifacts, OutcomeKept), has(o.Artifacts, OutcomeHeld):
		return catalog.ObjectKept
	case has(o.Artifacts, OutcomeRejected):
		return catalog.ObjectRejected
	}
	return catalog.ObjectSkipped
}

// ShortReason returns a reason up to its colon: reports count by it.
func ShortReason(reason string) string {
	short, _, _ := strings.Cut(reason, ":")
	return short
}

// Place returns "URL!member", or the URL alone if member is empty.
func Place(url, member string) string {
	if member == "" {
		return url
	}
	return url + "!" + member
}

// At returns the ledger's entry of the object of a place ("URL!member"), or nil.
func At(ctx context.Context, c *catalog.Catalog, place string) (*catalog.Object, error) {
	for {
		o, err := c.Ledger.Get(ctx, place)
		end := strings.LastIndexByte(place, '!')
		if err != nil || o != nil || end < 0 {
			return o, err
		}
		place = place[:end]
	}
}
