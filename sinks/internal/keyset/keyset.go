// Package keyset reads, writes and uses keysets in the format of Tink, so that Tink's own tools can make, rotate and
// read them: JSON of its protocol buffers, in the clear or sealed by another key.
//
// It knows the keys of AES-GCM, AES-CTR-HMAC, ChaCha20-Poly1305 and XChaCha20-Poly1305.
package keyset

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Keyset is some keys. One of them seals. The fields have the names of Tink's JSON.
type Keyset struct {
	PrimaryKeyID uint32 `json:"primaryKeyId"`
	Key          []Key  `json:"key"`
}

// Key is one key of a keyset.
type Key struct {
	KeyData          Data   `json:"keyData"`
	Status           string `json:"status"` // ENABLED, DISABLED, DESTROYED
	KeyID            uint32 `json:"keyId"`
	OutputPrefixType string `json:"outputPrefixType"` // TINK, LEGACY, RAW, CRUNCHY
}

// Data is the secret part of a key: a message of the type at the end of its URL.
type Data struct {
	TypeURL         string `json:"typeUrl"`
	Value           []byte `json:"value"`
	KeyMaterialType string `json:"keyMaterialType"`
}

// sealed is a keyset that another key has sealed. Info tells about the keys, without secrets.
type sealed struct {
	Info struct {
		PrimaryKeyID uint32 `json:"primaryKeyId"`
		KeyInfo      []info `json:"keyInfo"`
	} `json:"keysetInfo"`
	Encrypted []byte `json:"encryptedKeyset"`
}

type info struct {
	TypeURL          string `json:"typeUrl"`
	Status           string `json:"status"`
	KeyID            uint32 `json:"keyId"`
	OutputPrefixType string `json:"outputPrefixType"`
}

const (
	typePrefix = "type.googleapis.com/google.crypto.tink."
	enabled    = "ENABLED"
)

// New returns a keyset of one new AES-256-GCM key.
func New() *Keyset {
	var secret [32]byte
	rand.Read(secret[:])
	id := uint32(0)
	for id == 0 {
		var b [4]byte
		rand.Read(b[:])
		id = binary.BigEndian.Uint32(b[:])
	}
	return &Keyset{PrimaryKeyID: id, Key: []Key{{
		KeyData: Data{TypeURL: typePrefix + "AesGcmKey", Value: gcmKey(secret[:]), KeyMaterialType: "SYMMETRIC"},
		Status:  enabled, KeyID: id, OutputPrefixType: "TINK",
	}}}
}

// JSON returns the keyset in the clear.
func (k *Keyset) JSON() ([]byte, error) { return json.Marshal(k) }

// SealedJSON returns the keyset as seal has sealed it.
func (k *Keyset) SealedJSON(seal func(plain []byte) ([]byte, error)) ([]byte, error) {
	var s sealed
	s.Info.PrimaryKeyID = k.PrimaryKeyID
	for _, key := range k.Key {
		s.Info.KeyInfo = append(s.Info.KeyInfo, info{key.KeyData.TypeURL, key.Status, key.KeyID, key.OutputPrefixType})
	}
	var err error
	if s.Encrypted, err = seal(k.binary()); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// Parse reads a keyset in the clear.
func Parse(text []byte) (*Keyset, error) {
	k := new(Keyset)
	if err := json.Unmarshal(text, k); err != nil {
		return nil, fmt.Errorf("not a keyset of Tink: %w", err)
	}
	if len(k.Key) == 0 && strings.Contains(string(text), `"encryptedKeyset"`) {
		return nil, errors.New("it is sealed by another key, which must be named")
	}
	return k, k.check()
}

// ParseSealed reads a keyset that open opens.
func ParseSealed(text []byte, open func(sealed []byte) ([]byte, error)) (*Keyset, error) {
	var s sealed
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("not a sealed keyset of Tink: %w", err)
	}
	if len(s.Encrypted) == 0 {
		return nil, errors.New("it is no sealed keyset of Tink")
	}
	plain, err := open(s.Encrypted)
	if err != nil {
		return nil, err
	}
	k, err := parseBinary(plain)
	if err != nil {
		return nil, err
	}
	return k, k.check()
}

// check refuses a keyset that could not seal.
func (k *Keyset) check() error {
	primary := 0
	for _, key := range k.Key {
		if key.KeyID == k.PrimaryKeyID && key.Status == enabled {
			primary++
		}
	}
	if primary != 1 {
		return fmt.Errorf("not a keyset of Tink with one primary key that is enabled: it has %d", primary)
	}
	return nil
}
