package growth

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/hbase/hbasetest"
)

// TestBenchHBase measures the program SYMLAKE on stores in one HBase. SYMLAKE_BENCH_ARTIFACTS is the size of the largest.
func TestBenchHBase(t *testing.T) {
	program := os.Getenv("SYMLAKE")
	if program == "" {
		t.Skip("SYMLAKE=PROGRAM measures it: make bench does")
	}
	most, err := strconv.Atoi(os.Getenv("SYMLAKE_BENCH_ARTIFACTS"))
	if err != nil {
		t.Fatal(err)
	}
	h := hbasetest.Start(t, hbasetest.Options{Heap: "2g", Fast: true, Site: map[string]string{"hbase.regionserver.msginterval": "3000"}})
	b := Bench{Symlake: program, Temp: t.TempDir(), Most: most, Server: &Server{Store: h.URL, Used: func() time.Duration {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", h.Process()))
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(hbasetest.Used(stat) * float64(time.Second))
	}}}
	if err := b.Run(); err != nil {
		t.Fatal(err)
	}
}

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
