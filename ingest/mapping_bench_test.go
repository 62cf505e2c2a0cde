//go:build unix

package ingest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build/spill"
	"github.com/symlake/symlake/ingest/build/sweep"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
	"github.com/symlake/symlake/sinks/scratch"
)

// BenchmarkMapping takes the mapping that testdata/bench/mapping.sh makes from text to rows, on one processor,
// without a store; its stages alone beside it.
func BenchmarkMapping(b *testing.B) {
	home, err := os.UserHomeDir()
	if err != nil {
		b.Skip(err)
	}
	text, err := os.ReadFile(filepath.Join(home, ".cache/symlake/r8-libraries/mapping.txt"))
	if err != nil {
		b.Skipf("%v: make it with testdata/bench/mapping.sh", err)
	}
	store := mem.New()
	ring, err := row.CreateKeyring(b.Context(), store.Catalog, kek.Ephemeral())
	if err != nil {
		b.Fatal(err)
	}
	obj := formattest.Open(b, &r8.Format, formattest.InputOf("mapping.txt", text, formats.Limits{}))
	a := &obj.Artifacts[0]
	explode := func(b *testing.B, take func(part int, c *symbol.Class) error) {
		for part := range a.Parts {
			if _, err := a.ExplodeClasses(b.Context(), part, func(c *symbol.Class) error { return take(part, c) }); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("parse", func(b *testing.B) {
		defer perCPU(b, len(text))()
		for b.Loop() {
			explode(b, func(int, *symbol.Class) error { return nil })
		}
	})
	sorted := func(b *testing.B) (*spill.Sorter, *row.Secret) {
		secret := row.NewSecret()
		if err != nil {
			b.Fatal(err)
		}
		s := spill.New(spill.Options{Budget: scratch.NewBudget(64 << 20), Scratch: b.TempDir(), Position: secret.Position})
		l := s.Lane()
		explode(b, l.AddClass)
		s.Sort()
		return s, secret
	}
	b.Run("sort", func(b *testing.B) {
		defer perCPU(b, len(text))()
		for b.Loop() {
			s, _ := sorted(b)
			s.Close()
		}
	})
	b.Run("all", func(b *testing.B) {
		defer perCPU(b, len(text))()
		b.ReportAllocs()
		var stored uint64
		for b.Loop() {
			s, secret := sorted(b)
			t := s.Table()
			e, err := loads.NewEncoder(ring, &a.Artifact, row.NewLoad(time.Now()), secret, dictionary.Table{Strings: t.Strings, Runs: t.Runs, Numbers: t.Numbers}, func(sinks.Row) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
			m, err := s.Merge()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := sweep.Classes(m.NextClass, e.AddClass); err != nil {
				b.Fatal(err)
			}
			l, err := e.Close()
			if err != nil {
				b.Fatal(err)
			}
			stored = l.Bytes
			s.Close()
		}
		b.ReportMetric(100*float64(stored)/float64(len(text)), "%stored")
	})
}

// perCPU reports megabytes a second of processor time, which other work on the machine hardly changes.
func perCPU(b *testing.B, bytes int) func() {
	from := formattest.Spent(b)
	return func() {
		b.ReportMetric(float64(b.N)*float64(bytes)/1e6/(formattest.Spent(b)-from).Seconds(), "MB/cpu-s")
	}
}
