//go:build unix

package swift

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// benchNames are the names of the fixtures, else the names that come with the tree.
func benchNames(b *testing.B) (names []string) {
	file := filepath.Join(filepath.Dir(formattest.Root()), "shared", "fixtures", "swift", "names.tsv.zst")
	if _, err := os.Stat(file); err != nil {
		file = formattest.Testdata(b, "swift/answers.tsv.zst")
	}
	for _, a := range answers(b, file) {
		names = append(names, a.name)
	}
	return names
}

// BenchmarkName tells the names a second of a core in both forms, and, if the
// oracle is built, the times of Apple's demangler beside them: the medians of runs
// in turn.
func BenchmarkName(b *testing.B) {
	const pairs, rounds = 5, 3
	names := benchNames(b)
	program := filepath.Join(os.Getenv(toolsVariable), "swift-oracle")
	_, err := os.Stat(program)
	beside := err == nil
	d := new(Demangler)
	for i, form := range []string{"full", "simplified"} {
		b.Run(form, func(b *testing.B) {
			var ours, apples []float64
			for range pairs {
				start := formattest.Spent(b)
				for range rounds {
					for _, name := range names {
						d.Name(name, form == "simplified", maxBytes)
					}
				}
				ours = append(ours, float64(rounds*len(names))/(formattest.Spent(b)-start).Seconds())
				if !beside {
					continue
				}
				cmd := exec.Command(program, fmt.Sprint(rounds))
				cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
				out, err := cmd.Output()
				if err != nil {
					b.Fatal(err)
				}
				var speed [2]float64
				if _, err := fmt.Sscan(string(out), &speed[0], &speed[1]); err != nil {
					b.Fatal(err)
				}
				apples = append(apples, speed[i])
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(ours), "names/s")
			if beside {
				b.ReportMetric(median(apples), "Apple's-names/s")
			}
			b.ReportMetric(testing.AllocsPerRun(1, func() {
				for _, name := range names {
					d.Name(name, form == "simplified", maxBytes)
				}
			})/float64(len(names)), "allocs/name")
		})
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
