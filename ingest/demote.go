package ingest

import (
	"context"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// The ledger says of an object "loaded" for the artifacts that are answered
// from it, and "kept" for those that another object won, whichever came first.
// The winner demotes the loser before its record flips, so that a death in
// between leaves nothing undone, and once more after it; the loser looks at the record
// after its own entry is written. Whichever of the two comes last sees the other.

// demoteLoser demotes what p replaces: was, nil if there is nothing.
func (j *job) demoteLoser(ctx context.Context, p *pending, was *row.Loaded) error {
	if was == nil || record.IsFrom(was, p.loaded.Source.URL, p.loaded.Source.Member) {
		return nil
	}
	return ledger.Demote(ctx, j.cat, was.Source.URL, p.id, was.Source.Member)
}

// lost turns what another object has won since into "kept" before an object is
// written to the ledger.
func (x *object) lost(ctx context.Context) error {
	for i := range x.artifacts {
		a := &x.artifacts[i]
		if a.Outcome != ledger.OutcomeLoaded {
			continue
		}
		rec, err := x.j.cat.Artifacts.Get(ctx, a.ID)
		if err != nil {
			return err
		}
		if rec != nil && rec.Published != nil && !record.IsFrom(rec.Published, x.t.URL, a.Member) {
			a.Outcome = ledger.OutcomeKept
			x.outcomes[ledger.OutcomeLoaded]--
			x.outcomes[ledger.OutcomeKept]++
		}
	}
	return nil
}

// reconcile demotes every loser in the ledger. A run does so once when it
// finds objects that were open when a process died: that process may have
// written a loser's entry and not looked at its record again.
func (j *job) reconcile(ctx context.Context) error {
	var loaded []*catalog.Object
	err := j.cat.Ledger.Each(ctx, "", func(o *catalog.Object) error {
		if o.State == catalog.ObjectLoaded {
			loaded = append(loaded, o)
		}
		return nil
	})
	for _, o := range loaded {
		if err == nil {
			err = ledger.DemoteLosers(ctx, j.cat, o)
		}
	}
	return err
}
