package column

import (
	"math/rand/v2"
	"testing"
)

// Of a column that may be coded either way the smaller result is found, without trying a random column with zstd and a column
// of recurring parts with an entropy coder.
func TestMatchesTellTheCoder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	some := func() byte { return byte(min(r.IntN(24), r.IntN(24))) }
	columns := map[string]struct {
		raw  []byte
		zstd bool
	}{}
	add := func(name string, zstd bool, raw []byte) {
		columns[name] = struct {
			raw  []byte
			zstd bool
		}{raw, zstd}
	}
	chance := make([]byte, 2560)
	for i := range chance {
		chance[i] = some()
	}
	add("chance", false, chance)
	var recurring, few []byte
	for len(recurring) < 2560 {
		if at := r.IntN(len(recurring) + 1); at > 64 {
			recurring = append(recurring, recurring[at-r.IntN(48)-12:at]...)
		}
		for range r.IntN(6) + 1 {
			recurring = append(recurring, some())
		}
	}
	add("recurring", true, recurring)
	few = append(few, chance[:2500]...)
	copy(few[1200:1230], few[300:])
	add("one match", false, few)
	c := NewEncoder()
	for name, col := range columns {
		c.counts.Count(col.raw)
		if got := c.matches.pay(col.raw, c.counts.Bits, c.counts.Values); got != col.zstd {
			t.Errorf("%s: pays: %t", name, got)
		}
		size := func(try Trial) int { return len(c.Append(nil, col.raw, try)) }
		if both, zstd, entropy := size(TryBoth), size(TryZstd), size(TryEntropy); both != min(zstd, entropy) {
			t.Errorf("%s: %d bytes; as zstd %d, by entropy %d", name, both, zstd, entropy)
		}
	}
}
