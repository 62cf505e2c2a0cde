package row

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// The errors of a stored value. All are wrapped with the value's name; an answer made of them is "corrupt" for the first, "sealed" for the
// others.
var (
	// ErrUnauthentic: the bytes, or the key they stand under, differ from what a writer wrote.
	ErrUnauthentic = errors.New("stored bytes are not what was written")
	// ErrSealed: the key was refused, or another key sealed this.
	ErrSealed = errors.New("key refused or wrong")
	// ErrShredded: the key was destroyed on purpose.
	ErrShredded = errors.New("key destroyed")
	// ErrKeyless: the store has no keys yet.
	ErrKeyless = errors.New("store has no keys yet")
)

// DoesNotOpen reports whether err says of a stored value that no key of the store opens it. Its bytes are there.
func DoesNotOpen(err error) bool { return errors.Is(err, ErrUnauthentic) || errors.Is(err, ErrSealed) }

// version1 is the first byte of everything sealed. Durable; never reused.
const version1 byte = 1

const (
	secretBytes = 32 // of data keys, store keys and the name key
	checkBytes  = 4
	nonceBytes  = 12
	sealBytes   = 16
	// wrappedBytes is the length of a data key that a store key wraps, behind its version.
	wrappedBytes = 1 + checkBytes + nonceBytes + secretBytes + sealBytes
)

// The purposes that keys are derived for (HKDF-SHA-256, no salt). Durable.
const (
	forRows    = "symlake 1 rows"
	forWraps   = "symlake 1 wraps"
	forCatalog = "symlake 1 catalog"
	forLake    = "symlake 1 lake"
	forMarks   = "symlake 1 marks"
	forCheck   = "symlake 1 check"
)

func derive(secret []byte, purpose string, n int) ([]byte, error) {
	k, err := hkdf.Key(sha256.New, secret, nil, purpose, n)
	if err != nil {
		return nil, fmt.Errorf("derive key for %q: %w", purpose, err)
	}
	return k, nil
}

// sealer seals and opens values under one derived key. Safe for concurrent use.
type sealer struct {
	aead  cipher.AEAD
	check [checkBytes]byte // of the secret: tells a wrong key from damage
}

func newSealer(secret []byte, purpose string) (*sealer, error) {
	// As derive does for each purpose, with one first step for both.
	first, err := hkdf.Extract(sha256.New, secret, nil)
	if err != nil {
		return nil, fmt.Errorf("derive key for %q: %w", purpose, err)
	}
	key, err := hkdf.Expand(sha256.New, first, purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("derive key for %q: %w", purpose, err)
	}
	check, err := hkdf.Expand(sha256.New, first, forCheck, checkBytes)
	if err != nil {
		return nil, fmt.Errorf("derive key check for %q: %w", purpose, err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("derive key for %q: %w", purpose, err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("derive key for %q: %w", purpose, err)
	}
	return &sealer{aead: aead, check: [checkBytes]byte(check)}, nil
}

// bind is the additional data: header and key, each with its length before it.
func bind(dst, header, key []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(header)))
	dst = append(dst, header...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(key)))
	return append(dst, key...)
}

// boundBytes is the length of what bind returns.
func boundBytes(header, key []byte) int { return 8 + len(header) + len(key) }

// seal gives header ‖ key check ‖ nonce ‖ sealed plain. The caller's header
// begins with its version; the key check is authenticated as part of it.
func (s *sealer) seal(header, key, plain []byte) []byte {
	out := make([]byte, 0, len(header)+checkBytes+nonceBytes+len(plain)+sealBytes)
	out = append(append(out, header...), s.check[:]...)
	aad := bind(make([]byte, 0, boundBytes(out, key)), out, key)
	n := len(out)
	out = out[:n+nonceBytes]
	rand.Read(out[n:])
	return s.aead.Seal(out, out[n:], plain, aad)
}

// open is the inverse, and appends to dst; headerBytes is the length of the caller's header.
func (s *sealer) open(dst []byte, headerBytes int, key, value []byte) ([]byte, error) {
	n := headerBytes + checkBytes
	if len(value) < n+nonceBytes+sealBytes {
		return nil, fmt.Errorf("%w: %d bytes are too few", ErrUnauthentic, len(value))
	}
	if [checkBytes]byte(value[headerBytes:n]) != s.check {
		return nil, fmt.Errorf("%w: it has another key check", ErrSealed)
	}
	plain, err := s.aead.Open(dst, value[n:n+nonceBytes], value[n+nonceBytes:], bind(make([]byte, 0, boundBytes(value[:n], key)), value[:n], key))
	if err != nil {
		return nil, fmt.Errorf("%w: the seal is broken", ErrUnauthentic)
	}
	return plain, nil
}
