package native

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
)

// Symbols come in the order that Symbols documents, wherever in the address space they are.
func TestSortSymbols(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{0, 1, 2, 3, 300, 5000} {
		for _, high := range []uint64{1, 200, 1 << 24, 1 << 50, 1<<64 - 1} {
			low := r.Uint64N(-high)
			all := make([]Symbol, n)
			for i := range all {
				all[i] = Symbol{Addr: low + r.Uint64N(high), Size: r.Uint64N(3), Name: strconv.Itoa(i), Rank: symbol.RankSymtab + symbol.Rank(r.IntN(2)), Open: r.IntN(3) == 0}
			}
			want := slices.Clone(all)
			slices.Reverse(want)
			slices.SortStableFunc(want, func(a, b Symbol) int {
				size := func(s Symbol) uint64 {
					if s.Open {
						return 0
					}
					return s.Size
				}
				return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Rank, b.Rank), cmp.Compare(size(b), size(a)))
			})
			if sortSymbols(all); !slices.Equal(all, want) {
				t.Fatalf("%d symbols in %#x addresses are in another order (seed %d)", n, high, seed)
			}
		}
	}
}
