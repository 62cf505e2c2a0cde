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
	OutcomeHeld     = "held"     // much worse than what is published
	OutcomeConflict = "conflict" // another owner's load keeps it out
)

// OutcomeForgotten is what became of an artifact that a person removed.
const OutcomeForgotten = "forgotten"

// The reasons of the ledger that others go by.
const (
	ReasonUnknown   = "unknown-format"
	ReasonEmpty     = "no-symbols"
	ReasonCompanion = "companion" // part of another object, and nothing by itself
	ReasonForgotten = "forgotten" // by a person: only force lifts it
	ReasonCrashed   = "the process that opened it died"
)

// MaxArtifacts bounds the artifacts that a ledger entry names: it is one record of
// the catalog. All of them count.
const MaxArtifacts = 10_000

// StateOf is the state of an object whose artifacts are settled.
func StateOf(list []catalog.ObjectArtifact) catalog.ObjectState {
	has := func(outcome string) bool {
		return slices.ContainsFunc(list, func(a catalog.ObjectArtifact) bool { return a.Outcome == outcome })
	}
	switch {
	case has(OutcomeLoaded):
		return catalog.ObjectLoaded
	case has(OutcomeConflict):
		return catalog.ObjectConflict
	}
	return catalog.ObjectKept
}

// Undisputed reports whether an entry says that its object has no conflict: the entry is that of an
// attempt that ended, and names all artifacts.
func Undisputed(o *catalog.Object) bool {
	switch o.State {
	case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectSkipped, catalog.ObjectRejected:
		return len(o.Artifacts) < MaxArtifacts && !slices.ContainsFunc(o.Artifacts, func(a catalog.ObjectArtifact) bool { return a.Outcome == OutcomeConflict })
	}
	return false
}

// Artifacts are the artifacts that an object has given or would give.
func Artifacts(o *catalog.Object) []symbol.ID {
	var ids []symbol.ID
	for _, a := range o.Artifacts {
		if (a.Outcome == OutcomeLoaded || a.Outcome == OutcomeKept) && a.ID != (symbol.ID{}) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// InStore are the artifacts that the store has of an object, by the ledger.
func InStore(o *catalog.Object) (ids []symbol.ID) {
	if o.State != catalog.ObjectLoaded && o.State != catalog.ObjectKept && o.State != catalog.ObjectPublished {
		return nil
	}
	return Artifacts(o)
}

// EndedAs is the state in which an object ended that is being derived again. Only objects that were
// loaded or kept wait for companions; skipped ones have no artifacts.
func EndedAs(o *catalog.Object) catalog.ObjectState {
	has := func(outcome string) bool {
		return slices.ContainsFunc(o.Artifacts, func(a catalog.ObjectArtifact) bool { return a.Outcome == outcome })
	}
	switch {
	case has(OutcomeLoaded), o.State == catalog.ObjectPublished:
		return catalog.ObjectLoaded
	case has(OutcomeKept), has(OutcomeHeld):
		return catalog.ObjectKept
	case has(OutcomeRejected):
		return catalog.ObjectRejected
	}
	return catalog.ObjectSkipped
}

// ShortReason is what a report counts by: the sentence behind the colon is in the ledger.
func ShortReason(reason string) string {
	short, _, _ := strings.Cut(reason, ":")
	return short
}

func Place(url, member string) string {
	if member == "" {
		return url
	}
	return url + "!" + member
}

// At gives the ledger's entry of the object of a place ("URL!member"); nil: there is none.
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
