package main

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"text/tabwriter"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/testdata/bench/measure"
	"github.com/symlake/symlake/testdata/bench/streams"
)

// rowFrames is how many frames a table has that is symbolicated at rest.
const rowFrames = 10_000_000

// frameRow is a row of such a table.
type frameRow struct {
	ID       int64  `parquet:"id,delta"`
	App      string `parquet:"app,dict"`
	Build    string `parquet:"build,dict"`
	Platform string `parquet:"platform,dict"`
	Frame0   string `parquet:"frame0,dict"`
	Artifact string `parquet:"artifact,dict"`
	Address  int64  `parquet:"address"`
}

// code is an artifact of the store that rows draw from.
type code struct {
	id        string
	addresses []uint64
}

// rows measures symbolicate --input over 10 M frames in Parquet: once the frames of a day's crashes, with
// addresses that come again as names in a text do (Zipf, 1.1, over 400,000), once frames drawn at random.
func (b *bench) rows(files []string) error {
	store, codes, err := b.rowStore(files)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d frames of %d artifacts at rest\tM frames/s\tcpu s\tM/s a core\tpeak anonymous MiB\tdistinct places\tMB in\tMB out\t\n", rowFrames, len(codes))
	for _, zipf := range []bool{true, false} {
		table := filepath.Join(b.tmp, "frames.parquet")
		if err := writeFrames(table, codes, zipf, rowFrames); err != nil {
			return err
		}
		var us []measure.Usage
		var report struct {
			Rows, Distinct uint64
			Statuses       map[string]uint64
			Bytes          struct{ Read, Written int64 }
		}
		for range 3 {
			out := filepath.Join(b.tmp, "rows-out")
			var text bytes.Buffer
			u, err := measure.Run(nil, &text, b.symlake, "--store", "file:"+store, "symbolicate", "--input", table, "--output", out, "--force", "--report", "-")
			if err != nil {
				return err
			}
			if err := json.Unmarshal(text.Bytes(), &report); err != nil {
				return err
			}
			if report.Rows != rowFrames || report.Statuses["found"] < rowFrames*9/10 {
				return fmt.Errorf("report of %d rows: %s", rowFrames, text.Bytes())
			}
			us = append(us, u)
		}
		name := "all drawn at random"
		if zipf {
			name = "Zipf(1.1) over 400,000 addresses"
		}
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.0f\t%d\t%.0f\t%.0f\t\n", name, rowFrames/1e6/measure.Least(us, measure.Wall), measure.Least(us, measure.CPU), rowFrames/1e6/measure.Least(us, measure.CPU), measure.Peak(us), report.Distinct, float64(report.Bytes.Read)/1e6, float64(report.Bytes.Written)/1e6)
	}
	return w.Flush()
}

// rowStore makes a store of libraries, and draws addresses of their functions.
func (b *bench) rowStore(files []string) (store string, all []code, err error) {
	store = filepath.Join(b.tmp, "rows-store")
	var known []string
	for _, f := range files {
		switch filepath.Base(f) {
		case "jvm", "rn-release", "hermesvm", "ns-ios", "libc", "vmlinux":
			known = append(known, f)
		}
	}
	if len(known) == 0 {
		return "", nil, fmt.Errorf("none of its inputs is there")
	}
	if _, err := measure.Run(nil, nil, b.symlake, append([]string{"--store", "file:" + store, "--lake", "off", "ingest"}, known...)...); err != nil {
		return "", nil, err
	}
	all, err = b.codes(store, known)
	return store, all, err
}

// spark measures symbolicate --arrow beside --input, alone and in Spark, over the frames of a day's crashes.
func (b *bench) spark(files []string) error {
	store, codes, err := b.rowStore(files)
	if err != nil {
		return err
	}
	table := filepath.Join(b.tmp, "frames.parquet")
	if err := writeFrames(table, codes, true, streams.Frames); err != nil {
		return err
	}
	s := streams.Bench{Symlake: b.symlake, Readers: filepath.Join(b.cache, "readers"), Store: "file:" + store, Table: table, Temp: b.tmp, Pairs: b.pairs}
	return s.Run()
}

// codes lists the artifacts of the store, and draws addresses of their functions.
func (b *bench) codes(store string, files []string) ([]code, error) {
	var out bytes.Buffer
	if _, err := measure.Run(nil, &out, b.symlake, "--store", "file:"+store, "--json", "artifacts"); err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for dec := json.NewDecoder(&out); dec.More(); {
		var a struct {
			Object string
			Names  []string
		}
		if err := dec.Decode(&a); err != nil {
			return nil, err
		}
		ids[filepath.Base(a.Object)] = a.Names[0]
	}
	var codes []code
	for _, f := range files {
		var spans []span
		if e, err := elf.Open(f); err == nil {
			spans = elfSpans(e)
			e.Close()
		} else if m, err := macho.Open(f); err == nil {
			spans = machoSpans(m)
			m.Close()
		} else {
			return nil, err
		}
		codes = append(codes, code{ids[filepath.Base(f)], drawSpans(spans, rowFrames/len(files))})
	}
	return codes, nil
}

// writeFrames writes a table of so many frames.
func writeFrames(path string, codes []code, zipf bool, frames int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := pq.NewGenericWriter[frameRow](f, pq.Compression(&pq.Zstd), pq.MaxRowsPerRowGroup(1<<20))
	rng := rand.New(rand.NewPCG(3, 4))
	draw := rand.NewZipf(rng, 1.1, 1, 400_000-1)
	rows := make([]frameRow, 1024)
	for n := 0; n < frames; n += len(rows) {
		rows = rows[:min(len(rows), frames-n)]
		for i := range rows {
			k := rng.Uint64N(rowFrames)
			if zipf {
				k = draw.Uint64()
			}
			c := &codes[k%uint64(len(codes))]
			at := c.addresses[k/uint64(len(codes))%uint64(len(c.addresses))]
			rows[i] = frameRow{int64(n + i), "shop", fmt.Sprint(1000 + n>>20), "android", "stepped", c.id, int64(at)}
		}
		if _, err := w.Write(rows); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}
