// Command bench measures symlake beside its peers in one run: ingest against
// llvm-gsymutil and symbolic's SymCache writer, look-ups against
// llvm-symbolizer and the addr2line crate, sizes, memory, and agreement of
// answers. It prints tables of ratios; absolute numbers are this machine's.
//
//	go run ./testdata/bench -symlake bin/symlake -cache DIR [-pairs 5] [-only libc,ceph]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// bench is one run of the program.
type bench struct {
	ctx     context.Context
	symlake string
	peer    string // testdata/bench/peer, built; "" where cargo is not
	cache   string
	tmp     string // on tmpfs if there is one: the disk is not what is measured
	pairs   int
	probes  int
	lasts   time.Duration
}

func main() {
	log.SetFlags(0)
	b := &bench{ctx: context.Background()}
	flag.StringVar(&b.symlake, "symlake", "bin/symlake", "the binary to measure")
	flag.StringVar(&b.cache, "cache", "", "folder with the inputs that fetch.sh brought")
	flag.StringVar(&b.peer, "peer", "", "the Rust peers' binary, if it was built")
	flag.IntVar(&b.pairs, "pairs", 5, "runs of tool and peer in turn")
	flag.IntVar(&b.probes, "probes", 10000, "random addresses a file for agreement")
	flag.DurationVar(&b.lasts, "for", time.Minute, "how long the server is under load")
	only := flag.String("only", "", "comma-separated inputs, r8 for the stacks of Java, maps for source maps, rows for frames at rest, lake for the lake, crashes for stacks of them, load for a server's memory, mappings for loading its mappings, traces for method traces; all without")
	flag.Parse()
	for _, tool := range []string{"llvm-gsymutil-19", "llvm-symbolizer-19", "zstd"} {
		if _, err := exec.LookPath(tool); err != nil {
			log.Fatalf("bench: %v: apt-get install llvm-19 zstd", err)
		}
	}
	base := os.TempDir()
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		base = "/dev/shm"
	}
	var err error
	if b.tmp, err = os.MkdirTemp(base, "symlake-bench-"); err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(b.tmp)
	files, err := filepath.Glob(filepath.Join(b.cache, "inputs", "*"))
	if err != nil {
		log.Fatal(err)
	}
	wanted := map[string]bool{}
	for _, name := range strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }) {
		wanted[name] = true
	}
	var results []*result
	for _, f := range files {
		if name := filepath.Base(f); len(wanted) == 0 || wanted[name] {
			r, err := b.measure(name, f)
			if err != nil {
				log.Fatalf("bench: %s: %v", name, err)
			}
			results = append(results, r)
		}
	}
	var java *retraced
	if len(wanted) == 0 || wanted["r8"] {
		if java, err = b.retrace(); err != nil {
			log.Fatalf("bench: retrace: %v", err)
		}
	}
	var mappings []*mapped
	if len(wanted) == 0 || wanted["mappings"] {
		if mappings, err = b.mappings(); err != nil {
			log.Fatalf("bench: mappings: %v", err)
		}
	}
	if len(wanted) == 0 || wanted["maps"] {
		if err := b.maps(); err != nil {
			log.Fatalf("bench: maps: %v", err)
		}
	}
	if len(wanted) == 0 || wanted["rows"] {
		if err := b.rows(files); err != nil {
			log.Fatalf("bench: rows: %v", err)
		}
	}
	var traces []*traced
	if len(wanted) == 0 || wanted["traces"] {
		if traces, err = b.traces(); err != nil {
			log.Fatalf("bench: traces: %v", err)
		}
	}
	if len(wanted) == 0 || wanted["crashes"] {
		if err := b.crashes(); err != nil {
			log.Fatalf("bench: crashes: %v", err)
		}
	}
	if len(wanted) == 0 || wanted["load"] {
		if err := b.underLoad(); err != nil {
			log.Fatalf("bench: load: %v", err)
		}
	}
	if len(wanted) == 0 || wanted["lake"] {
		if err := b.lake(); err != nil {
			log.Fatalf("bench: lake: %v", err)
		}
	}
	if len(results) == 0 && java == nil && mappings == nil && traces == nil && !wanted["maps"] && !wanted["rows"] && !wanted["crashes"] && !wanted["load"] && !wanted["lake"] {
		log.Fatalf("bench: no inputs in %s/inputs", b.cache)
	}
	if len(results) > 0 {
		printTables(results)
	}
	printMappings(mappings)
	printTraces(traces)
	if java != nil {
		java.print()
	}
}

func (b *bench) measure(name, file string) (*result, error) {
	r := &result{name: name}
	if err := r.facts(file); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%s: %.1f MB of DWARF\n", name, float64(r.dwarfBytes)/1e6)
	for _, step := range []func(*result, string) error{b.convert, b.lookups, b.agreement} {
		if err := step(r, file); err != nil {
			return nil, err
		}
	}
	return r, nil
}
