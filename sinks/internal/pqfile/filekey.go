package pqfile

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"github.com/symlake/symlake/sinks"
)

// FileKey opens one sealed file.
type FileKey struct {
	Key      []byte
	Material string // key, wrapped by a master key: the file holds it in clear
	Version  uint32 // of the master key
}

// NewFileKey makes the key of a new file under the newest master key: random, or with oneKey the same for all files
// of that master key.
func NewFileKey(ctx context.Context, keys sinks.LakeKeys, oneKey bool) (*FileKey, error) {
	k := &FileKey{Version: keys.Newest}
	master, err := keys.Master(ctx, k.Version)
	if err != nil {
		return nil, fmt.Errorf("master key of the lake: %w", err)
	}
	if oneKey {
		if k.Key, err = hkdf.Key(sha256.New, master, nil, "symlake 1 lake files", keyBytes); err != nil {
			return nil, err
		}
	} else {
		k.Key = make([]byte, keyBytes)
		rand.Read(k.Key)
	}
	k.Material, err = wrap(master, k.Version, k.Key)
	return k, err
}

// openFileKey unwraps the key in the key material of a file.
func openFileKey(ctx context.Context, keys sinks.LakeKeys, text []byte) ([]byte, error) {
	m, version, err := masterOf(text)
	if err != nil {
		return nil, err
	}
	if keys.Master == nil {
		return nil, fmt.Errorf("master key %s is not at hand", m.Master)
	}
	master, err := keys.Master(ctx, version)
	if err != nil {
		return nil, err
	}
	return unwrap(master, m)
}
