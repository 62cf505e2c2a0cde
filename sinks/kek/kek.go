// Package kek holds the key-encryption keys that wrap a store's keys: a local
// keyset in a file, which another key may keep sealed, and a throw-away one in memory.
//
// It leaves to sinks/row the keys to wrap and their binding, and to sinks/kek/kms keys of AWS KMS.
//
// Invariants:
//   - a keyset file is never replaced: losing it loses every store under it;
//   - a keyset file that others can read is refused, not used with a warning, unless it is sealed;
//   - a wrong or refused key is sinks.ErrRefused; a key service out of reach is not.
package kek

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"

	"github.com/symlake/symlake/sinks"
)

// Refused is an error that matches sinks.ErrRefused and prints as Err alone.
type Refused struct{ Err error }

func (r Refused) Error() string { return r.Err.Error() }
func (r Refused) Unwrap() error { return r.Err }

// Is reports whether target is sinks.ErrRefused.
func (r Refused) Is(target error) bool { return target == sinks.ErrRefused }

// Ephemeral is a key that dies with the process: for stores that do so too.
func Ephemeral() sinks.KEK {
	var key [32]byte
	rand.Read(key[:])
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	g, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	return ephemeral{g}
}

type ephemeral struct{ cipher.AEAD }

func (ephemeral) ID() string { return "memory" }

func (e ephemeral) Encrypt(_ context.Context, plain, aad []byte) ([]byte, error) {
	return e.Seal(nil, nil, plain, aad), nil
}

func (e ephemeral) Decrypt(_ context.Context, sealed, aad []byte) ([]byte, error) {
	plain, err := e.Open(nil, nil, sealed, aad)
	if err != nil {
		return nil, Refused{fmt.Errorf("another key in memory: %w", err)}
	}
	return plain, nil
}
