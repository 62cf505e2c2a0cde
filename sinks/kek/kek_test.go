package kek

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks"
)

func TestKeysetRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	if err := CreateKeyset(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	sealed := seal(t, open(t, path))
	got, err := open(t, path).Decrypt(t.Context(), sealed, []byte("where"))
	if err != nil || string(got) != "secret" {
		t.Fatalf("opened again: %q, %v", got, err)
	}
	if _, err := open(t, path).Decrypt(t.Context(), sealed, []byte("elsewhere")); err == nil {
		t.Error("opened under other additional data")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestKeysetIsNeverReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	if err := CreateKeyset(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	if err := CreateKeyset(t.Context(), path, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second create: %v, want fs.ErrExist", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the keyset changed")
	}
}

func TestKeysetOfOthersIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	if err := CreateKeyset(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := OpenKeyset(t.Context(), path, nil)
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), fmt.Sprintf("%#o", mode)) {
			t.Errorf("mode %v: %v, want it refused and named", mode, err)
		}
	}
}

func TestBadKeyset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	if _, err := OpenKeyset(t.Context(), path, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v, want fs.ErrNotExist", err)
	}
	for _, text := range []string{"", "{}", `{"key": 1`, strings.Repeat(" ", maxKeysetBytes+1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenKeyset(t.Context(), path, nil); err == nil {
			t.Errorf("%.20q opened", text)
		}
	}
	if _, err := OpenKeyset(t.Context(), t.TempDir(), nil); err == nil {
		t.Error("a folder opened")
	}
}

func TestEphemeral(t *testing.T) {
	k := Ephemeral()
	sealed := seal(t, k)
	if got, err := k.Decrypt(t.Context(), sealed, []byte("where")); err != nil || string(got) != "secret" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Ephemeral().Decrypt(t.Context(), sealed, []byte("where")); err == nil {
		t.Error("another ephemeral key opened it")
	}
}

func open(t *testing.T, path string) sinks.KEK {
	t.Helper()
	k, err := OpenKeyset(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func seal(t *testing.T, k sinks.KEK) []byte {
	t.Helper()
	s, err := k.Encrypt(t.Context(), []byte("secret"), []byte("where"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(s, []byte("secret")) {
		t.Error("sealed text shows")
	}
	return s
}

func BenchmarkOpenKeyset(b *testing.B) {
	path := filepath.Join(b.TempDir(), "keyset.json")
	if err := CreateKeyset(b.Context(), path, nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := OpenKeyset(b.Context(), path, nil); err != nil {
			b.Fatal(err)
		}
	}
}
