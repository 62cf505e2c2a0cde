// Package pdbs measures what PDB files cost.
package pdbs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/pdb"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/testdata/bench/measure"
)

// Child is the environment variable that names a PDB file. A program that finds it set calls Explode and does nothing
// else: it is measured as a child of its own.
const Child = "SYMLAKE_BENCH_EXPLODE"

// Explode reads a PDB file and explodes all its parts on one goroutine.
func Explode(ctx context.Context, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lim := formats.Limits{}.WithDefaults()
	obj, err := pdb.Format.Open(ctx, &formats.Input{Name: path, Size: int64(len(b)), Limits: &lim, Bytes: bytes.NewReader(b), Mapped: b})
	if err != nil {
		return err
	}
	ranges := 0
	for i := range obj.Artifacts {
		a := &obj.Artifacts[i]
		for part := range a.Parts {
			if _, err := a.Explode(ctx, part, func(r *symbol.Run) error { ranges += len(r.Ranges); return nil }); err != nil {
				return err
			}
		}
	}
	fmt.Println(ranges)
	return nil
}

// Bench names the programs to measure, and their folders.
type Bench struct {
	Symlake, Peer string // programs; Peer may be ""
	Cache, Temp   string // folders
	Pairs         int    // runs of each
}

// Measure prints what exploding and ingesting PDB files costs beside symbolic's SymCache writer.
func (b *Bench) Measure() error {
	files, err := filepath.Glob(filepath.Join(b.Cache, "pdb", "*.pdb"))
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "PDB\tMB\texplode cpu s\tSymCache cpu s\texplode / SymCache\tingest cpu s\tingest / SymCache\tpeak MiB\tSymCache\t")
	for _, file := range files {
		st, err := os.Stat(file)
		if err != nil {
			return err
		}
		var explode, cache, ingest []measure.Usage
		for i := range b.Pairs + 1 {
			os.Setenv(Child, file)
			e, err := measure.Run(nil, nil, self)
			os.Unsetenv(Child)
			if err != nil {
				return err
			}
			var c measure.Usage
			if b.Peer != "" {
				if c, err = measure.Run(nil, nil, b.Peer, "symcache", file, filepath.Join(b.Temp, "out.symc")); err != nil {
					return err
				}
			}
			store := filepath.Join(b.Temp, fmt.Sprintf("pdb-%d", i))
			n, err := measure.Run(nil, nil, b.Symlake, "--store", "file:"+store, "--lake", "off", "ingest", file, "--workers", "1")
			os.RemoveAll(store)
			if err != nil {
				return err
			}
			if i > 0 { // the first one warms the page cache
				explode, cache, ingest = append(explode, e), append(cache, c), append(ingest, n)
			}
		}
		e, c, n := measure.Least(explode, measure.CPU), measure.Least(cache, measure.CPU), measure.Least(ingest, measure.CPU)
		fmt.Fprintf(w, "%s\t%.1f\t%.3f\t%.3f\t%s\t%.3f\t%s\t%.0f\t%.0f\t\n", filepath.Base(file), float64(st.Size())/1e6, e, c, measure.Ratio(e, c), n, measure.Ratio(n, c),
			measure.Peak(ingest), measure.Peak(cache))
	}
	return w.Flush()
}
