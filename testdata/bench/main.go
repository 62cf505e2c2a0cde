// Command bench measures symlake beside its peers in one run: ingest against
// llvm-gsymutil and symbolic's SymCache writer, look-ups against
// llvm-symbolizer and the addr2line crate, sizes, memory, and agreement of
// answers. It prints tables of ratios; absolute numbers are this machine's.
//
//	go run ./testdata/bench -symlake bin/symlake -cache DIR [-pairs 5] [-only libc,ceph]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/testdata/bench/commits"
	"github.com/symlake/symlake/testdata/bench/dumps"
	"github.com/symlake/symlake/testdata/bench/growth"
	"github.com/symlake/symlake/testdata/bench/modules"
	"github.com/symlake/symlake/testdata/bench/pdbs"
	"github.com/symlake/symlake/testdata/bench/stages"
)

// part is one thing that bench can measure, by the name that -only takes.
type part struct {
	name    string
	measure func(*bench, []string) (print func(), err error)
}

// parts are measured in this order. Each prints its tables after the last of them.
var parts = []part{
	{"r8", func(b *bench, _ []string) (func(), error) {
		r, err := b.retrace()
		if r == nil {
			return nothing, err
		}
		return r.print, err
	}},
	{"mappings", func(b *bench, _ []string) (func(), error) {
		m, err := b.mappings()
		return func() { printMappings(m) }, err
	}},
	{"maps", func(b *bench, _ []string) (func(), error) { return nothing, b.maps() }},
	{"rows", func(b *bench, files []string) (func(), error) { return nothing, b.rows(files) }},
	{"spark", func(b *bench, files []string) (func(), error) { return nothing, b.spark(files) }},
	{"traces", func(b *bench, _ []string) (func(), error) {
		t, err := b.traces()
		return func() { printTraces(t) }, err
	}},
	{"crashes", func(b *bench, _ []string) (func(), error) { return nothing, b.crashes() }},
	{"load", func(b *bench, _ []string) (func(), error) { return nothing, b.underLoad() }},
	{"lake", func(b *bench, _ []string) (func(), error) { return nothing, b.lake() }},
	{"log", func(b *bench, _ []string) (func(), error) {
		return nothing, (&commits.Bench{Context: b.ctx, Symlake: b.symlake, Temp: b.tmp}).Measure()
	}},
	{"pdb", func(b *bench, _ []string) (func(), error) {
		return nothing, (&pdbs.Bench{Symlake: b.symlake, Peer: b.peer, Cache: b.cache, Temp: b.tmp, Pairs: b.pairs}).Measure()
	}},
	{"events", func(b *bench, _ []string) (func(), error) { return nothing, b.events() }},
	{"names", func(b *bench, _ []string) (func(), error) { return nothing, b.names() }},
	{"pprof", func(b *bench, _ []string) (func(), error) { return nothing, b.pprofs() }},
	{"perfetto", func(b *bench, _ []string) (func(), error) { return nothing, b.perfetto() }},
	{"minidump", func(b *bench, _ []string) (func(), error) {
		d := dumps.Bench{Context: b.ctx, Symlake: b.symlake, Suites: filepath.Join(b.cache, "minidumps"), Temp: b.tmp, Runs: b.pairs, Open: b.client}
		return nothing, d.Run()
	}},
	{"wasm", func(b *bench, _ []string) (func(), error) {
		m := modules.Bench{Symlake: b.symlake, Peer: b.peer, Files: filepath.Join(b.cache, "wasm"), Temp: b.tmp, Runs: b.pairs, Probes: b.probes}
		return nothing, m.Run()
	}},
	{"hbase", func(b *bench, _ []string) (func(), error) { return nothing, b.tests("./sinks/hbase") }},
	{"cpuprofile", func(b *bench, _ []string) (func(), error) { return nothing, b.cpuprofiles() }},
	{"growth", func(b *bench, _ []string) (func(), error) {
		g := growth.Bench{Symlake: b.symlake, Old: b.old, Temp: b.tmp, Most: b.artifacts}
		return nothing, errors.Join(g.Run(), g.Ledger(b.entries), b.tests("./testdata/bench/growth", "SYMLAKE="+b.symlake, "SYMLAKE_BENCH_ARTIFACTS="+strconv.Itoa(b.artifacts)))
	}},
}

