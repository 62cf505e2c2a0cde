// Package upkeep changes loads that are published already: [Rollback] publishes a previous load again,
// and [Rename] gives artifacts other APP@BUILDs. The packages below it do the other work on a store
// between runs: gc, forget, verify, and keys.
package upkeep

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

// ErrNoPrevious says that an artifact has no load to go back to.
var ErrNoPrevious = errors.New("it has no previous load")

// Rollback publishes the previous load of an artifact again and pins it: only a forced ingest replaces
// it. The present load becomes the previous one. If the process dies, either load is published, and the
// next ingest sets ledger and lake right.
func Rollback(ctx context.Context, p projection.Stores, id symbol.ID) (now *catalog.Record, err error) {
	cat := catalog.New(p.Store.Catalog, p.Keyring)
	var owed *catalog.Obligation // of the ledger
	for {
		old, err := cat.Artifacts.Get(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case old == nil || old.State.Removed():
			return nil, fmt.Errorf("artifact %s: %w", id, ErrNoPrevious)
		case old.Previous == nil || len(old.Previous.WrappedKey) == 0:
			return nil, fmt.Errorf("artifact %s: %w", id, ErrNoPrevious)
		}
		if record.HasRows(old.Previous) {
			have, err := stored.HaveRows(ctx, p.Store.Blocks, []stored.Load{{Artifact: id, ID: old.Previous.Load}})
			if err == nil && !have[0] {
				err = fmt.Errorf("artifact %s: the rows of its previous load are gone: symlake gc forgets it: %w", id, ErrNoPrevious)
			}
			if err != nil {
				return nil, err
			}
		}
		now = record.Copy(old, id)
		now.Published, now.Previous, now.State = old.Previous, old.Published, catalog.Pinned
		if l := now.Previous; l != nil && owed == nil && !record.IsFrom(l, now.Published.Source.URL, now.Published.Source.Member) {
			if owed, err = cat.Obligations.AddLedger(ctx, id); err != nil {
				return nil, err
			}
		}
		err = cat.Artifacts.Swap(ctx, old, now)
		if errors.Is(err, sinks.ErrConflict) {
			continue
		}
		if err != nil {
			return nil, err
		}
		break
	}
	if owed != nil {
		if err := ledger.FollowRecord(ctx, cat, owed); err != nil {
			return nil, err
		}
	}
	if p.Lake != nil {
		if _, err := projection.Update(ctx, p, []symbol.ID{id}); err != nil {
			return nil, err
		}
	}
	return now, nil
}
