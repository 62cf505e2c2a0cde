package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// waiting is a waiter and the key it waits under.
type waiting struct {
	key string
	catalog.Waiter
}

// joinWaiters records an obligation for each waiter whose companion the catalog knows: for those of
// only, or for all of them (only nil), and then the store's obligations are complete.
func joinWaiters(ctx context.Context, c *catalog.Catalog, only []waiting) error {
	all := only
	if only == nil {
		err := c.AllWaiters(ctx, func(companion string, w catalog.Waiter) error {
			all = append(all, waiting{companion, w})
			return nil
		})
		if err != nil {
			return err
		}
	}
	errs := make([]error, len(all))
	parallel.Do(len(all), func(i int) {
		there, err := arrivedBefore(ctx, c, all[i])
		if err == nil && there {
			err = c.Oblige(ctx, all[i].key, all[i].Waiter)
		}
		errs[i] = err
	})
	if err := errors.Join(errs...); err != nil || only != nil {
		return err
	}
	return c.SetJoined(ctx)
}

// arrival is what the catalog knows of a companion.
type arrival struct {
	places []string                // where the companion is
	owners map[string]row.Standing // by place, as the ledger noted them
	state  string                  // differs when one of the places or its content does; "": it is nowhere
}

// arrivedBefore reports whether the catalog knows the companion that w lacks, and w's object was
// not read yet beside it in its present state.
func arrivedBefore(ctx context.Context, c *catalog.Catalog, w waiting) (bool, error) {
	a, err := arrivalOf(ctx, c, w)
	return err == nil && a.state != "" && a.state != w.InVain, err
}

// arrivalOf looks for the companion that w lacks: by its id, or by the ledger's entry of a file of
// that name beside the object.
func arrivalOf(ctx context.Context, c *catalog.Catalog, w waiting) (arrival, error) {
	asker, err := c.Object(ctx, w.Object)
	if err != nil || asker == nil {
		return arrival{}, err
	}
	name, isFile := strings.CutPrefix(w.key, fileKey)
	places := []string{w.Object[:strings.LastIndexByte(w.Object, '/')+1] + name}
	if !isFile {
		if places, err = placesOf(ctx, c, w.key); err != nil {
			return arrival{}, err
		}
	}
	return arrivalAt(ctx, c, places, asker.Standing)
}

// arrivalAt asks the ledger for the objects of places. An object that is gone does not count, nor
// one whose source may not change what a source of standing s brought.
func arrivalAt(ctx context.Context, c *catalog.Catalog, places []string, s row.Standing) (arrival, error) {
	var a arrival
	sum := sha256.New()
	for _, place := range places {
		o, err := ledger.At(ctx, c, place)
		if err != nil {
			return arrival{}, err
		}
		if o == nil {
			continue
		}
		if a.owners == nil {
			a.owners = make(map[string]row.Standing)
		}
		a.owners[place] = o.Standing
		if o.State == catalog.ObjectGone || !o.Standing.MayReplace(s) {
			continue
		}
		a.places = append(a.places, place)
		fmt.Fprintf(sum, "%q %q\n", place, o.ETag)
		a.state = hex.EncodeToString(sum.Sum(nil)[:16])
	}
	return a, nil
}

// missing lists the companions that loads of this run still lack.
func (j *job) missing() []string {
	var all []string
	for _, keys := range j.lacking {
		for key := range keys {
			if !strings.HasPrefix(key, fileKey) {
				all = append(all, key)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// obligations reports what a run still owes and no run is at work on: obligations of objects that
// are loaded, and waiters whose companion is there without an obligation.
func (v *verifier) obligations(ctx context.Context) error {
	// Before the obligations: what a run that ends meanwhile owed is done, or recorded.
	atWork, err := v.working(ctx)
	if err != nil {
		return err
	}
	owed := map[string]bool{}
	err = v.cat.Obligations(ctx, func(o *catalog.Obligation) error {
		owed[o.Object+"\x00"+o.Companion] = true
		entry, err := v.cat.Object(ctx, o.Object)
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
	err = v.cat.LedgerObligations(ctx, func(o *catalog.Obligation) error {
		v.owes(atWork, "artifact "+o.Artifact.String(), errors.New("the ledger does not yet say which object answers it: run symlake ingest"))
		return nil
	})
	if err != nil {
		return err
	}
	return v.cat.AllWaiters(ctx, func(companion string, w catalog.Waiter) error {
		if owed[w.Object+"\x00"+companion] {
			return nil
		}
		entry, err := v.cat.Object(ctx, w.Object)
		if err != nil || entry == nil || entry.State != catalog.ObjectLoaded && entry.State != catalog.ObjectKept {
			return err
		}
		there, err := arrivedBefore(ctx, v.cat, waiting{companion, w})
		if err == nil && there {
			v.owes(atWork, "object "+w.Object, fmt.Errorf("it lacks its companion %s, which is there: run symlake gc, then symlake ingest", companion))
		}
		return err
	})
}

// owes reports work that is owed: a problem, unless a run is at work that may be about to do it.
func (v *verifier) owes(atWork bool, where string, err error) {
	if atWork {
		v.report.Waiting++
		return
	}
	v.problem(where, err)
}

// waits removes waiters and obligations of artifacts that were removed or never came, and records
// the obligations that waiters are due.
func (g *collector) waits(ctx context.Context) error {
	void := func(w catalog.Waiter) (bool, error) {
		r, err := g.cat.Artifact(ctx, w.Artifact)
		if err != nil || r != nil {
			return r != nil && (r.State.Removed() || r.Published == nil && len(r.Progress) == 0), err
		}
		// A load that never came, unless the record is lost: then the ledger tells of it.
		o, err := g.cat.Object(ctx, w.Object)
		return o == nil || len(ledger.Artifacts(o)) == 0, err
	}
	var waiters []waiting
	var obligations []*catalog.Obligation
	err := g.cat.AllWaiters(ctx, func(companion string, w catalog.Waiter) error {
		is, err := void(w)
		if is {
			waiters = append(waiters, waiting{companion, w})
		}
		return err
	})
	if err == nil {
		err = g.cat.Obligations(ctx, func(o *catalog.Obligation) error {
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
	parallel.Do(len(waiters), func(i int) { errs[i] = g.cat.RemoveWaiter(ctx, waiters[i].key, waiters[i].Waiter) })
	parallel.Do(len(obligations), func(i int) { errs[len(waiters)+i] = g.cat.Discharge(ctx, obligations[i]) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return joinWaiters(ctx, g.cat, nil)
}
