package explode

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
)

// benchFile is the environment variable that names a program file to explode.
const benchFile = "SYMLAKE_BENCH_ELF"

// BenchmarkUnits explodes all units of a file on one goroutine and reports
// user time, which other load on the machine does not stretch.
func BenchmarkUnits(b *testing.B) {
	path := fileToTry(b)
	o := openMapped(b, path)
	b.SetBytes(o.bytes)
	var runs, ranges, scopes, texts int
	before := userTime()
	for b.Loop() {
		runs, ranges, scopes, texts = 0, 0, 0, 0
		x := o.exploder(b)
		for i := range x.Parts() {
			n := 0
			_, err := x.Part(context.Background(), i, func(r *symbol.Run) error {
				runs++
				ranges += len(r.Ranges)
				scopes += len(r.Scopes)
				n = len(r.Strings)
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			texts += n
		}
	}
	b.ReportMetric((userTime()-before).Seconds()/float64(b.N), "user-s/op")
	b.ReportMetric(anonymous(b), "anon-MiB")
	b.ReportMetric(float64(runs), "runs")
	b.ReportMetric(float64(ranges), "ranges")
	b.ReportMetric(float64(scopes), "scopes")
	b.ReportMetric(float64(texts), "strings")
}

// anonymous is the anonymous memory of the process: all but the mapped
// file.
func anonymous(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				b.Fatal(err)
			}
			return float64(kb) / 1024
		}
	}
	return 0
}
