package row

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
)

// Rotate makes a new version of the store key, which seals from now on; older ones stay readable. Where
// a rotation to the newest version is not over, that one is to be finished: resumed.
// The catalog renews what older versions seal (catalog.Keys), then FinishRotation.
func (k *Keyring) Rotate(ctx context.Context) (version uint32, resumed bool, err error) {
	for {
		list, err := StoreKeys(ctx, k.catalog)
		if err != nil {
			return 0, false, err
		}
		if len(list) == 0 {
			return 0, false, ErrKeyless
		}
		last := list[len(list)-1]
		if last.Finished.IsZero() {
			_, err := k.version(ctx, last.Version)
			return last.Version, true, err
		}
		next := last.Version + 1
		if err := addStoreKey(ctx, k.catalog, k.kek, k.names, StoreKey{Version: next, Made: time.Now().UTC()}); errors.Is(err, sinks.ErrConflict) {
			continue // another rotation was faster: help it
		} else if err != nil {
			return 0, false, err
		}
		_, err = k.version(ctx, next)
		return next, false, err
	}
}

// FinishRotation notes that nothing is left under older versions.
func (k *Keyring) FinishRotation(ctx context.Context, version uint32) error {
	return changeStoreKeys(ctx, k.catalog, func(s StoreKey, wrapped []byte) (StoreKey, []byte, error) {
		if s.Version == version && s.Finished.IsZero() {
			s.Finished = time.Now().UTC()
		}
		return s, wrapped, nil
	})
}

// RetireStoreKey deletes a version of the store key that opens nothing any more: whoever holds an old copy of a
// record and the key-encryption key can no longer open it from this store. It is never the newest.
func (k *Keyring) RetireStoreKey(ctx context.Context, version uint32) error {
	if version >= k.current().version {
		return fmt.Errorf("retire store key %d: it is the newest", version)
	}
	key := keysKey(version)
	value, err := k.catalog.Get(ctx, key)
	if err == nil && value != nil {
		err = k.catalog.Swap(ctx, key, value, nil)
	}
	if err != nil {
		return fmt.Errorf("retire store key %d: %w", version, err)
	}
	return nil
}
