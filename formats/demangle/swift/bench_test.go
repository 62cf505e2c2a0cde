package swift

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// BenchmarkName tells the names a second of both forms on the fixtures' names.
func BenchmarkName(b *testing.B) {
	list := answers(b, formattest.Fixture(b, "swift/names.tsv.zst"))
	for _, simplified := range []bool{false, true} {
		name := "full"
		if simplified {
			name = "simplified"
		}
		b.Run(name, func(b *testing.B) {
			d := new(Demangler)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				d.Name(list[i].name, simplified, maxBytes)
				if i++; i == len(list) {
					i = 0
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "names/s")
		})
	}
}

// BenchmarkOracle tells the same of Apple's demangler, if it is built.
func BenchmarkOracle(b *testing.B) {
	program, err := exec.LookPath("swift-oracle")
	if err != nil {
		b.Skip("SKIP: swift-oracle is not in the path")
	}
	var names strings.Builder
	for _, a := range answers(b, formattest.Fixture(b, "swift/names.tsv.zst")) {
		names.WriteString(a.name + "\n")
	}
	cmd := exec.Command(program, "5")
	cmd.Stdin = strings.NewReader(names.String())
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("names/s full, simplified: %s", out)
	for b.Loop() {
	}
}
