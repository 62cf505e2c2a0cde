package rfc4121

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// FuzzUnwrap opens tokens that our other end did not make. Bytes after the header are sealed as they are if the input
// asks for it, so that the parser behind the checksum sees them.
func FuzzUnwrap(f *testing.F) {
	for _, privacy := range []bool{false, true} {
		a, _ := pairOf(f, rand.New(rand.NewPCG(1, 1)), 18, privacy)
		f.Add(a.Wrap(nil, []byte("text")), privacy, false)
		f.Add(append([]byte{5, 4, 2, 0xff, 0, 4, 0, 28}, make([]byte, 48)...), privacy, true)
	}
	f.Fuzz(func(t *testing.T, token []byte, privacy, seal bool) {
		a, b := pairOf(t, rand.New(rand.NewPCG(1, 1)), 18, privacy)
		if seal && len(token) >= headerSize+2*blockSize {
			token = bytes.Clone(token)
			token = append(token, a.out.seal(token[headerSize:])...)
		}
		size := len(token)
		text, err := b.Unwrap(bytes.Clone(token), false)
		if err == nil && len(text) > size {
			t.Fatalf("%d bytes of %d", len(text), size)
		}
		_, _ = b.Unwrap(token, true)
	})
}
