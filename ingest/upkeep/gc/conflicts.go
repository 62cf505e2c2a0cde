package gc

import (
	"context"

	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/ledger"
)

// conflicts removes the conflicts that are past. Their objects count as kept.
func (g *collector) conflicts(ctx context.Context) error {
	return conflicts.EachView(ctx, g.cat, func(v *conflicts.View) error {
		if !v.Past() {
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
