package entropy

import (
	"math"
	"testing"
)

func TestLog2(t *testing.T) {
	for n := uint32(1); n < 1<<31; n += 1 + n/999 {
		if got, want := log2(n), math.Log2(float64(n)); math.Abs(got-want) > 0.001 {
			t.Fatalf("log2(%d) = %f, want %f", n, got, want)
		}
	}
}
