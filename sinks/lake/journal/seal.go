package journal

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Labels of derived keys. Durable.
const (
	macLabel  = "symlake 1 lake log"
	sealLabel = "symlake lake log"
)

// What a sealed or authenticated text is. Durable.
const (
	entryKind      = "entry"
	checkpointKind = "checkpoint"
)

// MaxBytes bounds the objects of a log that are read, and what they hold once they are open.
const MaxBytes = 1 << 30

// MAC authenticates an entry or a checkpoint.
type MAC [16]byte

// String returns the MAC as the log prints it.
func (m MAC) String() string { return hex.EncodeToString(m[:]) }

// MarshalText implements encoding.TextMarshaler. The zero MAC is no text.
func (m MAC) MarshalText() ([]byte, error) {
	if m == (MAC{}) {
		return nil, nil
	}
	return []byte(m.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *MAC) UnmarshalText(b []byte) error {
	*m = MAC{}
	if len(b) == 0 {
		return nil
	}
	return fromHex(m[:], string(b))
}

// The end of each object of a log: the MAC as the last field.
const (
	macHead = `,"mac":"`
	macTail = "\"}\n"
	macSize = len(macHead) + 2*len(MAC{}) + len(macTail)
)

// errMAC says that bytes are not what a writer of the lake wrote.
var errMAC = errors.New("its MAC is wrong: it was changed, or written with the keys of another store")

// sign returns a JSON object with its MAC as the last field, on one line.
func sign(keys sinks.LakeKeys, kind string, body []byte) ([]byte, MAC) {
	m := macOf(keys, kind, body)
	line := append(bytes.TrimSuffix(body, []byte("}")), macHead...)
	return append(append(line, m.String()...), macTail...), m
}

func macOf(keys sinks.LakeKeys, kind string, body []byte) (m MAC) {
	derive := hmac.New(sha256.New, keys.Names)
	derive.Write([]byte(macLabel))
	h := hmac.New(sha256.New, derive.Sum(nil))
	h.Write([]byte(kind))
	h.Write([]byte{0})
	h.Write(bytes.TrimSuffix(body, []byte("}")))
	copy(m[:], h.Sum(nil))
	return m
}

// signed returns the object in a line of sign, without its MAC.
func signed(keys sinks.LakeKeys, kind string, line []byte) (body []byte, m MAC, err error) {
	at := len(line) - macSize
	if at < 1 || !bytes.HasPrefix(line[at:], []byte(macHead)) || !bytes.HasSuffix(line, []byte(macTail)) {
		return nil, m, errors.New("it does not end with a MAC: it was changed, or cut off")
	}
	body = append(line[:at:at], '}')
	if err := fromHex(m[:], string(line[at+len(macHead):len(line)-len(macTail)])); err != nil || !hmac.Equal(m[:], sliceOf(macOf(keys, kind, body))) {
		return nil, m, errMAC
	}
	return body, m, nil
}

func sliceOf(m MAC) []byte { return m[:] }

// envelope is what stands in clear of a sealed object. Its field names are durable.
type envelope struct {
	Format int    `json:"format"`
	Number uint64 `json:"number"`
	Key    string `json:"key,omitempty"` // id of the master key; "": the object is plain
	Nonce  []byte `json:"nonce"`
	Sealed []byte `json:"sealed"`
}

// additional is the additional data of a sealed object.
func additional(kind string, number uint64) []byte {
	return []byte(kind + " " + strconv.FormatUint(number, 10))
}

// write returns an object of the log as it is stored.
func write(ctx context.Context, keys sinks.LakeKeys, kind, profile string, number uint64, v any) ([]byte, MAC, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, MAC{}, err
	}
	if profile == sinks.LakeSealed {
		if body, err = seal(ctx, keys, kind, number, body); err != nil {
			return nil, MAC{}, err
		}
	}
	line, m := sign(keys, kind, body)
	if len(line) > MaxBytes {
		return nil, MAC{}, fmt.Errorf("its %d bytes are above %d", len(line), MaxBytes)
	}
	return line, m, nil
}

// read opens an object of the log into v. It returns the version of the master key that seals the object; 0: it is plain.
func read(ctx context.Context, keys sinks.LakeKeys, kind string, number uint64, line []byte, v any) (m MAC, version uint32, err error) {
	body, m, err := signed(keys, kind, line)
	if err != nil {
		return m, 0, err
	}
	body, version, err = unseal(ctx, keys, kind, number, body)
	if err != nil {
		return m, 0, err
	}
	return m, version, json.Unmarshal(body, v)
}

// unseal returns the body of an object, which may be sealed.
func unseal(ctx context.Context, keys sinks.LakeKeys, kind string, number uint64, body []byte) (_ []byte, version uint32, err error) {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil || e.Key == "" {
		return body, 0, err
	}
	if version, err = e.version(); err == nil {
		body, err = e.open(ctx, keys, kind, number, version)
	}
	return body, version, err
}

func aead(master []byte) (cipher.AEAD, error) {
	h := hmac.New(sha256.New, master)
	h.Write([]byte(sealLabel))
	block, err := aes.NewCipher(h.Sum(nil))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal deflates and seals an object under the newest master key.
func seal(ctx context.Context, keys sinks.LakeKeys, kind string, number uint64, body []byte) ([]byte, error) {
	master, err := keys.Master(ctx, keys.Newest)
	if err != nil {
		return nil, fmt.Errorf("master key of the lake: %w", err)
	}
	a, err := aead(master)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	w, err := flate.NewWriter(&text, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	e := envelope{Format: Format, Number: number, Key: pqfile.MasterID(keys.Newest), Nonce: make([]byte, a.NonceSize())}
	rand.Read(e.Nonce)
	e.Sealed = a.Seal(nil, e.Nonce, text.Bytes(), additional(kind, number))
	return json.Marshal(e)
}

// open opens a sealed object.
func (e *envelope) open(ctx context.Context, keys sinks.LakeKeys, kind string, number uint64, version uint32) ([]byte, error) {
	if e.Format != Format {
		return nil, fmt.Errorf("its form is %d, this program knows %d: use a newer symlake", e.Format, Format)
	}
	master, err := keys.Master(ctx, version)
	if err != nil {
		return nil, fmt.Errorf("master key %s: %w", e.Key, err)
	}
	a, err := aead(master)
	if err != nil {
		return nil, err
	}
	if len(e.Nonce) != a.NonceSize() {
		return nil, fmt.Errorf("its nonce has %d bytes", len(e.Nonce))
	}
	text, err := a.Open(nil, e.Nonce, e.Sealed, additional(kind, number))
	if err != nil {
		return nil, fmt.Errorf("master key %s does not open it: it was changed, or put under a name that is not its own", e.Key)
	}
	r := flate.NewReader(bytes.NewReader(text))
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err == nil && len(body) > MaxBytes {
		err = fmt.Errorf("it holds more than %d bytes", MaxBytes)
	}
	return body, err
}

// version is the version of the master key that opens the object.
func (e *envelope) version() (uint32, error) {
	prefix := strings.TrimSuffix(pqfile.MasterID(0), "0")
	text, ok := strings.CutPrefix(e.Key, prefix)
	v, err := strconv.ParseUint(text, 10, 32)
	if !ok || err != nil {
		return 0, fmt.Errorf("its key is %q", e.Key)
	}
	return uint32(v), nil
}
