// Package stages shows where the processor time of an ingest goes: nanoseconds a byte of DWARF by stage, beside what a pass
// costs that reads and keeps nothing.
package stages

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/pprof/profile"

	"github.com/symlake/symlake/jobs"
	"github.com/symlake/symlake/testdata/bench/measure"
)

// Input is a file to ingest.
type Input struct {
	Name, File string
	DWARF      int64 // bytes of its debug sections, not compressed
}

// Bench takes profiles of ingests in this process. The profiler of Go takes a sample every 10 ms of processor time.
type Bench struct {
	Context context.Context
	Temp    string        // folder for stores
	Lasts   time.Duration // how long each input is ingested again and again
}

// Print prints a table with a column for each input: what each stage costs and its floor, in nanoseconds a byte of DWARF.
func (b *Bench) Print(inputs []Input) error {
	costs := make([]map[string]float64, len(inputs))
	floors := make([]map[string]float64, len(inputs))
	for i, in := range inputs {
		var err error
		if costs[i], err = b.costs(in); err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		if floors[i], err = b.floors(in); err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\nns a byte of DWARF (floor)\t")
	for _, in := range inputs {
		fmt.Fprintf(w, "%s\t", in.Name)
	}
	for _, s := range append(all, stage{name: rest}, stage{name: whole}) {
		fmt.Fprintf(w, "\n%s\t", s.name)
		for i := range inputs {
			fmt.Fprint(w, cell(costs[i][s.name], floors[i], s.name), "\t")
		}
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// cell is a cost, and its floor where one was measured.
func cell(cost float64, floors map[string]float64, stage string) string {
	text := fmt.Sprintf("%.3f", cost)
	if floor, ok := floors[stage]; ok {
		text += fmt.Sprintf(" (%.3f)", floor)
	}
	return text
}

// whole is the sum of all stages.
const whole = "whole"

// costs ingests a file again and again, each time into a new store, and returns what each stage took.
func (b *Bench) costs(in Input) (map[string]float64, error) {
	if _, err := b.ingest(in); err != nil { // the page cache is warm then
		return nil, err
	}
	var text bytes.Buffer
	if err := pprof.StartCPUProfile(&text); err != nil {
		return nil, err
	}
	runs := 0
	for start := time.Now(); time.Since(start) < b.Lasts; runs++ {
		if _, err := b.ingest(in); err != nil {
			pprof.StopCPUProfile()
			return nil, err
		}
	}
	pprof.StopCPUProfile()
	p, err := profile.Parse(&text)
	if err != nil {
		return nil, err
	}
	each := float64(runs) * float64(in.DWARF)
	costs := map[string]float64{}
	for _, s := range p.Sample {
		spent := float64(s.Value[1]) / each // nanoseconds of processor time
		costs[of(s)] += spent
		costs[whole] += spent
	}
	return costs, nil
}

// ingest loads a file into a new store of this process with one worker, and returns the bytes of its blocks.
func (b *Bench) ingest(in Input) (int64, error) {
	store := filepath.Join(b.Temp, "stages")
	defer os.RemoveAll(store)
	var said bytes.Buffer
	if code := jobs.Main(b.Context, []string{"--store", "file:" + store, "--lake", "off", "ingest", "--workers", "1", in.File}, strings.NewReader(""), &said, &said); code != 0 {
		return 0, fmt.Errorf("ingest ended with %d: %s", code, said.String())
	}
	return measure.BytesBelow(filepath.Join(store, "blocks"))
}
