package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// ChangeOutcome changes the outcome of an artifact in the entry of its object, and the object's state
// with it. An artifact with another outcome than from stays.
func ChangeOutcome(ctx context.Context, c *catalog.Catalog, s row.Source, id symbol.ID, from, to string) error {
	for {
		old, err := c.Ledger.Get(ctx, s.URL)
		if err != nil || old == nil {
			return err
		}
		next := *old
		next.Artifacts = slices.Clone(old.Artifacts)
		turned := false
		for i := range next.Artifacts { // members may be namesakes
			if a := &next.Artifacts[i]; a.ID == id && a.Member == s.Member && a.Outcome == from {
				a.Outcome, turned = to, true
			}
		}
		if !turned {
			return nil
		}
		switch old.State {
		case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectConflict:
			next.State = StateOf(next.Artifacts)
		}
		if err := c.Ledger.Swap(ctx, old, &next); !errors.Is(err, sinks.ErrConflict) {
			return err
		}
	}
}

// Demote notes that an object no longer answers one of its artifacts.
func Demote(ctx context.Context, c *catalog.Catalog, url string, id symbol.ID, member string) error {
	return ChangeOutcome(ctx, c, row.Source{URL: url, Member: member}, id, OutcomeLoaded, OutcomeKept)
}

// DemoteLosers compares an object that was just written to the ledger with the records of the artifacts
// that it loaded. It demotes the object for artifacts that another object has won meanwhile. Where the
// object won, it demotes the loser again, because the winner may have died before it did.
func DemoteLosers(ctx context.Context, c *catalog.Catalog, o *catalog.Object) error {
	for _, a := range o.Artifacts {
		if a.Outcome != OutcomeLoaded {
			continue
		}
		rec, err := c.Artifacts.Get(ctx, a.ID)
		if err != nil {
			return err
		}
		if rec == nil || rec.Published == nil {
			continue
		}
		loser := row.Source{URL: o.URL, Member: a.Member}
		if record.IsFrom(rec.Published, o.URL, a.Member) {
			if rec.Previous == nil || record.IsFrom(rec.Previous, o.URL, a.Member) {
				continue
			}
			loser = rec.Previous.Source
		}
		if err := Demote(ctx, c, loser.URL, a.ID, loser.Member); err != nil {
			return err
		}
	}
	return nil
}

// FollowRecord makes the ledger's entries of an artifact's objects follow its record, then discharges
// the obligation.
func FollowRecord(ctx context.Context, c *catalog.Catalog, owed *catalog.Obligation) error {
	rec, err := c.Artifacts.Get(ctx, owed.Artifact)
	if err != nil {
		return err
	}
	if rec != nil && rec.Published != nil && !rec.State.Removed() {
		winner := rec.Published.Source
		if l := rec.Previous; l != nil && !record.IsFrom(l, winner.URL, winner.Member) {
			if err := ChangeOutcome(ctx, c, l.Source, rec.ID, OutcomeLoaded, OutcomeKept); err != nil {
				return err
			}
		}
		if err := ChangeOutcome(ctx, c, winner, rec.ID, OutcomeKept, OutcomeLoaded); err != nil {
			return err
		}
	}
	return c.Obligations.Discharge(ctx, owed)
}

// Detached returns a context that outlives ctx by 10 seconds, to note the state of an object that a run
// leaves.
func Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}
