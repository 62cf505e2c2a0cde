package archive_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// BenchmarkSkip walks packages of unwanted members: 5,000 stored pictures
// of 40 KB, and 20,000 deflated classes of 4 KB.
func BenchmarkSkip(b *testing.B) {
	noise := make([]byte, 40_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32() % 24)
	}
	for _, c := range []struct {
		name   string
		n      int
		size   int
		method uint16
	}{{"apk", 5000, 40_000, zip.Store}, {"jar", 20_000, 4_000, zip.Deflate}, {"dex", 200, 40_000 * 25, zip.Deflate}} {
		var members []member
		body := string(bytes.Repeat(noise, c.size/len(noise)+1)[:c.size])
		for i := range c.n {
			members = append(members, member{fmt.Sprintf("res/%d.png", i), body, c.method})
		}
		z := makeZip(b, members...)
		members = nil
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				in := formattest.InputOf("o.zip", z, formats.Limits{})
				_, obj, err := formats.Open(b.Context(), list, in)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				err = obj.Members(b.Context(), func(m *formats.Input) error {
					n++
					_, _, err := formats.Open(b.Context(), list, m)
					return err
				})
				if err != nil || n != c.n {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(len(z))/1e6, "MB/archive")
		})
	}
}