// nothing is left to print by a part that prints while it measures.
func nothing() {}

func main() {
	log.SetFlags(0)
	b := &bench{ctx: context.Background()}
	if file := os.Getenv(pdbs.Child); file != "" {
		if err := pdbs.Explode(b.ctx, file); err != nil {
			log.Fatal(err)
		}
		return
	}
	flag.StringVar(&b.symlake, "symlake", "bin/symlake", "the binary to measure")
	flag.StringVar(&b.cache, "cache", "", "folder with the inputs that fetch.sh brought")
	flag.StringVar(&b.peer, "peer", "", "the Rust peers' binary, if it was built")
	flag.IntVar(&b.pairs, "pairs", 5, "runs of tool and peer in turn")
	flag.IntVar(&b.probes, "probes", 10000, "random addresses a file for agreement")
	flag.DurationVar(&b.lasts, "for", time.Minute, "how long the server is under load")
	flag.StringVar(&b.old, "old", "", "an older binary, which events and growth measure beside")
	flag.IntVar(&b.artifacts, "artifacts", 100_000, "of the largest store that growth measures")
	flag.IntVar(&b.entries, "entries", 1_000_000, "of the largest ledger that growth measures")
	flag.StringVar(&b.misses, "misses", "", "where names lists functions that it does not name rightly")
	only := flag.String("only", "", "comma-separated inputs, r8 for the stacks of Java, maps for source maps, rows for frames at rest, spark for frames in Spark, lake for the lake, log for its log, crashes for stacks of them, load for a server's memory, mappings for loading its mappings, traces for method traces, names for functions of scripts, events for those of services, minidump for dumps that are walked, pdb for PDB files, wasm for modules of WebAssembly, profiles for pprof, perfetto and cpuprofile, hbase for the store in HBase, growth for commands on stores of 1,000 to -artifacts artifacts and -entries entries of the ledger; all without")
	flag.BoolVar(&b.stages, "stages", false, "print where the processor time of an ingest goes, for the inputs that -only names, and nothing else")
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
	if b.symlake, err = filepath.Abs(b.symlake); err != nil {
		log.Fatal(err)
	}
	if b.tmp, err = os.MkdirTemp(base, "symlake-bench-"); err != nil {
		log.Fatal(err)
	}
	err = b.run(*only)
	os.RemoveAll(b.tmp)
	if err != nil {
		log.Fatalf("bench: %v", err)
	}
}

// run measures the inputs and parts that only names, all if it is empty, and prints their tables.
func (b *bench) run(only string) error {
	files, err := filepath.Glob(filepath.Join(b.cache, "inputs", "*"))
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, name := range strings.FieldsFunc(only, func(r rune) bool { return r == ',' }) {
		wanted[name] = true
		if name == "profiles" {
			wanted["pprof"], wanted["perfetto"], wanted["cpuprofile"] = true, true, true
		}
	}

	if b.stages {
		return b.printStages(files, wanted)
	}
	var results []*result
	for _, f := range files {
		if name := filepath.Base(f); len(wanted) == 0 || wanted[name] {
			r, err := b.measure(name, f)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			results = append(results, r)
		}
	}
	var prints []func()
	for _, p := range parts {
		if len(wanted) == 0 || wanted[p.name] {
			print, err := p.measure(b, files)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			prints = append(prints, print)
		}
	}

	if len(results) == 0 && len(prints) == 0 {
		return fmt.Errorf("no inputs in %s/inputs", b.cache)
	}
	if len(results) > 0 {
		printTables(results)
	}
	for _, print := range prints {
		print()
	}
	return nil
}

// printStages prints where the processor time of an ingest goes, for the files that are wanted.
func (b *bench) printStages(files []string, wanted map[string]bool) error {
	var inputs []stages.Input
	for _, f := range files {
		name := filepath.Base(f)
		if len(wanted) > 0 && !wanted[name] {
			continue
		}
		r := result{name: name}
		if err := r.facts(f); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		inputs = append(inputs, stages.Input{Name: name, File: f, DWARF: r.dwarfBytes})
	}
	return (&stages.Bench{Context: b.ctx, Temp: b.tmp, Lasts: 20 * time.Second}).Print(inputs)
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
