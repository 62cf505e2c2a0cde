package row

import (
	"bytes"
	"errors"
	"testing"
)

func TestSealBindsKeyAndHead(t *testing.T) {
	s, err := newSealer(make([]byte, secretBytes), forRows)
	if err != nil {
		t.Fatal(err)
	}
	head, key := []byte{version1, byte(FormRanges)}, []byte("key")
	v := s.seal(head, key, []byte("text"))
	if got, err := s.open(nil, len(head), key, v); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if bytes.Equal(v, s.seal(head, key, []byte("text"))) {
		t.Error("sealed twice to the same bytes")
	}
	for name, open := range map[string]func() ([]byte, error){
		"another key":    func() ([]byte, error) { return s.open(nil, len(head), []byte("kez"), v) },
		"a longer key":   func() ([]byte, error) { return s.open(nil, len(head), []byte("key\x00"), v) },
		"another body":   func() ([]byte, error) { return s.open(nil, len(head), key, append([]byte{version1, 9}, v[2:]...)) },
		"another nonce":  func() ([]byte, error) { w := bytes.Clone(v); w[7] ^= 1; return s.open(nil, len(head), key, w) },
		"a longer value": func() ([]byte, error) { return s.open(nil, len(head), key, append(bytes.Clone(v), 0)) },
	} {
		if got, err := open(); !errors.Is(err, ErrUnauthentic) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, purpose := range []string{forCatalog, forWraps} { // one secret, other purposes
		other, err := newSealer(make([]byte, secretBytes), purpose)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.open(nil, len(head), key, v); !errors.Is(err, ErrUnauthentic) {
			t.Errorf("%s: %v", purpose, err)
		}
	}
}

func FuzzFence(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0x80, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, last, err := Fence(b).Rows()
		if err != nil {
			return
		}
		for i := 1; i < len(last); i++ {
			if last[i] <= last[i-1] {
				t.Fatalf("row %d ends at %#x after %#x", i, last[i], last[i-1])
			}
		}
	})
}
