package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/upkeep/dangling"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// dangling finds names and waiters that lead to artifacts without a record.
func (v *verifier) dangling(ctx context.Context) error {
	found, err := dangling.Find(ctx, v.cat, v.known, nil)
	if err != nil {
		return err
	}
	for _, id := range slices.SortedFunc(maps.Keys(found), func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) }) {
		d := found[id]
		heal := d.Heal()
		if d.Object == "" && !v.rows[id] {
			heal = "a process died that loaded it, and symlake gc removes what is left"
		}
		v.problem("artifact "+id.String(), fmt.Errorf("its record is gone, and %s: %s", d, heal))
	}
	return nil
}

// source checks that the ledger knows the object of a published load. Its entry is older than the load,
// and stays.
func (v *verifier) source(ctx context.Context, l *row.Loaded) error {
	if l == nil || l.Copied || v.bare || l.Source.URL == "" {
		return nil
	}
	o, err := v.cat.Ledger.Get(ctx, l.Source.URL)
	if err == nil && o == nil {
		err = errors.New("the ledger has no entry of object " + l.Source.URL + ", which it was read from: restore the catalog from a backup, or run symlake ingest again, which enters the object anew")
	}
	return err
}

// waiters checks that a waiter exists for each companion that a published load lacks. Waiters are older
// than the load. A load that a rollback published again lacks later companions on purpose.
func (v *verifier) waiters(ctx context.Context, r *catalog.Record) error {
	l := r.Published
	if l == nil || r.State != catalog.Live || v.bare {
		return nil
	}
	for _, key := range l.Quality.Missing {
		list, err := v.cat.Waiters.For(ctx, key)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(w catalog.Waiter) bool { return w.Artifact == r.ID }) {
			now, err := v.cat.Artifacts.Get(ctx, r.ID) // a run may have brought the companion meanwhile
			if err != nil || now == nil || now.Published == nil || now.Published.Load != l.Load {
				return err
			}
			return fmt.Errorf("it lacks companion %s, and no waiter wakes it when that comes: symlake ingest --force %s enters it anew", key, l.Source.URL)
		}
	}
	return nil
}

// audit checks the chain of the audit's events.
func (v *verifier) audit(ctx context.Context) error {
	chain, err := v.cat.Audit.Chain(ctx)
	if err != nil {
		return err
	}
	v.report.Events, v.report.AuditHead = chain.Before+chain.Events, chain.Head
	v.bare = chain.CopiedBefore // earlier programs did not mark loads that were copied without an entry
	for _, err := range chain.Problems {
		v.problem("audit", err)
	}
	if v.AuditHead != "" && !chain.Has(v.AuditHead) {
		v.problem("audit", fmt.Errorf("it does not contain head %s: events were removed or replaced since that was noted", v.AuditHead))
	}
	return nil
}
