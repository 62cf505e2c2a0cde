package mapfile

import (
	"math/rand/v2"
	"testing"
)

// What eight bytes at a time say is what one says.
func TestMarks(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	const forward = "ACEGIKMOQSUWYacegikmoqsuwy02468+" // even digits
	const all = forward + "BDFHJLNPRTVXZbdfhjlnprtvxz13579/"
	for i := range 20_000 {
		begin, rest := forward, all
		if r.IntN(4) == 0 {
			begin = all
		}
		b := make([]byte, r.IntN(40))
		if i%1000 == 0 {
			b = make([]byte, 3*marksPiece)
		}
		want, begins := marks{}, true
		for i := range b {
			switch r.IntN(4) {
			case 0:
				b[i] = ",;"[r.IntN(2)]
			default:
				from := rest
				if begins {
					from = begin
				}
				b[i] = from[r.IntN(len(from))]
			}
			want.backward = want.backward || begins && digits[b[i]] < comma && digits[b[i]]%2 == 1
			if begins = b[i] == ',' || b[i] == ';'; b[i] == ';' {
				want.semicolons++
			}
		}
		want.begins = begins
		got := marks{begins: true}
		cut := r.IntN(len(b) + 1)
		got.read(b[:cut])
		got.read(b[cut:])
		if got != want {
			t.Fatalf("%s cut at %d: %+v, want %+v", b, cut, got, want)
		}
	}
}
