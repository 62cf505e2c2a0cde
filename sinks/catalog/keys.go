package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Keys finds the records that older versions of the store key seal, and seals them anew.
type Keys struct{ records }

// Stale is a record that needs an older version of the store key.
type Stale struct{ row sinks.Row }

// Key returns the record's key in the catalog, for errors.
func (s Stale) Key() []byte { return s.row.Key }

// Stale returns records that need an older version of the store key than the newest, from a key of
// the catalog on (nil: the first). It stops after about limit records, and returns the key to go on
// with (nil: there are no more). A record that does not open is stale, too: Renew says why.
func (k Keys) Stale(ctx context.Context, from []byte, limit int) (stale []Stale, next []byte, err error) {
	newest := k.ring.Newest()
	seen := 0
	err = k.store.List(ctx, sinks.Span{From: from}, func(r sinks.Row) error {
		if seen++; seen > limit {
			next = r.Key
			return errEnough
		}
		// A worker renews its lease itself, and is soon gone.
		version, ok := row.SealedUnder(r.Value)
		if !ok || r.Key[0] == row.RecordStoreKey || r.Key[0] == row.RecordWorker {
			return nil
		}
		if version != newest || r.Key[0] == row.RecordArtifact && k.wrapsOlder(ctx, r, newest) {
			stale = append(stale, Stale{r})
		}
		return nil
	})
	if err != nil && err != errEnough {
		return nil, nil, fmt.Errorf("list records: %w", err)
	}
	return stale, next, nil
}

// wrapsOlder reports whether a record holds data keys that an older version wraps. A record that was
// sealed anew by other code keeps its data keys as they were wrapped.
func (k Keys) wrapsOlder(ctx context.Context, r sinks.Row, newest uint32) bool {
	rec, err := Artifacts(k).read(ctx, r)
	if err != nil {
		return true
	}
	for _, l := range rec.keyed() {
		if l.KeyVersion != newest {
			return true
		}
	}
	return false
}

// keyed returns the loads that have a data key.
func (r *Record) keyed() (list []*row.Loaded) {
	for _, l := range []*row.Loaded{r.Published, r.Previous} {
		if l != nil && len(l.WrappedKey) > 0 {
			list = append(list, l)
		}
	}
	return list
}

// Renew seals a record anew under the newest store key, with its data keys, and returns how many
// data keys these were. It keeps changes that another process makes meanwhile. done is false for the
// ledger of an object that a worker has open: the worker writes it itself.
func (k Keys) Renew(ctx context.Context, s Stale) (dataKeys int, done bool, err error) {
	for r := s.row; ; {
		if r.Key[0] == row.RecordArtifact {
			dataKeys, err = k.renewArtifact(ctx, r)
			done = true
		} else {
			done, err = k.renewRecord(ctx, r)
		}
		if !errors.Is(err, sinks.ErrConflict) {
			break
		}
		if r.Value, err = k.store.Get(ctx, r.Key); err != nil || r.Value == nil {
			break
		}
	}
	if err != nil {
		return 0, false, fmt.Errorf("record %x: %w", s.row.Key, err)
	}
	return dataKeys, done, nil
}

func (k Keys) renewRecord(ctx context.Context, r sinks.Row) (done bool, err error) {
	plain, err := k.ring.OpenRecord(ctx, r.Key, r.Value)
	if err != nil {
		return false, err
	}
	if r.Key[0] == row.RecordObject {
		var o Object
		if err := json.Unmarshal(plain, &o); err != nil || o.Owner != (row.WorkerID{}) {
			return false, err
		}
	}
	return true, k.store.Swap(ctx, r.Key, r.Value, k.ring.SealRecord(r.Key, plain))
}

func (k Keys) renewArtifact(ctx context.Context, r sinks.Row) (dataKeys int, err error) {
	artifacts := Artifacts(k)
	old, err := artifacts.read(ctx, r)
	if err != nil {
		return 0, err
	}
	next := *old
	for _, l := range []**row.Loaded{&next.Published, &next.Previous} {
		if *l == nil || len((*l).WrappedKey) == 0 || (*l).KeyVersion == k.ring.Newest() {
			continue
		}
		if *l, err = k.ring.Rewrap(next.ID, *l); err != nil {
			return 0, err
		}
		dataKeys++
	}
	return dataKeys, artifacts.Swap(ctx, old, &next)
}

// KeyUse counts, by version of the store key, the values that need it.
type KeyUse struct {
	Records  map[uint32]int // values of the catalog
	DataKeys map[uint32]int // data keys of loads
}

// Use counts the use of each version. It reads the whole catalog.
func (k Keys) Use(ctx context.Context) (KeyUse, error) {
	u := KeyUse{map[uint32]int{}, map[uint32]int{}}
	err := k.store.List(ctx, sinks.Span{}, func(r sinks.Row) error {
		version, ok := row.SealedUnder(r.Value)
		if !ok || r.Key[0] == row.RecordStoreKey {
			return nil
		}
		u.Records[version]++
		if r.Key[0] != row.RecordArtifact {
			return nil
		}
		rec, err := Artifacts(k).read(ctx, r)
		if err != nil {
			return err
		}
		for _, l := range rec.keyed() {
			u.DataKeys[l.KeyVersion]++
		}
		return nil
	})
	if err != nil {
		return u, fmt.Errorf("count the use of keys: %w", err)
	}
	return u, nil
}
