package keyset

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
)

var templates = map[string]*tinkpb.KeyTemplate{
	"AES128_GCM": aead.AES128GCMKeyTemplate(), "AES256_GCM": aead.AES256GCMKeyTemplate(), "AES256_GCM_RAW": aead.AES256GCMNoPrefixKeyTemplate(),
	"AES128_CTR": aead.AES128CTRHMACSHA256KeyTemplate(), "AES256_CTR": aead.AES256CTRHMACSHA256KeyTemplate(),
	"CHACHA20": aead.ChaCha20Poly1305KeyTemplate(), "XCHACHA20": aead.XChaCha20Poly1305KeyTemplate(),
}

// sealer is a key that seals keysets, as Tink and as we want it.
func sealer(t *testing.T) *AEAD {
	t.Helper()
	a, err := New().AEAD()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Keysets of Tink, in the clear and sealed, open here what Tink has sealed with them, and the other way around.
func TestTink(t *testing.T) {
	t.Parallel()
	for name, template := range templates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manager := keyset.NewManager()
			first, err := manager.Add(aead.AES256GCMKeyTemplate())
			if err != nil {
				t.Fatal(err)
			}
			second, err := manager.Add(template)
			if err != nil {
				t.Fatal(err)
			}
			third, err := manager.Add(aead.AES128GCMSIVKeyTemplate()) // disabled: its type does not matter
			if err != nil || manager.SetPrimary(second) != nil || manager.Disable(third) != nil {
				t.Fatal(err, first)
			}
			theirs, err := manager.Handle()
			if err != nil {
				t.Fatal(err)
			}
			var clear, locked bytes.Buffer
			by := sealer(t)
			if err := errors.Join(insecurecleartextkeyset.Write(theirs, keyset.NewJSONWriter(&clear)), theirs.Write(keyset.NewJSONWriter(&locked), by)); err != nil {
				t.Fatal(err)
			}
			ours, err := Parse(clear.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			opened, err := ParseSealed(locked.Bytes(), func(b []byte) ([]byte, error) { return by.Decrypt(b, nil) })
			if err != nil {
				t.Fatal(err)
			}
			agree(t, theirs, ours)
			agree(t, theirs, opened)
		})
	}
}

// Tink reads what we write.
func TestWrite(t *testing.T) {
	t.Parallel()
	ours, by := New(), sealer(t)
	clear, err := ours.JSON()
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ours.SealedJSON(func(plain []byte) ([]byte, error) { return by.Encrypt(plain, nil) })
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(clear)))
	if err != nil {
		t.Fatal(err)
	}
	agree(t, theirs, ours)
	if theirs, err = keyset.Read(keyset.NewJSONReader(bytes.NewReader(locked)), by); err != nil {
		t.Fatal(err)
	}
	agree(t, theirs, ours)
}

// agree seals by one and opens by the other.
func agree(t *testing.T, h *keyset.Handle, k *Keyset) {
	t.Helper()
	theirs, err := aead.New(h)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := k.AEAD()
	if err != nil {
		t.Fatal(err)
	}
	if h.KeysetInfo().GetPrimaryKeyId() != k.PrimaryKeyID {
		t.Errorf("primary key %d, Tink says %d", k.PrimaryKeyID, h.KeysetInfo().GetPrimaryKeyId())
	}
	type way struct {
		seal, open func(text, aad []byte) ([]byte, error)
	}
	for _, w := range []way{{theirs.Encrypt, ours.Decrypt}, {ours.Encrypt, theirs.Decrypt}} {
		for _, text := range []string{"", "secret"} {
			sealed, err := w.seal([]byte(text), []byte("where"))
			if err != nil {
				t.Fatal(err)
			}
			if plain, err := w.open(sealed, []byte("where")); err != nil || string(plain) != text {
				t.Errorf("%q, %v", plain, err)
			}
			if _, err := w.open(sealed, []byte("elsewhere")); err == nil {
				t.Error("opened with other additional data")
			}
			for i := range sealed {
				bad := slices.Clone(sealed)
				bad[i] ^= 1
				if _, err := ours.Decrypt(bad, []byte("where")); !errors.Is(err, ErrOpen) {
					t.Errorf("byte %d changed: %v", i, err)
				}
				if _, err := ours.Decrypt(sealed[:i], []byte("where")); !errors.Is(err, ErrOpen) {
					t.Errorf("cut at %d: %v", i, err)
				}
			}
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	h, err := keyset.NewHandle(aead.AES256GCMSIVKeyTemplate())
	if err != nil {
		t.Fatal(err)
	}
	var siv bytes.Buffer
	if err := insecurecleartextkeyset.Write(h, keyset.NewJSONWriter(&siv)); err != nil {
		t.Fatal(err)
	}
	good, err := New().JSON()
	if err != nil {
		t.Fatal(err)
	}
	locked, err := New().SealedJSON(func(plain []byte) ([]byte, error) { return plain, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{siv.String(), "AesGcmSivKey"},
		{"{}", "one primary key"},
		{"[]", "not a keyset"},
		{string(locked), "sealed by another key"},
		{strings.Replace(string(good), "ENABLED", "DISABLED", 1), "one primary key"},
		{strings.Replace(string(good), `"TINK"`, `"MAGENTA"`, 1), "MAGENTA"},
		{strings.Replace(string(good), `"value":"`, `"value":"CAEa`, 1), "version"},
	} {
		k, err := Parse([]byte(c.text))
		if err == nil {
			_, err = k.AEAD()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := ParseSealed(good, nil); err == nil || !strings.Contains(err.Error(), "no sealed keyset") {
		t.Errorf("in the clear: %v", err)
	}
	for _, bad := range []string{"\xff", "\x12\x05\x0a", "\x08\x01"} {
		if _, err := ParseSealed(locked, func([]byte) ([]byte, error) { return []byte(bad), nil }); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func FuzzBinary(f *testing.F) {
	f.Add(New().binary())
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := parseBinary(b)
		if err != nil {
			return
		}
		if again, err := parseBinary(k.binary()); err != nil || len(again.Key) != len(k.Key) {
			t.Errorf("written again: %v", err)
		}
		if a, err := k.AEAD(); err == nil {
			a.Decrypt(b, nil)
		}
	})
}
