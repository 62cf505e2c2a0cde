// Package kek holds the key-encryption keys that wrap a store's keys: a local
// keyset in a file, and a throw-away one in memory.
//
// It leaves to sinks/row what is wrapped and how it is bound.
//
// Invariants:
//   - a keyset file is never replaced: losing it loses every store under it;
//   - a keyset file that others can read is refused, not used with a warning.
package kek

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"github.com/symlake/symlake/sinks"
)

// maxKeysetBytes bounds what OpenKeyset reads: a key takes about 270 bytes.
const maxKeysetBytes = 1 << 20

// CreateKeyset makes a tink keyset of one AES-256-GCM key, as JSON, readable
// by its owner only. It appears whole or not at all, is durable when this
// returns, and is never replaced: the error is fs.ErrExist if path is there.
func CreateKeyset(path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("create keyset %s: %w", path, err)
		}
	}()
	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := insecurecleartextkeyset.Write(h, keyset.NewJSONWriter(&text)); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".keyset-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(text.Bytes(), '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil { // refuses to replace, unlike a rename
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// OpenKeyset reads a keyset file. It may hold several keys (tink's own tools
// add and disable them): the primary one seals, all enabled ones open.
func OpenKeyset(path string) (sinks.KEK, error) {
	k, err := openKeyset(path)
	if err != nil {
		return nil, fmt.Errorf("open keyset %s: %w", path, err)
	}
	return k, nil
}

func openKeyset(path string) (sinks.KEK, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return nil, errors.New("it is not a regular file")
	case mode.Perm()&0o077 != 0:
		return nil, fmt.Errorf("%w: its mode is %#o, others must have no access: chmod 600", fs.ErrPermission, mode.Perm())
	case info.Size() > maxKeysetBytes:
		return nil, fmt.Errorf("its %d bytes are too many for a keyset", info.Size())
	}
	h, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(f))
	if err != nil {
		return nil, err
	}
	return aead.New(h)
}

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

func (e ephemeral) Encrypt(plain, aad []byte) ([]byte, error) {
	return e.Seal(nil, nil, plain, aad), nil
}

func (e ephemeral) Decrypt(sealed, aad []byte) ([]byte, error) { return e.Open(nil, nil, sealed, aad) }
