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

// ErrNoPrevious: there is no load to go back to.
var ErrNoPrevious = errors.New("it has no previous load")

// Rollback publishes an artifact's previous load again, in place of the present one, which becomes the previous, and
// pins it: only a forced ingest replaces it. A death in between leaves one or the other; ledger and lake follow with the next ingest.
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
