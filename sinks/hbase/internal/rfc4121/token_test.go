package rfc4121

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// A sealed token that differs in one bit does not open.
func TestTampered(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, kind := range kinds {
		for _, privacy := range []bool{false, true} {
			a, b := pairOf(t, r, kind, privacy)
			token := a.Wrap(nil, []byte("row "), []byte("key"))
			for i := range len(token) * 8 {
				bad := bytes.Clone(token)
				bad[i/8] ^= 1 << (i % 8)
				// A rotation by the whole length, or of bytes that are alike, changes nothing.
				if got, err := b.Unwrap(bad, false); err == nil {
					t.Errorf("type %d, privacy %v, bit %d: opens to %q", kind, privacy, i, got)
					b.receive--
				}
			}
			if got, err := b.Unwrap(token, false); err != nil || string(got) != "row key" {
				t.Errorf("type %d: %q, %v", kind, got, err)
			}
			if _, err := b.Unwrap(a.Wrap(nil), false); err != nil {
				t.Errorf("type %d: an empty token: %v", kind, err)
			}
		}
	}
}

// pairOf makes both ends of a stream.
func pairOf(t testing.TB, r *rand.Rand, kind int32, privacy bool) (initiator, acceptor *Wrapper) {
	t.Helper()
	key := randomKey(r, kind)
	ours, theirs := r.Uint64(), r.Uint64()
	initiator, err := New(key, true, false, ours, theirs)
	if err != nil {
		t.Fatal(err)
	}
	if acceptor, err = New(key, true, true, theirs, ours); err != nil {
		t.Fatal(err)
	}
	initiator.Privacy, acceptor.Privacy = privacy, privacy
	return initiator, acceptor
}

// Tokens that come again, too early, or from our own side are refused; a rotated one opens.
func TestTokenOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, privacy := range []bool{false, true} {
		a, b := pairOf(t, r, 18, privacy)
		first, second := a.Wrap(nil, []byte("first")), a.Wrap(nil, []byte("second"))
		if _, err := b.Unwrap(bytes.Clone(second), false); err == nil {
			t.Error("a token that comes too early opens")
		}
		if _, err := a.Unwrap(bytes.Clone(first), false); err == nil {
			t.Error("our own token opens")
		}
		if _, err := b.Unwrap(bytes.Clone(first), false); err != nil {
			t.Error(err)
		}
		if _, err := b.Unwrap(bytes.Clone(first), false); err == nil {
			t.Error("a replayed token opens")
		}
		for _, n := range []int{1, 28, len(second) - headerSize, len(second)} {
			turned := bytes.Clone(second)
			body := turned[headerSize:]
			rotateLeft(body, (len(body)-n%len(body))%len(body))
			turned[6], turned[7] = byte(n>>8), byte(n)
			if got, err := b.Unwrap(turned, false); err != nil || string(got) != "second" {
				t.Errorf("rotated by %d: %q, %v", n, got, err)
			}
			b.receive--
		}
	}
}

func BenchmarkWrap(b *testing.B)   { benchmark(b, true) }
func BenchmarkUnwrap(b *testing.B) { benchmark(b, false) }

func benchmark(b *testing.B, wrap bool) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, kind := range kinds {
		for _, size := range []int{256, 8 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("type=%d/size=%d", kind, size), func(b *testing.B) {
				out, in := pairOf(b, r, kind, true)
				text := make([]byte, size)
				token := out.Wrap(nil, text)
				room := make([]byte, 0, len(token)+64)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if wrap {
						room = out.Wrap(room[:0], text)
						continue
					}
					room = append(room[:0], token...)
					if _, err := in.Unwrap(room, false); err != nil {
						b.Fatal(err)
					}
					in.receive--
				}
			})
		}
	}
}
