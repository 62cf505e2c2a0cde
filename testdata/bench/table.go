package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/symlake/symlake/testdata/bench/measure"
)

func printTables(results []*result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t\tingest (explode + seal + store)\t\t\t\t\tpeak anonymous MiB\t\t\tstored bytes\t\t")
	fmt.Fprintln(w, "input\tDWARF MB\tcpu s\tMB/s\t/ gsymutil -j1\t/ symcache\twall s\tsymlake\tgsymutil\tsymcache\t% of DWARF\t/ zstd -3 gsym\t")
	for _, r := range results {
		c := measure.Least(r.symlake, measure.CPU)
		fmt.Fprintf(w, "%s\t%.1f\t%.3f\t%.0f\t%.2f\t%s\t%.3f\t%.0f\t%.0f\t%s\t%.2f\t%.2f\t\n", r.name, float64(r.dwarfBytes)/1e6, c, float64(r.dwarfBytes)/1e6/c,
			c/measure.Least(r.gsymutil, measure.CPU), measure.Ratio(c, measure.Least(r.symcache, measure.CPU)), measure.Least(r.symlake, measure.Wall), measure.Peak(r.symlake), measure.Peak(r.gsymutil), measure.Ratio(measure.Peak(r.symcache), 1),
			100*float64(r.stored)/float64(r.dwarfBytes), float64(r.stored)/float64(r.gsymZstd))
	}
	fmt.Fprintln(w, "\t")
	fmt.Fprintln(w, "\twarm, in process, a core (Client.Each)\t\t100,000 addresses as text, thousand/s (wall)\t\t\t\tone address\tagreement with llvm-symbolizer\t\t")
	fmt.Fprintln(w, "input\tsymlake M/s\taddr2line crate M/s\tmangled\tdemangled\tllvm-symbolizer\tgsymutil\tcold process ms\tequal\tof\t")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%d\t%d\t\n", r.name, r.warm/1e6, r.addr2/1e6, r.mangled/1e3, r.demangled/1e3,
			r.symbolizer/1e3, r.gsymText/1e3, float64(r.cold.Microseconds())/1e3, r.agree, r.all)
	}
	w.Flush()
	for _, r := range results {
		for why, n := range r.differ {
			fmt.Printf("%s: %d answers differ in %s\n", r.name, n, why)
		}
	}
}
