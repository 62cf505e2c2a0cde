//go:build unix

package ingest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/elf"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build"
	"github.com/symlake/symlake/ingest/build/spill"
	"github.com/symlake/symlake/ingest/build/sweep"
	"github.com/symlake/symlake/sinks"
	bucketfile "github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/lake"
	"github.com/symlake/symlake/sinks/scratch"
)

// BenchmarkLake writes the swept runs of real objects, held in memory, to a lake of each profile:
// rows a second of processor time, demangling included.
func BenchmarkLake(b *testing.B) {
	home, err := os.UserHomeDir()
	if err != nil {
		b.Skip(err)
	}
	for _, name := range []string{"ceph", "rn-release", "hermesvm"} {
		file := filepath.Join(home, ".cache/symlake/inputs", name)
		if _, err := os.Stat(file); err != nil {
			b.Logf("%v: make bench fetches it", err)
			continue
		}
		a, runs := sweptRuns(b, file)
		rows := 0
		for _, r := range runs {
			rows += len(r.Ranges)
		}
		for _, profile := range []string{sinks.LakeSealed, sinks.LakePlain} {
			b.Run(name+"/"+profile, func(b *testing.B) {
				b.ReportAllocs()
				var bytesOf int64
				from := formattest.Spent(b)
				for b.Loop() {
					bytesOf = writeLake(b, profile, a, runs)
				}
				b.ReportMetric(float64(b.N)*float64(rows)/1e6/(formattest.Spent(b)-from).Seconds(), "Mrows/cpu-s")
				b.ReportMetric(float64(bytesOf)/float64(rows), "B/row")
			})
		}
	}
}

func writeLake(b *testing.B, profile string, a *symbol.Artifact, runs []*symbol.Run) int64 {
	dir, err := bucketfile.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	l := lake.Open(lake.Options{Bucket: dir, Profile: profile, Scratch: b.TempDir(), Keys: sinks.LakeKeys{Names: []byte("names"), Newest: 1,
		Master: func(context.Context, uint32) ([]byte, error) { return bytes.Repeat([]byte{1}, 32), nil }}})
	batch, err := l.Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	load := sinks.Load{1}
	if err := batch.Load(a, load); err != nil {
		b.Fatal(err)
	}
	for _, r := range runs {
		if err := batch.Write(r); err != nil {
			b.Fatal(err)
		}
	}
	done, err := batch.Commit(b.Context(), []*sinks.LakeLoad{{Artifact: *a, Load: load}})
	if err != nil {
		b.Fatal(err)
	}
	return done.Bytes
}

// sweptRuns are the runs of the first artifact of an ELF file, as a lake gets them.
func sweptRuns(b *testing.B, file string) (*symbol.Artifact, []*symbol.Run) {
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	obj := formattest.Open(b, &elf.Format, formattest.InputOf(filepath.Base(file), text, formats.Limits{}))
	a := &obj.Artifacts[0]
	s := spill.New(spill.Options{Budget: scratch.NewBudget(1 << 30), Scratch: b.TempDir(), StringBytes: 1 << 30})
	defer s.Close()
	lane := s.Lane()
	for part := range a.Parts {
		if _, err := a.Explode(b.Context(), part, func(r *symbol.Run) error { return lane.Add(part, r) }); err != nil {
			b.Fatal(err)
		}
	}
	s.Sort()
	m, err := s.Merge()
	if err != nil {
		b.Fatal(err)
	}
	var runs []*symbol.Run
	_, err = sweep.Sweep(m.Next, func(r *symbol.Run) error {
		c := *r
		c.Ranges, c.Scopes = slices.Clone(r.Ranges), slices.Clone(r.Scopes)
		runs = append(runs, &c)
		return nil
	})
	if err != nil {
		b.Fatal(fmt.Errorf("sweep: %w", err))
	}
	return build.Clone(&a.Artifact), runs
}
