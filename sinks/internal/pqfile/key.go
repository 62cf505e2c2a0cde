package pqfile

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks"
)

// A sealed file says in clear which master key opens it and holds its own key, wrapped by that:
// key material in the form PKMT1 of parquet-java and Arrow, with single wrapping. The wrapping is
// base64(nonce (12) ‖ AES-GCM(master, key; additional data: master key id) ‖ tag (16)).

// keyPrefix begins the id of a master key; its version follows.
const keyPrefix = "symlake-lake-"

const keyBytes = 32

type material struct {
	Type       string `json:"keyMaterialType"`
	Internal   bool   `json:"internalStorage"`
	Footer     bool   `json:"isFooterKey"`
	Instance   string `json:"kmsInstanceID"`
	URL        string `json:"kmsInstanceURL"`
	Master     string `json:"masterKeyID"`
	Wrapped    string `json:"wrappedDEK"`
	DoubleWrap bool   `json:"doubleWrapping"`
}

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// MasterID is the id of a version of the master key, as files and KMS clients name it.
func MasterID(version uint32) string { return keyPrefix + strconv.FormatUint(uint64(version), 10) }

// wrap makes the key material of a file.
func wrap(master []byte, version uint32, key []byte) (string, error) {
	a, err := gcm(master)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, a.NonceSize())
	rand.Read(nonce)
	id := MasterID(version)
	sealed := a.Seal(nonce, nonce, key, []byte(id))
	text, err := json.Marshal(material{Type: "PKMT1", Internal: true, Footer: true, Instance: "DEFAULT", URL: "DEFAULT",
		Master: id, Wrapped: base64.StdEncoding.EncodeToString(sealed)})
	return string(text), err
}

var errMaterial = errors.New("key material is not what symlake writes")

// masterOf says which version of the master key a file needs.
func masterOf(text []byte) (m material, version uint32, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, 0, fmt.Errorf("%w: %w", errMaterial, err)
	}
	n, ok := strings.CutPrefix(m.Master, keyPrefix)
	v, err := strconv.ParseUint(n, 10, 32)
	if m.Type != "PKMT1" || m.DoubleWrap || !ok || err != nil {
		return m, 0, fmt.Errorf("%w: type %q, master key %q", errMaterial, m.Type, m.Master)
	}
	return m, uint32(v), nil
}

// unwrap gives a file's key.
func unwrap(master []byte, m material) ([]byte, error) {
	sealed, err := base64.StdEncoding.DecodeString(m.Wrapped)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMaterial, err)
	}
	a, err := gcm(master)
	if err != nil {
		return nil, err
	}
	if len(sealed) < a.NonceSize() {
		return nil, errMaterial
	}
	n := a.NonceSize()
	return a.Open(nil, sealed[:n], sealed[n:], []byte(m.Master))
}

// FileKey opens one sealed file.
type FileKey struct {
	Key      []byte
	Material string // key, wrapped by a master key: the file holds it in clear
	Version  uint32 // of the master key
	// Prefix begins the additional data of each module, and stands in the file in clear. A reader that knows what the prefix
	// must be refuses a file with another one. "": none.
	Prefix string
}

// NewFileKey makes the key of a new file under the newest master key: random, or with oneKey the same for all files
// of that master key.
func NewFileKey(ctx context.Context, keys sinks.LakeKeys, oneKey bool) (*FileKey, error) {
	k := &FileKey{Version: keys.Newest}
	master, err := keys.Master(ctx, k.Version)
	if err != nil {
		return nil, fmt.Errorf("master key of the lake: %w", err)
	}
	if oneKey {
		if k.Key, err = hkdf.Key(sha256.New, master, nil, "symlake 1 lake files", keyBytes); err != nil {
			return nil, err
		}
	} else {
		k.Key = make([]byte, keyBytes)
		rand.Read(k.Key)
	}
	k.Material, err = wrap(master, k.Version, k.Key)
	return k, err
}

// openFileKey unwraps the key in the key material of a file.
func openFileKey(ctx context.Context, keys sinks.LakeKeys, text []byte) ([]byte, error) {
	m, version, err := masterOf(text)
	if err != nil {
		return nil, err
	}
	if keys.Master == nil {
		return nil, fmt.Errorf("master key %s is not at hand", m.Master)
	}
	master, err := keys.Master(ctx, version)
	if err != nil {
		return nil, err
	}
	return unwrap(master, m)
}
