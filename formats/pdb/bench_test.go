package pdb

import (
	"os"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// benchFile is the environment variable that names a PDB file to explode.
const benchFile = "SYMLAKE_BENCH_PDB"

// BenchmarkExplode opens a file and explodes all its parts on one goroutine.
func BenchmarkExplode(b *testing.B) {
	path := os.Getenv(benchFile)
	if path == "" {
		path = fixtures(b)[0]
	}
	bytes, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(bytes)))
	b.ReportAllocs()
	var runs, ranges, scopes int
	for b.Loop() {
		runs, ranges, scopes = 0, 0, 0
		a := formattest.Open(b, &Format, formattest.Input(b, path)).Artifacts[0]
		for i := range a.Parts {
			_, err := a.Explode(b.Context(), i, func(r *symbol.Run) error {
				runs++
				ranges += len(r.Ranges)
				scopes += len(r.Scopes)
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(runs), "runs")
	b.ReportMetric(float64(ranges), "ranges")
	b.ReportMetric(float64(scopes), "scopes")
}
