package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/sinks/catalog"
)

// obligations reports work that is due while no run is at work: obligations of loaded objects, and
// waiters without an obligation after their companion has come.
func (v *verifier) obligations(ctx context.Context) error {
	// Asked before the obligations are read: a run that ends meanwhile has done or recorded its work.
	atWork, err := v.working(ctx)
	if err != nil {
		return err
	}
	owed := map[string]bool{}
	err = v.cat.Obligations.Each(ctx, func(o *catalog.Obligation) error {
		owed[o.Object+"\x00"+o.Companion] = true
		entry, err := v.cat.Ledger.Get(ctx, o.Object)
		if err != nil || entry == nil {
			return err
		}
		switch entry.State {
		case catalog.ObjectLoaded, catalog.ObjectKept:
			v.owes(atWork, "object "+o.Object, fmt.Errorf("it was read without its companion %s, which is there now: run symlake ingest", o.Companion))
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = v.cat.Obligations.EachLedger(ctx, func(o *catalog.Obligation) error {
		v.owes(atWork, "artifact "+o.Artifact.String(), errors.New("the ledger does not yet say which object answers it: run symlake ingest"))
		return nil
	})
	if err != nil {
		return err
	}
	return v.cat.Waiters.Each(ctx, func(companion string, w catalog.Waiter) error {
		if owed[w.Object+"\x00"+companion] {
			return nil
		}
		entry, err := v.cat.Ledger.Get(ctx, w.Object)
		if err != nil || entry == nil || entry.State != catalog.ObjectLoaded && entry.State != catalog.ObjectKept {
			return err
		}
		there, err := companions.Arrived(ctx, v.cat, companions.Wait{Companion: companion, Waiter: w})
		if err == nil && there {
			v.owes(atWork, "object "+w.Object, fmt.Errorf("it lacks its companion %s, which is there: run symlake gc, then symlake ingest", companion))
		}
		return err
	})
}

// owes reports work that is due: a problem, unless a run at work may be about to do it.
func (v *verifier) owes(atWork bool, where string, err error) {
	if atWork {
		v.report.Waiting++
		return
	}
	v.problem(where, err)
}

// working reports whether a run may be at work: a worker has a lease, and is not known to be dead.
func (v *verifier) working(ctx context.Context) (is bool, err error) {
	err = v.cat.Workers.Each(ctx, func(w *catalog.Worker) error {
		alive, known := true, false
		if v.Alive != nil {
			alive, known = v.Alive(w.Host, w.Process)
		}
		is = is || alive || !known
		return nil
	})
	return is, err
}
