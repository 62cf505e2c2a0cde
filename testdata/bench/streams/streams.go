// Package streams measures symbolicate --arrow beside symbolicate --input, alone and in Spark. Everything runs on one core.
package streams

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// Frames is how many rows the table should have: so many that starts do not count.
const Frames = 3_000_000

// Bench is what to measure, and where.
type Bench struct {
	Symlake string // program
	Readers string // folder that testdata/lake/readers.sh fills
	Store   string // URL
	Table   string // Parquet file of frames
	Temp    string // folder
	Pairs   int    // runs of the file form and of the stream in turn
}

// spent is the cost of a job in Spark, in seconds.
type spent struct{ Wall, CPU float64 }

// Run measures, and prints a table.
func (b *Bench) Run() error {
	script := func(env, name string, args ...string) ([]byte, error) {
		python := filepath.Join(b.Readers, env, "bin", "python3")
		if _, err := os.Stat(python); err != nil {
			return nil, fmt.Errorf("there is no %s: make readers", python)
		}
		var out bytes.Buffer
		_, err := measure.Run(nil, &out, "env", append([]string{"PYSPARK_PYTHON=" + python, "taskset", "-c", "0", python, filepath.Join("testdata/bench/streams", name)}, args...)...)
		return out.Bytes(), err
	}
	stream, out := filepath.Join(b.Temp, "frames.arrows"), filepath.Join(b.Temp, "frames-out")
	if _, err := script("py", "stream.py", b.Table, stream); err != nil {
		return err
	}
	one := func(args ...string) []string {
		return append([]string{"-c", "0", b.Symlake, "--store", b.Store, "symbolicate"}, args...)
	}
	var files, streams []measure.Usage
	for range b.Pairs {
		u, err := measure.Run(nil, nil, "taskset", one("--input", b.Table, "--output", out, "--force")...)
		if err != nil {
			return err
		}
		files = append(files, u)
		in, err := os.Open(stream)
		if err != nil {
			return err
		}
		u, err = measure.Run(in, nil, "taskset", one("--arrow")...)
		in.Close()
		if err != nil {
			return err
		}
		streams = append(streams, u)
	}
	text, err := script("spark", "spark.py", b.Symlake, b.Store, b.Table)
	if err != nil {
		return err
	}
	var told struct {
		Rows, Found                     int
		Read, Copy, Answer, Some, Write spent
	}
	if err := json.Unmarshal(text, &told); err != nil {
		return fmt.Errorf("spark.py: %w: %s", err, text)
	}
	if told.Found < told.Rows*9/10 {
		return fmt.Errorf("of %d rows, Spark found %d", told.Rows, told.Found)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d frames, one core\tcpu s\tof the file form\tM frames/s\t\n", told.Rows)
	least := measure.Least(files, measure.CPU)
	row := func(name string, seconds float64) {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t\n", name, seconds, least/seconds, float64(told.Rows)/1e6/seconds)
	}
	row("--input, --output", least)
	row("--arrow", measure.Least(streams, measure.CPU))
	row("Spark reads the table alone", told.Read.CPU)
	row("Spark passes it through Python", told.Copy.CPU)
	row("Spark answers it", told.Answer.CPU)
	row("Spark answers it, four columns", told.Some.CPU)
	row("Spark answers it, and writes Parquet", told.Write.CPU)
	row("without what Spark and Python take anyway", told.Answer.CPU-told.Copy.CPU)
	return w.Flush()
}
