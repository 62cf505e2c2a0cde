package keyset

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"

	"google.golang.org/protobuf/encoding/protowire"
)

type number = protowire.Number

// hashes are Tink's, at their numbers.
var hashes = []func() hash.Hash{1: sha1.New, 2: sha512.New384, 3: sha256.New, 4: sha512.New, 5: sha256.New224}

// ctr is AES-CTR, then HMAC over additional data, sealed text, and the length of the additional data in bits.
type ctr struct {
	block   cipher.Block
	ivSize  int
	hash    func() hash.Hash
	mac     []byte
	tagSize int
}

// newCTR reads Tink's message AesCtrHmacAeadKey.
func newCTR(message []byte) (scheme, error) {
	var c ctr
	var parts [2]struct { // the cipher's, the hash's
		params, secret []byte
	}
	for i := range parts {
		_, part, err := get(message, number(2+i))
		if err != nil {
			return nil, err
		}
		if _, parts[i].params, err = get(part, 2); err == nil {
			_, parts[i].secret, err = get(part, 3)
		}
		if err != nil {
			return nil, err
		}
	}
	ivSize, _, err := get(parts[0].params, 1)
	if err != nil {
		return nil, err
	}
	kind, _, err := get(parts[1].params, 1)
	if err != nil {
		return nil, err
	}
	tagSize, _, err := get(parts[1].params, 2)
	if err != nil {
		return nil, err
	}
	if kind == 0 || kind >= uint64(len(hashes)) || ivSize < 12 || ivSize > aes.BlockSize || len(parts[1].secret) < 16 {
		return nil, fmt.Errorf("its parameters are unknown: hash %d, %d bytes of IV, %d bytes of secret", kind, ivSize, len(parts[1].secret))
	}
	c.hash, c.mac, c.ivSize, c.tagSize = hashes[kind], parts[1].secret, int(ivSize), int(min(tagSize, 1<<10))
	if c.tagSize < 10 || c.tagSize > c.hash().Size() {
		return nil, fmt.Errorf("its tag has %d bytes", c.tagSize)
	}
	c.block, err = aes.NewCipher(parts[0].secret)
	return c, err
}

func (c ctr) stream(iv []byte) cipher.Stream {
	var start [aes.BlockSize]byte
	copy(start[:], iv)
	return cipher.NewCTR(c.block, start[:])
}

func (c ctr) tag(sealed, aad []byte) []byte {
	h := hmac.New(c.hash, c.mac)
	h.Write(aad)
	h.Write(sealed)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(aad))*8))
	return h.Sum(nil)[:c.tagSize]
}

func (c ctr) seal(plain, aad []byte) ([]byte, error) {
	sealed := make([]byte, c.ivSize+len(plain))
	rand.Read(sealed[:c.ivSize])
	c.stream(sealed[:c.ivSize]).XORKeyStream(sealed[c.ivSize:], plain)
	return append(sealed, c.tag(sealed, aad)...), nil
}

func (c ctr) open(sealed, aad []byte) ([]byte, error) {
	at := len(sealed) - c.tagSize
	if at < c.ivSize || !hmac.Equal(sealed[at:], c.tag(sealed[:at], aad)) {
		return nil, ErrOpen
	}
	plain := make([]byte, at-c.ivSize)
	c.stream(sealed[:c.ivSize]).XORKeyStream(plain, sealed[c.ivSize:at])
	return plain, nil
}
