package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// lakeInputs are what the cost of a lake is measured on.
var lakeInputs = []string{"ceph", "hermesvm", "rn-release"}

// lake measures what a lake costs beside an ingest without one, in turn, and how fast engines query a large plain one.
func (b *bench) lake() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "lake\tM rows\tcpu s without\tof the lake\tM rows/s a core\twall s without\tcpu +%\twall +%\tmemory +MiB\tMB\tB/row\t% of DWARF\tcompacted\t")
	for _, name := range lakeInputs {
		file := filepath.Join(b.cache, "inputs", name)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if err := b.lakeCost(w, name, file); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return b.lakeQueries()
}

// lakeCost ingests a file without a lake and with one of each profile. What a lake adds is the median of pairs.
func (b *bench) lakeCost(w *tabwriter.Writer, name, file string) error {
	r := &result{name: name}
	if err := r.facts(file); err != nil {
		return err
	}
	profiles := []string{"off", "plain", "sealed"}
	us, rows, bytes, dense := map[string][]measure.Usage{}, uint64(0), map[string]int64{}, map[string]int64{}
	for range b.pairs {
		for _, p := range profiles {
			store := filepath.Join(b.tmp, "lake-"+p)
			if err := os.RemoveAll(store); err != nil {
				return err
			}
			args := []string{"--store", "file:" + store, "--lake", filepath.Join(store, "lake"), "--lake-profile", p}
			if p == "off" {
				args = []string{"--store", "file:" + store, "--lake", "off"}
			}
			report := filepath.Join(b.tmp, "report")
			u, err := measure.Run(nil, nil, b.symlake, append(args, "ingest", file, "--report", report)...)
			if err != nil {
				return err
			}
			us[p] = append(us[p], u)
			if p == "off" {
				continue
			}
			text, err := os.ReadFile(report)
			if err != nil {
				return err
			}
			var told struct{ Ranges uint64 }
			if err := json.Unmarshal(text, &told); err != nil {
				return err
			}
			rows = told.Ranges
			if bytes[p] == 0 {
				if bytes[p], err = measure.BytesBelow(filepath.Join(store, "lake", "ranges")); err != nil {
					return err
				}
				// To convert it is to write it as a compaction does.
				other := map[string]string{"plain": "sealed", "sealed": "plain"}[p]
				if _, err := measure.Run(nil, nil, b.symlake, append(args[:4:4], "--lake-profile", other, "compact", "--grace", "1ns")...); err != nil {
					return err
				}
				if dense[p], err = measure.BytesBelow(filepath.Join(store, "lake", "ranges")); err != nil {
					return err
				}
			}
		}
	}
	c, t, m := measure.Least(us["off"], measure.CPU), measure.Least(us["off"], measure.Wall), measure.Peak(us["off"])
	for _, p := range profiles[1:] {
		of := measure.Least(us[p], measure.CPU) - c
		fmt.Fprintf(w, "%s %s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", name, p, float64(rows)/1e6, c, of, float64(rows)/1e6/of,
			t, 100*(measure.PairRatio(us[p], us["off"], measure.CPU)-1), 100*(measure.PairRatio(us[p], us["off"], measure.Wall)-1), measure.Peak(us[p])-m, float64(bytes[p])/1e6, float64(bytes[p])/float64(rows), 100*float64(bytes[p])/float64(r.dwarfBytes), 100*float64(dense[p])/float64(r.dwarfBytes))
	}
	return nil
}

// lakeQueries lets DuckDB and Polars query a plain lake of 50 M rows: ceph-osd's, under as many build-ids as it takes.
func (b *bench) lakeQueries() error {
	python, input := filepath.Join(b.cache, "readers", "py", "bin", "python3"), filepath.Join(b.cache, "inputs", "ceph")
	for _, need := range []string{python, input} {
		if _, err := os.Stat(need); err != nil {
			fmt.Printf("lake: the queries are left out: there is no %s (make readers; make bench)\n", need)
			return nil
		}
	}
	dir := filepath.Join(b.cache, "lake50")
	if _, err := measure.Run(nil, nil, "bash", "testdata/bench/lake50.sh", b.symlake, input, dir); err != nil {
		return err
	}
	_, err := measure.Run(nil, os.Stdout, python, "testdata/bench/lake.py", filepath.Join(dir, "lake"), "jobs/queries")
	return err
}
