package ingest

import (
	"context"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// The outcomes of an artifact in the ledger.
const (
	outcomeLoaded   = "loaded"
	outcomeKept     = "kept"
	outcomeSkipped  = "skipped"
	outcomeRejected = "rejected"
	outcomeHeld     = "held"     // much worse than what is published
	outcomeConflict = "conflict" // another owner's load keeps it out
)

// outcomeForgotten is what became of an artifact that a person removed.
const outcomeForgotten = "forgotten"

// The reasons of the ledger that others go by.
const (
	reasonUnknown   = "unknown-format"
	reasonEmpty     = "no-symbols"
	reasonCompanion = "companion" // part of another object, and nothing by itself
	reasonForgotten = "forgotten" // by a person: only force lifts it
	reasonCrashed   = "the process that opened it died"
)

// maxNoted bounds the artifacts that a ledger entry names: it is one record of
// the catalog. All of them count.
const maxNoted = 10_000

// stateOf is the state of an object whose artifacts are settled.
func stateOf(list []row.ObjectArtifact) row.ObjectState {
	has := func(outcome string) bool {
		return slices.ContainsFunc(list, func(a row.ObjectArtifact) bool { return a.Outcome == outcome })
	}
	switch {
	case has(outcomeLoaded):
		return row.ObjectLoaded
	case has(outcomeConflict):
		return row.ObjectConflict
	}
	return row.ObjectKept
}

// undisputed reports whether an entry says that its object has no conflict: the entry is that of an
// attempt that ended, and names all artifacts.
func undisputed(o *row.Object) bool {
	switch o.State {
	case row.ObjectLoaded, row.ObjectKept, row.ObjectSkipped, row.ObjectRejected:
		return len(o.Artifacts) < maxNoted && !slices.ContainsFunc(o.Artifacts, func(a row.ObjectArtifact) bool { return a.Outcome == outcomeConflict })
	}
	return false
}

// stored are the artifacts that an object has given or would give.
func stored(o *row.Object) []symbol.ID {
	var ids []symbol.ID
	for _, a := range o.Artifacts {
		if (a.Outcome == outcomeLoaded || a.Outcome == outcomeKept) && a.ID != (symbol.ID{}) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// held are the artifacts that the store has of an object, by the ledger.
func held(o *row.Object) (ids []symbol.ID) {
	if o.State != row.ObjectLoaded && o.State != row.ObjectKept && o.State != row.ObjectPublished {
		return nil
	}
	return stored(o)
}

// endedAs is the state in which an object ended that is being derived again. Only objects that were
// loaded or kept wait for companions; skipped ones have no artifacts.
func endedAs(o *row.Object) row.ObjectState {
	has := func(outcome string) bool {
		return slices.ContainsFunc(o.Artifacts, func(a row.ObjectArtifact) bool { return a.Outcome == outcome })
	}
	switch {
	case has(outcomeLoaded), o.State == row.ObjectPublished:
		return row.ObjectLoaded
	case has(outcomeKept), has(outcomeHeld):
		return row.ObjectKept
	case has(outcomeRejected):
		return row.ObjectRejected
	}
	return row.ObjectSkipped
}

// shortReason is what a report counts by: the sentence behind the colon is in the ledger.
func shortReason(reason string) string {
	short, _, _ := strings.Cut(reason, ":")
	return short
}

func join(url, member string) string {
	if member == "" {
		return url
	}
	return url + "!" + member
}

// ledgerOf gives the ledger's entry of the object of a place ("URL!member"); nil: there is none.
func ledgerOf(ctx context.Context, c *row.Catalog, place string) (*row.Object, error) {
	for {
		o, err := c.Object(ctx, place)
		end := strings.LastIndexByte(place, '!')
		if err != nil || o != nil || end < 0 {
			return o, err
		}
		place = place[:end]
	}
}
