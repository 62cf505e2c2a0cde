package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/symlake/symlake/testdata/bench/callgraph"
	"github.com/symlake/symlake/testdata/bench/measure"
)

// traced is what converting one method trace cost.
type traced struct {
	what  string
	bytes int64
	runs  []measure.Usage
}

// traces draws traces of the methods of the mapping that mapping.sh made, as the program has them, called as programs call and, harder, in any order; and converts
// them: with the mapping in a store, and without.
func (b *bench) traces() ([]*traced, error) {
	mapping := filepath.Join(b.cache, "r8-libraries", "mapping.txt")
	if _, err := os.Stat(mapping); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	methods, err := programMethods(mapping)
	if err != nil {
		return nil, err
	}
	store := "file:" + filepath.Join(b.tmp, "trace-store")
	defer os.RemoveAll(strings.TrimPrefix(store, "file:"))
	if _, err := measure.Run(nil, nil, b.symlake, "--store", store, "--lake", "off", "ingest", mapping); err != nil {
		return nil, err
	}
	var all []*traced
	for _, k := range []struct {
		name  string
		write func(w *bufio.Writer, c *callgraph.Calls) error
		next  callgraph.Order
		args  [][]string // beside the file
	}{
		{"nanoscope-tree", callgraph.DrawNanoscope, callgraph.ByCaller, [][]string{{"--output", "out.perfetto-trace"}, {"--artifact", "mapping.txt", "--output", "out.perfetto-trace"}, {"--jank-stack", "100ms"}}},
		{"nanoscope", callgraph.DrawNanoscope, callgraph.AnyOrder, [][]string{{"--output", "out.perfetto-trace"}, {"--artifact", "mapping.txt", "--output", "out.perfetto-trace"}, {"--artifact", "mapping.txt", "--output", "out.speedscope.json"}, {"--jank-stack", "100ms"}}},
		{"art-dual", callgraph.DrawART, callgraph.AnyOrder, [][]string{{"--artifact", "mapping.txt", "--output", "out.perfetto-trace"}}},
		{"chrome", callgraph.DrawChrome, callgraph.AnyOrder, [][]string{{"--artifact", "mapping.txt", "--output", "out.perfetto-trace"}}},
	} {
		file := filepath.Join(b.tmp, k.name)
		if err := draw(file, &callgraph.Calls{Methods: methods, Next: k.next}, k.write); err != nil {
			return nil, err
		}
		st, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		for _, args := range k.args {
			t := &traced{what: k.name + " " + strings.Join(args, " "), bytes: st.Size()}
			var out string
			if last := len(args) - 1; args[last-1] == "--output" {
				out = filepath.Join(b.tmp, args[last])
				args = append(append([]string{}, args[:last]...), out)
			}
			for range min(b.pairs, 3) {
				u, err := measure.Run(nil, nil, b.symlake, append([]string{"--store", store, "symbolicate", file}, args...)...)
				if err != nil {
					return nil, err
				}
				t.runs = append(t.runs, u)
				if out != "" {
					os.Remove(out)
				}
			}
			all = append(all, t)
		}
		os.Remove(file)
	}
	return all, nil
}

// programMethods lists methods of a mapping under their names in the program: "class.method(types)".
func programMethods(mapping string) ([]string, error) {
	text, err := os.ReadFile(mapping)
	if err != nil {
		return nil, err
	}
	renamed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if from, to, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ":"), " -> "); ok && line[0] != ' ' && line[0] != '#' {
			renamed[from] = to
		}
	}
	var all []string
	class, last := "", ""
	for line := range strings.Lines(string(text)) {
		source, to, ok := strings.Cut(strings.TrimSpace(line), " -> ")
		if !ok || line[0] == '#' {
			continue
		}
		if line[0] != ' ' {
			class = strings.TrimSuffix(to, ":")
			continue
		}
		_, inside, ok := strings.Cut(source, "(")
		if !ok || strings.Contains(to, " ") {
			continue
		}
		inside, _, _ = strings.Cut(inside, ")")
		types := strings.Split(inside, ",")
		for i, t := range types {
			if as, ok := renamed[strings.TrimRight(t, "[]")]; ok {
				types[i] = as + t[len(strings.TrimRight(t, "[]")):]
			}
		}
		if name := class + "." + to + "(" + strings.Join(types, ", ") + ")"; name != last {
			all, last = append(all, name), name
		}
	}
	return all, nil
}

func draw(file string, c *callgraph.Calls, write func(w *bufio.Writer, c *callgraph.Calls) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(write(w, c), w.Flush(), f.Close())
}

func printTraces(all []*traced) {
	if len(all) == 0 {
		return
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "method trace\tMB\tcpu s\tMB/s a core\tpeak anonymous MiB\t")
	for _, t := range all {
		c := measure.Least(t.runs, measure.CPU)
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%.0f\t%.0f\t\n", t.what, float64(t.bytes)/1e6, c, float64(t.bytes)/1e6/c, measure.Peak(t.runs))
	}
	w.Flush()
}
