package entropy

import "math"

// Histogram counts the bytes of a column. The zero value is ready.
type Histogram struct {
	Counts []uint32 // by byte, to the highest that occurs
	Most   int      // how often the most frequent byte occurs
	Values int      // how many bytes occur
	Bits   int      // information of the column: no entropy coder takes fewer bits

	all [256]uint32
}

// Count counts the bytes of raw, which is not empty. Counts is valid until the next call.
func (h *Histogram) Count(raw []byte) {
	// Two counters a byte: a column of few values would wait for its own stores.
	var odd [256]uint32
	all := &h.all
	clear(all[:])
	i := 0
	for ; i+1 < len(raw); i += 2 {
		all[raw[i]]++
		odd[raw[i+1]]++
	}
	if i < len(raw) {
		all[raw[i]]++
	}

	most, values, last, sum := 0, 0, 0, 0.0
	for b := range all {
		if all[b] += odd[b]; all[b] > 0 {
			most, last = max(most, int(all[b])), b
			sum += float64(all[b]) * log2(all[b])
			values++
		}
	}
	n := uint32(len(raw))
	h.Counts, h.Most, h.Values, h.Bits = all[:last+1], most, values, int(float64(n)*log2(n)-sum)
}

// log2 returns the binary logarithm of n, which is not 0, within 0.001: of its mantissa by a polynomial.
func log2(n uint32) float64 {
	b := math.Float64bits(float64(n))
	x := math.Float64frombits(b&(1<<52-1)|1023<<52) - 1
	return float64(int(b>>52)-1023) + x + x*(1-x)*(0.423-0.1595*x)
}
