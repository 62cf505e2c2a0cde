package rfc4121

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	krbcrypto "github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/types"
)

// kinds are the encryption types of RFC 3962 and RFC 8009.
var kinds = []int32{17, 18, 19, 20}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func randomKey(r *rand.Rand, kind int32) types.EncryptionKey {
	k := types.EncryptionKey{KeyType: kind, KeyValue: make([]byte, keySize(kind))}
	fill(r, k.KeyValue)
	return k
}

func fill(r *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// The vectors of RFC 3962, appendix B: one key, parts of one text.
func TestCiphertextStealing(t *testing.T) {
	block, err := aes.NewCipher([]byte("chicken teriyaki"))
	if err != nil {
		t.Fatal(err)
	}
	const text = "I would like the General Gau's Chicken, please, and wonton soup."
	for n, want := range map[int]string{
		17: "c6353568f2bf8cb4d8a580362da7ff7f97",
		31: "fc00783e0efdb2c1d445d4c8eff7ed2297687268d6ecccc0c07b25e25ecfe5",
		32: "39312523a78662d5be7fcbcc98ebf5a897687268d6ecccc0c07b25e25ecfe584",
		47: "97687268d6ecccc0c07b25e25ecfe584b3fffd940c16a18c1b5549d2f838029e39312523a78662d5be7fcbcc98ebf5",
		48: "97687268d6ecccc0c07b25e25ecfe5849dad8bbb96c4cdc03bc103e1a194bbd839312523a78662d5be7fcbcc98ebf5a8",
		64: "97687268d6ecccc0c07b25e25ecfe58439312523a78662d5be7fcbcc98ebf5a84807efe836ee89a526730dbc2f7bc8409dad8bbb96c4cdc03bc103e1a194bbd8",
	} {
		s := &sealer{block: block, encrypt: cipher.NewCBCEncrypter(block, zero[:]), decrypt: cipher.NewCBCDecrypter(block, zero[:])}
		b := []byte(text[:n])
		s.ctsEncrypt(b)
		if !bytes.Equal(b, unhex(t, want)) {
			t.Errorf("%d bytes: %x, want %s", n, b, want)
		}
		s.ctsDecrypt(b)
		if string(b) != text[:n] {
			t.Errorf("%d bytes: decrypted to %q", n, b)
		}
	}
}

// The vectors of RFC 8009, appendix A: usage 2.
func TestSealSHA2(t *testing.T) {
	for _, c := range []struct {
		kind                         int32
		key, confounder, text, after string
	}{
		{19, "3705d96080c17728a0e800eab6e0d23c", "7bca285e2fd4130fb55b1a5c83bc5b24", "000102030405", "84d7f30754ed987bab0bf3506beb09cfb55402cef7e6877ce99e247e52d16ed4421dfdf8976c"},
		{19, "3705d96080c17728a0e800eab6e0d23c", "56ab21713ff62c0a1457200f6fa9948f", "000102030405060708090a0b0c0d0e0f", "3517d640f50ddc8ad3628722b3569d2ae07493fa8263254080ea65c1008e8fc295fb4852e7d83e1e7c48c37eebe6b0d3"},
		{20, "6d404d37faf79f9df0d33568d320669800eb4836472ea8a026d16b7182460c52", "b80d3251c1f6471494256ffe712d0b9a", "000102030405", "4ed7b37c2bcac8f74f23c1cf07e62bc7b75fb3f637b9f559c7f664f69eab7b6092237526ea0d1f61cb20d69d10f2"},
	} {
		s, err := newSealer(types.EncryptionKey{KeyType: c.kind, KeyValue: unhex(t, c.key)}, 2)
		if err != nil {
			t.Fatal(err)
		}
		b := append(unhex(t, c.confounder), unhex(t, c.text)...)
		got := append(b, s.seal(b)...)
		if !bytes.Equal(got, unhex(t, c.after)) {
			t.Errorf("type %d, %q: %x, want %s", c.kind, c.text, got, c.after)
		}
	}
}

// Sealed text is the same to gokrb5, in both directions, and so are checksums.
func TestSealAsGokrb5(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, kind := range kinds {
		e, err := krbcrypto.GetEtype(kind)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			key, usage := randomKey(r, kind), uint32(22+r.IntN(3))
			s, err := newSealer(key, usage)
			if err != nil {
				t.Fatal(err)
			}
			text := make([]byte, 1+r.IntN(200))
			fill(r, text)
			b := append(make([]byte, blockSize), text...)
			fill(r, b[:blockSize])
			b = append(b, s.seal(b)...)
			if got, err := e.DecryptMessage(key.KeyValue, bytes.Clone(b), usage); err != nil || !bytes.Equal(got, text) {
				t.Fatalf("type %d: gokrb5 opens %x of %x: %v", kind, got, text, err)
			}
			_, theirs, err := e.EncryptMessage(key.KeyValue, bytes.Clone(text), usage)
			if err != nil {
				t.Fatal(err)
			}
			n := len(theirs) - s.size
			if !s.open(theirs[:n], theirs[n:]) || !bytes.Equal(theirs[blockSize:n], text) {
				t.Fatalf("type %d: %d bytes of gokrb5 do not open", kind, len(text))
			}
			sum, err := e.GetChecksumHash(key.KeyValue, text, usage)
			if err != nil || !bytes.Equal(sum, s.checksum(text[:len(text)/2], text[len(text)/2:])) {
				t.Fatalf("type %d: checksums differ: %v", kind, err)
			}
		}
	}
}
