package keyset

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// AEAD seals by the primary key of a keyset and opens by each enabled one. It is safe for concurrent use.
type AEAD struct {
	primary usable
	all     []usable
}

// usable is an enabled key. What it seals begins with its prefix.
type usable struct {
	prefix []byte
	cipher scheme
}

// scheme is a cipher that makes its own nonces.
type scheme interface {
	seal(plain, aad []byte) ([]byte, error)
	open(sealed, aad []byte) ([]byte, error)
}

// ErrOpen says that no key of the keyset has sealed something, or that it was changed.
var ErrOpen = errors.New("no key of the keyset opens it")

// AEAD makes the enabled keys ready for use.
func (k *Keyset) AEAD() (*AEAD, error) {
	a := new(AEAD)
	for _, key := range k.Key {
		if key.Status != enabled {
			continue
		}
		u, err := key.usable()
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", key.KeyID, err)
		}
		a.all = append(a.all, u)
		if key.KeyID == k.PrimaryKeyID {
			a.primary = u
		}
	}
	return a, nil
}

func (k Key) usable() (u usable, err error) {
	switch k.OutputPrefixType {
	case "TINK":
		u.prefix = binary.BigEndian.AppendUint32([]byte{1}, k.KeyID)
	case "LEGACY", "CRUNCHY":
		u.prefix = binary.BigEndian.AppendUint32([]byte{0}, k.KeyID)
	case "RAW":
	default:
		return u, fmt.Errorf("its output prefix is %q", k.OutputPrefixType)
	}
	message := k.KeyData.Value
	if version, _, err := get(message, 1); err != nil || version != 0 {
		return u, errors.Join(err, fmt.Errorf("its version is %d, this program knows 0", version))
	}
	switch kind := strings.TrimPrefix(k.KeyData.TypeURL, typePrefix); kind {
	case "AesGcmKey":
		u.cipher, err = newGCM(message)
	case "AesCtrHmacAeadKey":
		u.cipher, err = newCTR(message)
	case "ChaCha20Poly1305Key":
		u.cipher, err = newChaCha(message, 2, chacha20poly1305.New)
	case "XChaCha20Poly1305Key":
		u.cipher, err = newChaCha(message, 3, chacha20poly1305.NewX)
	default:
		err = fmt.Errorf("its type is %s; known are AesGcmKey, AesCtrHmacAeadKey, ChaCha20Poly1305Key and XChaCha20Poly1305Key", kind)
	}
	return u, err
}

// Encrypt seals by the primary key.
func (a *AEAD) Encrypt(plain, aad []byte) ([]byte, error) {
	sealed, err := a.primary.cipher.seal(plain, aad)
	if err != nil {
		return nil, err
	}
	return append(bytes.Clone(a.primary.prefix), sealed...), nil
}

// Decrypt opens by the key that sealed; ErrOpen if the keyset has none.
func (a *AEAD) Decrypt(sealed, aad []byte) ([]byte, error) {
	for _, u := range a.all {
		if rest, ok := bytes.CutPrefix(sealed, u.prefix); ok {
			if plain, err := u.cipher.open(rest, aad); err == nil {
				return plain, nil
			}
		}
	}
	return nil, ErrOpen
}

// nonced is a cipher that puts a random nonce before the sealed text.
type nonced struct{ cipher.AEAD }

func (c nonced) seal(plain, aad []byte) ([]byte, error) {
	nonce := make([]byte, c.NonceSize(), c.NonceSize()+len(plain)+c.Overhead())
	rand.Read(nonce)
	return c.Seal(nonce, nonce, plain, aad), nil
}

func (c nonced) open(sealed, aad []byte) ([]byte, error) {
	if len(sealed) < c.NonceSize() {
		return nil, ErrOpen
	}
	return c.Open(nil, sealed[:c.NonceSize()], sealed[c.NonceSize():], aad)
}

func newGCM(message []byte) (scheme, error) {
	_, secret, err := get(message, 3)
	if err != nil {
		return nil, err
	}
	if len(secret) != 16 && len(secret) != 32 {
		return nil, fmt.Errorf("it has %d bytes, want 16 or 32", len(secret))
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	return nonced{gcm}, err
}

func newChaCha(message []byte, field int32, make func(secret []byte) (cipher.AEAD, error)) (scheme, error) {
	_, secret, err := get(message, number(field))
	if err != nil {
		return nil, err
	}
	c, err := make(secret)
	return nonced{c}, err
}
