package growth

import (
	"math"
	"testing"
)

func TestExponent(t *testing.T) {
	sizes := []int{1000, 10_000, 100_000}
	for _, c := range []struct {
		costs []float64
		want  float64
	}{{[]float64{.01, .1, 1}, 1}, {[]float64{.5, .5, .5}, 0}, {[]float64{.01, 1, 100}, 2}} {
		if got := Exponent(sizes, c.costs); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", c.costs, got, c.want)
		}
	}
}
