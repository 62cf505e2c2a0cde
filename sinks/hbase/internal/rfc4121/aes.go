package rfc4121

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"fmt"
	"hash"

	krbcrypto "github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/crypto/common"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/types"
)

const blockSize = aes.BlockSize

// sealer has the keys that RFC 3961 derives for one usage, ready for use: gokrb5 derives them anew for each message.
// It serves one goroutine.
type sealer struct {
	block   cipher.Block
	encrypt cipher.BlockMode
	decrypt cipher.BlockMode
	mac     hash.Hash // of encrypted text
	sum     hash.Hash // of bare text
	size    int       // bytes of mac and sum on the wire
	after   bool      // mac is over an empty vector and the ciphertext (RFC 8009), not over the plain text (RFC 3962)
	digest  [sha512.Size384]byte
}

var zero [blockSize]byte

// newSealer derives keys for one usage.
func newSealer(key types.EncryptionKey, usage uint32) (*sealer, error) {
	s := &sealer{}
	var sum func() hash.Hash
	switch key.KeyType {
	case etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES256_CTS_HMAC_SHA1_96:
		sum, s.size = sha1.New, 12
	case etypeID.AES128_CTS_HMAC_SHA256_128:
		sum, s.size, s.after = sha256.New, 16, true
	case etypeID.AES256_CTS_HMAC_SHA384_192:
		sum, s.size, s.after = sha512.New384, 24, true
	default:
		return nil, fmt.Errorf("keys of encryption type %d are not for tokens of RFC 4121: AES is needed", key.KeyType)
	}
	kind, err := krbcrypto.GetEtype(key.KeyType)
	if err != nil {
		return nil, err
	}
	if len(key.KeyValue) != keySize(key.KeyType) {
		return nil, fmt.Errorf("a key of %d bytes for encryption type %d", len(key.KeyValue), key.KeyType)
	}
	var keys [3][]byte
	for i, constant := range [][]byte{common.GetUsageKe(usage), common.GetUsageKi(usage), common.GetUsageKc(usage)} {
		if keys[i], err = kind.DeriveKey(key.KeyValue, constant); err != nil {
			return nil, err
		}
	}
	if s.block, err = aes.NewCipher(keys[0]); err != nil {
		return nil, err
	}
	s.encrypt, s.decrypt = cipher.NewCBCEncrypter(s.block, zero[:]), cipher.NewCBCDecrypter(s.block, zero[:])
	s.mac, s.sum = hmac.New(sum, keys[1]), hmac.New(sum, keys[2])
	return s, nil
}

// keySize is how many bytes keys of a type have.
func keySize(kind int32) int {
	if kind == etypeID.AES128_CTS_HMAC_SHA1_96 || kind == etypeID.AES128_CTS_HMAC_SHA256_128 {
		return 16
	}
	return 32
}

// checksum is over parts that travel bare. It is good until the next call.
func (s *sealer) checksum(parts ...[]byte) []byte { return s.digestOf(s.sum, parts...) }

func (s *sealer) digestOf(h hash.Hash, parts ...[]byte) []byte {
	h.Reset()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(s.digest[:0])[:s.size]
}

// seal encrypts b, which begins with 16 random bytes, in place, and returns the checksum that follows it. It is good
// until the next call.
func (s *sealer) seal(b []byte) []byte {
	if s.after {
		s.ctsEncrypt(b)
		return s.digestOf(s.mac, zero[:], b)
	}
	sum := s.digestOf(s.mac, b)
	s.ctsEncrypt(b)
	return sum
}

// open checks and decrypts in place what seal made; false if it is not whole.
func (s *sealer) open(b, sum []byte) bool {
	if s.after && subtle.ConstantTimeCompare(s.digestOf(s.mac, zero[:], b), sum) != 1 {
		return false
	}
	s.ctsDecrypt(b)
	return s.after || subtle.ConstantTimeCompare(s.digestOf(s.mac, b), sum) == 1
}

// resetMode starts a chain of blocks with an empty vector.
func resetMode(m cipher.BlockMode) {
	m.(interface{ SetIV([]byte) }).SetIV(zero[:])
}

// ctsEncrypt is CBC with ciphertext stealing as RFC 3962 has it: the last two blocks change places, and the last one
// is cut to the length of the text. b has at least 17 bytes.
func (s *sealer) ctsEncrypt(b []byte) {
	rest := len(b) % blockSize
	full := b[:len(b)-rest]
	resetMode(s.encrypt)
	s.encrypt.CryptBlocks(full, full)
	last := full[len(full)-blockSize:]
	if rest == 0 {
		swap(full[len(full)-2*blockSize:])
		return
	}
	var end [blockSize]byte
	copy(end[:], b[len(full):])
	s.encrypt.CryptBlocks(end[:], end[:])
	copy(b[len(full):], last)
	copy(last, end[:])
}

// ctsDecrypt undoes ctsEncrypt.
func (s *sealer) ctsDecrypt(b []byte) {
	rest := len(b) % blockSize
	full := b[:len(b)-rest]
	last := full[len(full)-blockSize:]
	if rest == 0 {
		swap(full[len(full)-2*blockSize:])
	} else {
		var end [blockSize]byte
		s.block.Decrypt(end[:], last)
		tail := b[len(full):]
		copy(last, tail)
		copy(last[rest:], end[rest:])
		subtle.XORBytes(tail, tail, end[:])
	}
	resetMode(s.decrypt)
	s.decrypt.CryptBlocks(full, full)
}

// swap exchanges two blocks.
func swap(b []byte) {
	var x [blockSize]byte
	copy(x[:], b)
	copy(b, b[blockSize:])
	copy(b[blockSize:], x[:])
}
