package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Stale is a record that needs an older version of the store key.
type Stale struct{ row sinks.Row }

// Key is the record's key in the catalog, for errors.
func (s Stale) Key() []byte { return s.row.Key }

// StaleFrom gives records that need an older version of the store key than the newest, from a key of the
// catalog on (nil: the first): after looking at about limit of them it stops, and next is where to go on (nil: that was all).
// A record that does not open is stale, too: Renew says why.
func (c *Catalog) StaleFrom(ctx context.Context, from []byte, limit int) (stale []Stale, next []byte, err error) {
	newest := c.k.Newest()
	seen := 0
	err = c.c.List(ctx, sinks.Span{From: from}, func(r sinks.Row) error {
		if seen++; seen > limit {
			next = r.Key
			return errEnough
		}
		// A worker's lease is renewed by the worker, and soon gone.
		version, ok := row.SealedUnder(r.Value)
		if !ok || r.Key[0] == row.RecordStoreKey || r.Key[0] == row.RecordWorker {
			return nil
		}
		if version != newest || r.Key[0] == row.RecordArtifact && c.wrapsOlder(ctx, r, newest) {
			stale = append(stale, Stale{r})
		}
		return nil
	})
	if err != nil && err != errEnough {
		return nil, nil, fmt.Errorf("list records: %w", err)
	}
	return stale, next, nil
}

// wrapsOlder: a record that was sealed anew keeps data keys as they were wrapped.
func (c *Catalog) wrapsOlder(ctx context.Context, r sinks.Row, newest uint32) bool {
	rec, err := c.record(ctx, r)
	return err != nil || len(staleLoads(rec, newest)) > 0
}

func staleLoads(rec *Record, newest uint32) (list []*row.Loaded) {
	for _, l := range []*row.Loaded{rec.Published, rec.Previous} {
		if l != nil && len(l.WrappedKey) > 0 && l.KeyVersion != newest {
			list = append(list, l)
		}
	}
	return list
}

// Renew seals a record anew under the newest store key, with its data keys, and says how many of these there were. What
// another process makes of the record meanwhile is kept. The ledger of an object that a worker has open is left to
// the worker: done is false.
func (c *Catalog) Renew(ctx context.Context, s Stale) (dataKeys int, done bool, err error) {
	for r := s.row; ; {
		if r.Key[0] == row.RecordArtifact {
			dataKeys, err = c.renewArtifact(ctx, r)
			done = true
		} else {
			done, err = c.renewRecord(ctx, r)
		}
		if !errors.Is(err, sinks.ErrConflict) {
			break
		}
		if r.Value, err = c.c.Get(ctx, r.Key); err != nil || r.Value == nil {
			break
		}
	}
	if err != nil {
		return 0, false, fmt.Errorf("record %x: %w", s.row.Key, err)
	}
	return dataKeys, done, nil
}

func (c *Catalog) renewRecord(ctx context.Context, r sinks.Row) (done bool, err error) {
	plain, err := c.k.OpenRecord(ctx, r.Key, r.Value)
	if err != nil {
		return false, err
	}
	if r.Key[0] == row.RecordObject {
		var o Object
		if err := json.Unmarshal(plain, &o); err != nil || o.Owner != (row.WorkerID{}) {
			return false, err
		}
	}
	return true, c.c.Swap(ctx, r.Key, r.Value, c.k.SealRecord(r.Key, plain))
}

func (c *Catalog) renewArtifact(ctx context.Context, r sinks.Row) (dataKeys int, err error) {
	old, err := c.record(ctx, r)
	if err != nil {
		return 0, err
	}
	next := *old
	for _, l := range []**row.Loaded{&next.Published, &next.Previous} {
		if *l == nil || len((*l).WrappedKey) == 0 || (*l).KeyVersion == c.k.Newest() {
			continue
		}
		if *l, err = c.k.Rewrap(next.ID, *l); err != nil {
			return 0, err
		}
		dataKeys++
	}
	return dataKeys, c.SwapArtifact(ctx, old, &next)
}

// KeyUse counts what each version of the store key still opens.
type KeyUse struct {
	Records  map[uint32]int // values of the catalog
	DataKeys map[uint32]int // data keys of loads
}

// KeyUse reads the whole catalog.
func (c *Catalog) KeyUse(ctx context.Context) (KeyUse, error) {
	u := KeyUse{map[uint32]int{}, map[uint32]int{}}
	err := c.c.List(ctx, sinks.Span{}, func(r sinks.Row) error {
		version, ok := row.SealedUnder(r.Value)
		if !ok || r.Key[0] == row.RecordStoreKey {
			return nil
		}
		u.Records[version]++
		if r.Key[0] != row.RecordArtifact {
			return nil
		}
		rec, err := c.record(ctx, r)
		if err != nil {
			return err
		}
		for _, l := range []*row.Loaded{rec.Published, rec.Previous} {
			if l != nil && len(l.WrappedKey) > 0 {
				u.DataKeys[l.KeyVersion]++
			}
		}
		return nil
	})
	if err != nil {
		return u, fmt.Errorf("count the use of keys: %w", err)
	}
	return u, nil
}
