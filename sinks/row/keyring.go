package row

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Keyring holds a store's keys: the store keys (the newest seals) and the name key, which never
// changes. Safe for concurrent use.
type Keyring struct {
	catalog sinks.Catalog
	kek     sinks.KEK
	names   [secretBytes]byte
	tags    sync.Pool // of hash.Hash, keyed with names

	mu     sync.RWMutex
	newest uint32
	keys   map[uint32]*storeKey
}

// storeKey is one version of the store key.
type storeKey struct {
	version uint32
	wraps   *sealer   // data keys
	records *sealer   // catalog values
	lake    []byte    // the lake's master key
	marks   []byte    // authenticates records without a text
	macs    sync.Pool // of hash.Hash, keyed with marks
}

// OpenKeyring reads the store's keys: one call of the key-encryption key for
// the newest version; older ones are opened when something needs them.
// ErrKeyless: the store has none yet; ErrSealed: kek does not open them.
func OpenKeyring(ctx context.Context, c sinks.Catalog, kek sinks.KEK) (*Keyring, error) {
	k := &Keyring{catalog: c, kek: kek, keys: map[uint32]*storeKey{}}
	var last sinks.Row
	err := c.List(ctx, sinks.Under([]byte{RecordStoreKey}), func(r sinks.Row) error {
		last = r
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read store keys: %w", err)
	}
	if last.Key == nil {
		return nil, ErrKeyless
	}
	if len(last.Key) != len(keysKey(0)) {
		return nil, fmt.Errorf("store key record %x: %w", last.Key, ErrUnauthentic)
	}
	version := binary.BigEndian.Uint32(last.Key[1:])
	if _, err := k.unwrap(ctx, version, last.Value); err != nil {
		return nil, err
	}
	return k, nil
}

// CreateKeyring opens the store's keys, or makes version 1 if it has none. Of
// several that do so at once one wins, and all open the same.
func CreateKeyring(ctx context.Context, c sinks.Catalog, kek sinks.KEK) (*Keyring, error) {
	k, err := OpenKeyring(ctx, c, kek)
	if !errors.Is(err, ErrKeyless) {
		return k, err
	}
	var names [secretBytes]byte
	rand.Read(names[:])
	now := time.Now().UTC()
	if err := addStoreKey(ctx, c, kek, names, StoreKey{Version: 1, Made: now, Finished: now}); err != nil && !errors.Is(err, sinks.ErrConflict) {
		return nil, err
	}
	return OpenKeyring(ctx, c, kek)
}

// unwrap opens the record of one version and keeps its key.
func (k *Keyring) unwrap(ctx context.Context, version uint32, value []byte) (*storeKey, error) {
	info, wrapped, err := parseStoreKey(version, value)
	if err != nil {
		return nil, err
	}
	secrets, err := decryptStoreKey(ctx, k.kek, info, wrapped)
	if err != nil {
		return nil, err
	}
	s := &storeKey{version: version}
	if s.wraps, err = newSealer(secrets[:secretBytes], forWraps); err != nil {
		return nil, err
	}
	if s.records, err = newSealer(secrets[:secretBytes], forCatalog); err != nil {
		return nil, err
	}
	if s.lake, err = derive(secrets[:secretBytes], forLake, secretBytes); err != nil {
		return nil, err
	}
	if s.marks, err = derive(secrets[:secretBytes], forMarks, secretBytes); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.keys) == 0 {
		k.names = [secretBytes]byte(secrets[secretBytes:])
	}
	k.keys[version] = s
	k.newest = max(k.newest, version)
	return s, nil
}

// held is a version already unwrapped, or nil.
func (k *Keyring) held(version uint32) *storeKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys[version]
}

func (k *Keyring) current() *storeKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys[k.newest]
}

// version gives a version of the store key, reading it if it is not held: an
// older version, or a version another process made after this ring was opened.
func (k *Keyring) version(ctx context.Context, version uint32) (*storeKey, error) {
	if s := k.held(version); s != nil {
		return s, nil
	}
	value, err := k.catalog.Get(ctx, keysKey(version))
	if err != nil {
		return nil, fmt.Errorf("read store key %d: %w", version, err)
	}
	if value == nil {
		return nil, fmt.Errorf("store key %d: %w: it is not in the store", version, ErrSealed)
	}
	return k.unwrap(ctx, version, value)
}

