package row

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
)

// StoreKey describes one version of a store's key: the clear head of a "k" record. Reading it opens
// no key.
type StoreKey struct {
	Version uint32    `json:"-"`
	KEK     string    `json:"kek,omitempty"` // id of the key-encryption key that wraps it; "": not noted
	Made    time.Time `json:"made,omitzero"`
	// Finished is when the last record was sealed anew under it; zero: a rotation to it is not over.
	Finished time.Time `json:"finished,omitzero"`
}

// version2 of a "k" record names in clear the key that wraps it. Version 1, without a name, is still read. Durable.
const version2 byte = 2

// storeKeyAAD is what a wrapped store key is bound to. A key service shows it to its auditors, so it tells the version only.
// The head is not among it: it is for people, and changes while the key does not.
func storeKeyAAD(version uint32) []byte { return bind(nil, []byte{version1}, keysKey(version)) }

// parseStoreKey takes a "k" record apart.
func parseStoreKey(version uint32, value []byte) (s StoreKey, wrapped []byte, err error) {
	bad := func(want string) (StoreKey, []byte, error) {
		return s, nil, fmt.Errorf("store key %d: %w: want %s", version, ErrUnauthentic, want)
	}
	switch {
	case len(value) > 0 && value[0] == version1:
		// Nothing was left to do for the keys of that time, unless newer ones came.
		return StoreKey{Version: version, Finished: time.Unix(0, 0).UTC()}, value[1:], nil
	case len(value) < 3 || value[0] != version2:
		return bad("form 1 or 2")
	}
	n := int(binary.BigEndian.Uint16(value[1:]))
	if len(value) < 3+n {
		return bad("a head as long as it says")
	}
	if err := json.Unmarshal(value[3:3+n], &s); err != nil {
		return bad("a head that is JSON")
	}
	s.Version = version
	return s, value[3+n:], nil
}

// appendStoreKey puts a "k" record together.
func appendStoreKey(s StoreKey, wrapped []byte) ([]byte, error) {
	head, err := json.Marshal(s)
	if err != nil || len(head) >= 1<<16 {
		return nil, fmt.Errorf("head of store key %d, %d bytes: %w", s.Version, len(head), err)
	}
	value := binary.BigEndian.AppendUint16([]byte{version2}, uint16(len(head)))
	return append(append(value, head...), wrapped...), nil
}

// decryptStoreKey gives store key ‖ name key.
func decryptStoreKey(ctx context.Context, kek sinks.KEK, s StoreKey, wrapped []byte) ([]byte, error) {
	secrets, err := kek.Decrypt(ctx, wrapped, storeKeyAAD(s.Version))
	switch {
	case errors.Is(err, sinks.ErrRefused) && s.KEK != "" && s.KEK != kek.ID():
		return nil, fmt.Errorf("unwrap store key %d: %w: it is under %s: %w", s.Version, ErrSealed, s.KEK, err)
	case errors.Is(err, sinks.ErrRefused):
		return nil, fmt.Errorf("unwrap store key %d: %w: %w", s.Version, ErrSealed, err)
	case err != nil:
		return nil, fmt.Errorf("unwrap store key %d: %w", s.Version, err)
	case len(secrets) != 2*secretBytes:
		return nil, fmt.Errorf("store key %d: %w: want %d bytes, not %d", s.Version, ErrUnauthentic, 2*secretBytes, len(secrets))
	}
	return secrets, nil
}

// addStoreKey makes a new version, which must not be there. Each version's
// record repeats the name key, so that opening a store is one unwrapping.
func addStoreKey(ctx context.Context, c sinks.Catalog, kek sinks.KEK, names [secretBytes]byte, s StoreKey) error {
	secrets := make([]byte, secretBytes, 2*secretBytes)
	rand.Read(secrets)
	wrapped, err := kek.Encrypt(ctx, append(secrets, names[:]...), storeKeyAAD(s.Version))
	if err != nil {
		return fmt.Errorf("wrap store key %d: %w", s.Version, err)
	}
	s.KEK = kek.ID()
	value, err := appendStoreKey(s, wrapped)
	if err != nil {
		return err
	}
	if err := c.Swap(ctx, keysKey(s.Version), nil, value); err != nil {
		return fmt.Errorf("add store key %d: %w", s.Version, err)
	}
	return nil
}

// StoreKeys lists the versions of a store's key, oldest first. It opens none.
func StoreKeys(ctx context.Context, c sinks.Catalog) ([]StoreKey, error) {
	var list []StoreKey
	err := eachStoreKey(ctx, c, func(s StoreKey, _, _ []byte) error {
		list = append(list, s)
		return nil
	})
	return list, err
}

func eachStoreKey(ctx context.Context, c sinks.Catalog, emit func(s StoreKey, wrapped, value []byte) error) error {
	var rows []sinks.Row
	err := c.List(ctx, sinks.Under([]byte{RecordStoreKey}), func(r sinks.Row) error {
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read store keys: %w", err)
	}
	for _, r := range rows {
		if len(r.Key) != len(keysKey(0)) {
			return fmt.Errorf("store key record %x: %w", r.Key, ErrUnauthentic)
		}
		s, wrapped, err := parseStoreKey(binary.BigEndian.Uint32(r.Key[1:]), r.Value)
		if err == nil {
			err = emit(s, wrapped, r.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changeStoreKeys replaces the "k" records where edit changes the head or the wrapping.
func changeStoreKeys(ctx context.Context, c sinks.Catalog, edit func(s StoreKey, wrapped []byte) (StoreKey, []byte, error)) error {
	return eachStoreKey(ctx, c, func(s StoreKey, wrapped, value []byte) error {
		next, again, err := edit(s, wrapped)
		if err != nil || next == s && string(again) == string(wrapped) {
			return err
		}
		record, err := appendStoreKey(next, again)
		if err != nil {
			return err
		}
		if err := c.Swap(ctx, keysKey(s.Version), value, record); err != nil {
			return fmt.Errorf("replace store key %d: %w", s.Version, err)
		}
		return nil
	})
}

// Rehome wraps all versions of a store's key by another key-encryption key, and says how many it had to. What
// is wrapped by it already, by an earlier call that was cut short, stays. From then on the store opens under the new one only.
func Rehome(ctx context.Context, c sinks.Catalog, from, to sinks.KEK) (moved int, err error) {
	err = changeStoreKeys(ctx, c, func(s StoreKey, wrapped []byte) (StoreKey, []byte, error) {
		if _, err := to.Decrypt(ctx, wrapped, storeKeyAAD(s.Version)); err == nil {
			return s, wrapped, nil
		} else if !errors.Is(err, sinks.ErrRefused) {
			return s, nil, err
		}
		secrets, err := decryptStoreKey(ctx, from, s, wrapped)
		if err != nil {
			return s, nil, err
		}
		again, err := to.Encrypt(ctx, secrets, storeKeyAAD(s.Version))
		if err != nil {
			return s, nil, fmt.Errorf("wrap store key %d: %w", s.Version, err)
		}
		moved++
		s.KEK = to.ID()
		return s, again, nil
	})
	return moved, err
}
