package row

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
)

// The first byte of a catalog value says how it is sealed, beside version1. Durable.
const (
	recordVersion byte = 2 // sealed, and the version of the store key is a uvarint
	markVersion   byte = 3 // a mark: a value without a text
	// shortMark and the bytes above it are marks, too: the version of the store key is the byte less shortMark.
	shortMark byte = 64
)

// markBytes is how much of an HMAC a mark has.
const markBytes = 8

// recordHead returns the version of the store key that a catalog value needs, and the length of the clear
// head before the key check or the HMAC. ok is false where the value has no such head.
func recordHead(value []byte) (version uint32, n int, ok bool) {
	if len(value) == 0 {
		return 0, 0, false
	}
	switch first := value[0]; {
	case first >= shortMark:
		return uint32(first - shortMark), 1, true
	case first == version1:
		if len(value) < 5 {
			return 0, 0, false
		}
		return binary.BigEndian.Uint32(value[1:]), 5, true
	case first == recordVersion, first == markVersion:
		v, n := binary.Uvarint(value[1:])
		if n <= 0 || v >= 1<<32 {
			return 0, 0, false
		}
		return uint32(v), 1 + n, true
	}
	return 0, 0, false
}

// SealedUnder returns the version of the store key that sealed or marked a catalog value; false: the value
// is not sealed under one.
func SealedUnder(value []byte) (version uint32, ok bool) {
	version, _, ok = recordHead(value)
	return version, ok
}

// IsOldRecord reports whether earlier versions sealed a catalog value. It is larger than it has to be.
func IsOldRecord(value []byte) bool { return len(value) > 0 && value[0] == version1 }

// IsMark reports whether a catalog value is a mark.
func IsMark(value []byte) bool { return len(value) > 0 && value[0] >= markVersion }

// SealRecord seals a catalog value under the newest store key.
func (k *Keyring) SealRecord(key, plain []byte) []byte {
	s := k.current()
	return s.records.seal(binary.AppendUvarint([]byte{recordVersion}, uint64(s.version)), key, plain)
}

// OpenRecord opens a catalog value, whichever version sealed it.
func (k *Keyring) OpenRecord(ctx context.Context, key, value []byte) ([]byte, error) {
	version, n, ok := recordHead(value)
	if !ok || IsMark(value) {
		return nil, fmt.Errorf("%w: want form 1 or 2: a newer symlake may have written it", ErrUnauthentic)
	}
	s, err := k.version(ctx, version)
	if err != nil {
		return nil, err
	}
	return s.records.open(nil, n, key, value)
}

// Mark makes a catalog value that says nothing but that a writer with the newest store key made the record.
// Marks of one key and version are equal.
func (k *Keyring) Mark(key []byte) []byte {
	s := k.current()
	var head []byte
	if s.version <= uint32(255-shortMark) {
		head = []byte{shortMark + byte(s.version)}
	} else {
		head = binary.AppendUvarint([]byte{markVersion}, uint64(s.version))
	}
	return append(head, s.mark(head, key)...)
}

// CheckMark returns an error unless Mark made the value for that key.
func (k *Keyring) CheckMark(ctx context.Context, key, value []byte) error {
	version, n, ok := recordHead(value)
	if !ok || !IsMark(value) {
		return fmt.Errorf("%w: want form 3: a newer symlake may have written it", ErrUnauthentic)
	}
	s, err := k.version(ctx, version)
	if err != nil {
		return err
	}
	if !hmac.Equal(value[n:], s.mark(value[:n], key)) {
		return fmt.Errorf("%w: the mark is of another key or record", ErrUnauthentic)
	}
	return nil
}

// mark returns the HMAC of a mark. Making one for each would cost more than what it hashes.
func (s *storeKey) mark(head, key []byte) []byte {
	h, _ := s.macs.Get().(hash.Hash)
	if h == nil {
		h = hmac.New(sha256.New, s.marks)
	}
	defer s.macs.Put(h)
	h.Reset()
	room := make([]byte, 0, boundBytes(head, key)+sha256.Size)
	h.Write(bind(room, head, key))
	return h.Sum(room)[:markBytes]
}