// LakeKeys are the keys of a lake beside the store: a master key a version of the
// store key, and one for file names, derived of the name key.
func (k *Keyring) LakeKeys() (sinks.LakeKeys, error) {
	names, err := derive(k.names[:], forLake, secretBytes)
	if err != nil {
		return sinks.LakeKeys{}, err
	}
	return sinks.LakeKeys{Names: names, Newest: k.current().version, Master: func(ctx context.Context, version uint32) ([]byte, error) {
		s, err := k.version(ctx, version)
		if err != nil {
			return nil, err
		}
		return s.lake, nil
	}}, nil
}

// Tag stands for a text in a catalog key: without the name key the text
// cannot be told from it. Tags of different prefixes never meet.
func (k *Keyring) Tag(prefix byte, text string) []byte {
	h, _ := k.tags.Get().(hash.Hash) // keying one costs as much as a short text
	if h == nil {
		h = hmac.New(sha256.New, k.names[:])
	}
	var room [64]byte
	h.Write(append(append(room[:0], prefix), text...))
	tag := h.Sum(nil)[:TagBytes]
	h.Reset()
	k.tags.Put(h)
	return tag
}

// Hold reads a version of the store key that the ring does not hold yet. Open has no store to
// ask: it finds the keys that the ring holds. ErrSealed: the store has no such version, or the
// key-encryption key does not open it.
func (k *Keyring) Hold(ctx context.Context, version uint32) error {
	_, err := k.version(ctx, version)
	return err
}

// Newest is the version of the store key that seals.
func (k *Keyring) Newest() uint32 { return k.current().version }

// Wrap seals a load's data key into l. The additional data binds the key to all that an answer of the
// load depends on besides its rows, so l is complete but for the key.
func (k *Keyring) Wrap(l *Loaded, id symbol.ID, secret *Secret) {
	s := k.current()
	l.KeyVersion = s.version
	l.WrappedKey = s.wraps.seal([]byte{version1}, binding(id, l), secret.data)
}

// Unwrap opens a load's data key. ErrShredded: the key was destroyed; ErrSealed: the ring does not
// hold the store key (see Hold), or it is another; ErrUnauthentic: l differs from the published load.
func (k *Keyring) Unwrap(id symbol.ID, l *Loaded) (*Secret, error) {
	if len(l.WrappedKey) == 0 {
		return nil, fmt.Errorf("load %x of %s: %w", l.Load, id, ErrShredded)
	}
	s := k.held(l.KeyVersion)
	if s == nil {
		return nil, fmt.Errorf("load %x of %s: %w: store key %d is not held", l.Load, id, ErrSealed, l.KeyVersion)
	}
	if l.WrappedKey[0] != version1 {
		return nil, fmt.Errorf("load %x of %s: %w: want form 1", l.Load, id, ErrUnauthentic)
	}
	secret, err := s.wraps.open(nil, 1, binding(id, l), l.WrappedKey)
	if err != nil {
		return nil, fmt.Errorf("data key of load %x of %s: %w", l.Load, id, err)
	}
	if len(secret) != secretBytes {
		return nil, fmt.Errorf("data key of load %x of %s: %w: want %d bytes", l.Load, id, ErrUnauthentic, secretBytes)
	}
	return &Secret{data: secret}, nil
}

// Rewrap returns a copy of l with its data key sealed under the newest store
// key; the rows stay as they are.
func (k *Keyring) Rewrap(id symbol.ID, l *Loaded) (*Loaded, error) {
	secret, err := k.Unwrap(id, l)
	if err != nil {
		return nil, err
	}
	out := *l
	k.Wrap(&out, id, secret)
	return &out, nil
}

// Adopt returns a copy of l, a load of the store that from's keys are of, with its
// data key sealed under k's newest store key. The rows stay as they are.
func (k *Keyring) Adopt(from *Keyring, id symbol.ID, l *Loaded) (*Loaded, error) {
	secret, err := from.Unwrap(id, l)
	if err != nil {
		return nil, err
	}
	out := *l
	k.Wrap(&out, id, secret)
	return &out, nil
}

// binding is what a wrapped data key is bound to: artifact, load, image base,
// end, anchors and the hash of the fence.
func binding(id symbol.ID, l *Loaded) []byte {
	b := append(LoadPrefix(id, l.Load), 0)
	b = AppendLayout(b, &l.Artifact)
	sum := sha256.Sum256(l.Fence)
	return append(b, sum[:]...)
}
