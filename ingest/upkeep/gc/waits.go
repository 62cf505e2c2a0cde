package gc

import (
	"context"
	"errors"

	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
)

// waits removes waiters and obligations of artifacts that were removed or never came. Then it records
// an obligation for each waiter after its companion has come.
func (g *collector) waits(ctx context.Context) error {
	void := func(w catalog.Waiter) (bool, error) {
		r, err := g.cat.Artifacts.Get(ctx, w.Artifact)
		if err != nil || r != nil {
			return r != nil && (r.State.Removed() || r.Published == nil && len(r.Progress) == 0), err
		}
		// The load never came, or the record is lost. The ledger tells which.
		o, err := g.cat.Ledger.Get(ctx, w.Object)
		return o == nil || len(ledger.Artifacts(o)) == 0, err
	}
	var waiters []companions.Wait
	var obligations []*catalog.Obligation
	err := g.cat.Waiters.Each(ctx, func(companion string, w catalog.Waiter) error {
		is, err := void(w)
		if is {
			waiters = append(waiters, companions.Wait{Companion: companion, Waiter: w})
		}
		return err
	})
	if err == nil {
		err = g.cat.Obligations.Each(ctx, func(o *catalog.Obligation) error {
			is, err := void(o.Waiter)
			if is {
				obligations = append(obligations, o)
			}
			return err
		})
	}
	if err != nil || g.DryRun {
		return err
	}
	errs := make([]error, len(waiters)+len(obligations))
	parallel.Do(len(waiters), func(i int) { errs[i] = g.cat.Waiters.Remove(ctx, waiters[i].Companion, waiters[i].Waiter) })
	parallel.Do(len(obligations), func(i int) { errs[len(waiters)+i] = g.cat.Obligations.Discharge(ctx, obligations[i]) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return companions.Join(ctx, g.cat)
}
