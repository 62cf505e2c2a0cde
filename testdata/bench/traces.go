package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// traced is what converting one method trace cost.
type traced struct {
	what  string
	bytes int64
	runs  []usage
}

// traceBytes is about the size of a trace.
const traceBytes = 1 << 30

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
	if _, err := run(nil, nil, b.symlake, "--store", store, "--lake", "off", "ingest", mapping); err != nil {
		return nil, err
	}
	var all []*traced
	for _, k := range []struct {
		name  string
		write func(w *bufio.Writer, c *calls) error
		next  order
		args  [][]string // beside the file
	}{
		{"nanoscope-tree", drawNanoscope, byCaller, [][]string{{"--output", "out.perfetto-trace"}, {"--artifact", "mapping.txt", "--output", "out.perfetto-trace"}, {"--jank-stack", "100ms"}}},
		{"nanoscope", drawNanoscope, anyOrder, [][]string{{"--output", "out.perfetto-trace"}, {"--artifact", "mapping.txt", "--output", "out.perfetto-trace"}, {"--artifact", "mapping.txt", "--output", "out.speedscope.json"}, {"--jank-stack", "100ms"}}},
		{"art-dual", drawART, anyOrder, [][]string{{"--artifact", "mapping.txt", "--output", "out.perfetto-trace"}}},
		{"chrome", drawChrome, anyOrder, [][]string{{"--artifact", "mapping.txt", "--output", "out.perfetto-trace"}}},
	} {
		file := filepath.Join(b.tmp, k.name)
		if err := draw(file, &calls{methods, k.next}, k.write); err != nil {
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
				u, err := run(nil, nil, b.symlake, append([]string{"--store", store, "symbolicate", file}, args...)...)
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

func draw(file string, c *calls, write func(w *bufio.Writer, c *calls) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(write(w, c), w.Flush(), f.Close())
}

// calls are to be drawn: the methods that there are, and which is called next.
type calls struct {
	methods []string
	next    order
}

// order makes a function that draws the method which another calls, -1: which is called first.
type order func(d *rand.Rand, methods int) func(caller int) int

// anyOrder draws all methods whoever calls, few of them often: it is the worst that a trace can do to a cache.
func anyOrder(d *rand.Rand, methods int) func(int) int {
	often := rand.NewZipf(d, 1.1, 50, uint64(methods-1))
	return func(int) int { return int(often.Uint64()) }
}

// byCaller draws as programs call: a method calls the same few methods, some of them more often. Methods with
// many callers follow Zipf's law.
func byCaller(d *rand.Rand, methods int) func(int) int {
	const callees = 12
	called := rand.NewZipf(d, 1.2, 4, uint64(methods-1))
	which := rand.NewZipf(d, 1.5, 2, callees-1)
	names := d.Perm(methods) // what stands together in the mapping is not called together
	of := make([][callees]int32, methods+1)
	return func(caller int) int {
		callee := &of[caller+1][which.Uint64()]
		if *callee == 0 {
			*callee = int32(names[called.Uint64()]) + 1
		}
		return int(*callee - 1)
	}
}

// walk draws a tree of calls. each is told the time in microseconds and the method, -1 for an exit.
func (c *calls) walk(each func(at uint64, method int, depth int) (written int)) {
	d := rand.New(rand.NewPCG(1, 2))
	next := c.next(d, len(c.methods))
	open := []int{-1}
	for at, written := uint64(0), 0; written < traceBytes || len(open) > 1; at += 1 + d.Uint64N(3) {
		depth := len(open) - 1
		if depth > 0 && (written >= traceBytes || depth > 50 || d.IntN(100) < 49) {
			open = open[:depth]
			written += each(at, -1, depth-1)
			continue
		}
		method := next(open[depth])
		written += each(at, method, depth)
		open = append(open, method)
	}
}

func drawNanoscope(w *bufio.Writer, c *calls) (err error) {
	c.walk(func(at uint64, method, _ int) (n int) {
		if method < 0 {
			n, err = fmt.Fprintf(w, "%d:POP\n", at*1000)
		} else {
			n, err = fmt.Fprintf(w, "%d:%s\n", at*1000, c.methods[method])
		}
		return n
	})
	return err
}

func drawChrome(w *bufio.Writer, c *calls) (err error) {
	var starts []uint64
	var open []int
	io := func(n int, e error) int {
		err = errors.Join(err, e)
		return n
	}
	io(w.WriteString("["))
	c.walk(func(at uint64, method, depth int) int {
		if method >= 0 {
			starts, open = append(starts, at), append(open, method)
			return 0
		}
		start, of := starts[depth], open[depth]
		starts, open = starts[:depth], open[:depth]
		return io(fmt.Fprintf(w, `{"name":%q,"cat":"method","ph":"X","ts":%d,"dur":%d,"pid":4711,"tid":4711},`+"\n", c.methods[of], start, at-start))
	})
	io(w.WriteString("{}]"))
	return err
}

func drawART(w *bufio.Writer, c *calls) error {
	fmt.Fprint(w, "*version\n3\nclock=dual\npid=4711\n*threads\n1\tmain\n*methods\n")
	letters := map[string]string{"boolean": "Z", "byte": "B", "char": "C", "short": "S", "int": "I", "long": "J", "float": "F", "double": "D"}
	for i, m := range c.methods {
		name, types, _ := strings.Cut(strings.TrimSuffix(m, ")"), "(")
		dot := strings.LastIndexByte(name, '.')
		signature := ""
		for _, t := range strings.Split(types, ", ") {
			bare := strings.TrimRight(t, "[]")
			signature += strings.Repeat("[", (len(t)-len(bare))/2)
			if l, ok := letters[bare]; ok {
				signature += l
			} else if bare != "" {
				signature += "L" + strings.ReplaceAll(bare, ".", "/") + ";"
			}
		}
		fmt.Fprintf(w, "%#x\t%s\t%s\t(%s)V\tSourceFile\n", 4*(i+1), name[:dot], name[dot+1:], signature)
	}
	header := make([]byte, 32)
	copy(header, "SLOW\x03\x00\x20\x00")
	header[16] = 14
	fmt.Fprint(w, "*end\n")
	w.Write(header)
	var open []int
	var err error
	c.walk(func(at uint64, method, depth int) int {
		action := uint32(0)
		if method < 0 {
			method, open, action = open[depth], open[:depth], 1
		} else {
			open = append(open, method)
		}
		b := binary.LittleEndian.AppendUint32([]byte{1, 0}, uint32(4*(method+1))|action)
		b = binary.LittleEndian.AppendUint32(b, uint32(at/2))
		_, err = w.Write(binary.LittleEndian.AppendUint32(b, uint32(at)))
		return len(b) + 4
	})
	return err
}

func printTraces(all []*traced) {
	if len(all) == 0 {
		return
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "method trace\tMB\tcpu s\tMB/s a core\tpeak anonymous MiB\t")
	for _, t := range all {
		c := least(t.runs, cpu)
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%.0f\t%.0f\t\n", t.what, float64(t.bytes)/1e6, c, float64(t.bytes)/1e6/c, peak(t.runs))
	}
	w.Flush()
}
