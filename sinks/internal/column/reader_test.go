package column

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// Passing over numbers ends where reading them does, also in a column that is cut short or holds a number that is none.
func TestSkipIsNext(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		var col []byte
		large := r.IntN(3) * 21 // bits, of some
		for range r.IntN(60) {
			col = binary.AppendUvarint(col, r.Uint64N(1<<(1+r.IntN(7)+r.IntN(2)*large)))
		}
		switch r.IntN(4) {
		case 0:
			col = col[:r.IntN(len(col)+1)]
		case 1:
			at := r.IntN(len(col) + 1)
			for i := at; i < min(at+12, len(col)); i++ {
				col[i] |= 0x80
			}
		}
		n := r.IntN(64)
		skipped, read := Reader{B: col}, Reader{B: col}
		skipped.Skip(n)
		for i := 0; i < n && !read.Bad; i++ {
			read.Next()
		}
		if skipped.At != read.At || skipped.Bad != read.Bad {
			t.Fatalf("%d numbers of %x: skip ends at %d, bad %t, next at %d, bad %t", n, col, skipped.At, skipped.Bad, read.At, read.Bad)
		}
	}
}
