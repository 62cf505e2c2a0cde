package kek

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hostfile"
	"github.com/symlake/symlake/sinks/internal/keyset"
	"github.com/symlake/symlake/sinks/internal/newfile"
)

// maxKeysetBytes bounds the file that OpenKeyset reads: a key takes about 270 bytes.
const maxKeysetBytes = 1 << 20

// CreateKeyset makes a tink keyset of one AES-256-GCM key, as JSON, readable
// by its owner only; by, when not nil, seals it. It appears whole or not at all, is durable when this
// returns, and is never replaced: the error is fs.ErrExist if path is there.
func CreateKeyset(ctx context.Context, path string, by sinks.KEK) error {
	if err := createKeyset(ctx, path, by); err != nil {
		return fmt.Errorf("create keyset %s: %w", path, err)
	}
	return nil
}

func createKeyset(ctx context.Context, path string, by sinks.KEK) error {
	var text []byte
	var err error
	if made := keyset.New(); by == nil {
		text, err = made.JSON()
	} else {
		text, err = made.SealedJSON(func(plain []byte) ([]byte, error) { return by.Encrypt(ctx, plain, nil) })
	}
	if err != nil {
		return err
	}
	if err := writeNew(path, append(text, '\n')); err != nil {
		return err
	}
	return hostfile.SyncFolder(filepath.Dir(path))
}

// writeNew writes a file of mode 0600 that must be new. A process that is killed leaves no second copy of a key.
func writeNew(path string, text []byte) (err error) {
	f, err := newfile.Create(filepath.Dir(path), 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Link(filepath.Base(path))
}

// OpenKeyset reads a keyset file, which by has sealed unless it is nil. It may hold several keys (tink's own tools
// add and disable them): the primary one seals, all enabled ones open.
func OpenKeyset(ctx context.Context, path string, by sinks.KEK) (sinks.KEK, error) {
	k, err := openKeyset(ctx, path, by)
	if err != nil {
		return nil, fmt.Errorf("open keyset %s: %w", path, err)
	}
	return k, nil
}

func openKeyset(ctx context.Context, path string, by sinks.KEK) (sinks.KEK, error) {
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
	case info.Size() > maxKeysetBytes:
		return nil, fmt.Errorf("its %d bytes are too many for a keyset", info.Size())
	}
	if by == nil {
		if err := hostfile.Private(f); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeysetBytes))
	if err != nil {
		return nil, err
	}
	var k *keyset.Keyset
	if by == nil {
		k, err = keyset.Parse(text)
	} else {
		k, err = keyset.ParseSealed(text, func(sealed []byte) ([]byte, error) { return by.Decrypt(ctx, sealed, nil) })
	}
	if err != nil {
		return nil, err
	}
	a, err := k.AEAD()
	if err != nil {
		return nil, err
	}
	return keysetKey{a, path, fmt.Sprintf("keyset:%08x", k.PrimaryKeyID)}, nil
}

// keysetKey is a keyset that was read.
type keysetKey struct {
	*keyset.AEAD
	path, id string
}

// ID returns the id of the primary key, as tink's own tools show it.
func (k keysetKey) ID() string { return k.id }

func (k keysetKey) Encrypt(_ context.Context, plain, aad []byte) ([]byte, error) {
	return k.AEAD.Encrypt(plain, aad)
}

func (k keysetKey) Decrypt(_ context.Context, sealed, aad []byte) ([]byte, error) {
	plain, err := k.AEAD.Decrypt(sealed, aad)
	if err != nil {
		return nil, Refused{fmt.Errorf("keyset %s (%s) is not the one that it was sealed with", k.path, k.id)}
	}
	return plain, nil
}
