package explode

import (
	"math/rand/v2"
	"testing"
)

// A table says what a map does: of keys near each other, far from each other, longer than 32 bits and 0, before and after it
// was emptied.
func TestTable(t *testing.T) {
	var table table
	rnd := rand.New(rand.NewPCG(1, 2))
	for round, n := range []int{5000, 10, 0, 5000, 20000} {
		table.reset()
		want := map[uint64]uint32{}
		for i := range uint64(n) {
			for _, key := range []uint64{i, i << 20 & 0xffffffff, i << 32, rnd.Uint64()} {
				val := 1 + rnd.Uint32N(1<<31)
				table.put(key, val)
				want[key] = val
			}
		}
		for i := range uint64(20000) {
			for _, key := range []uint64{i, i << 20 & 0xffffffff, i << 32} {
				if got := table.get(key); got != want[key] {
					t.Fatalf("round %d: %#x is %d, want %d", round, key, got, want[key])
				}
			}
		}
		for key, val := range want {
			if got := table.get(key); got != val {
				t.Fatalf("round %d: %#x is %d, want %d", round, key, got, val)
			}
		}
	}
}
