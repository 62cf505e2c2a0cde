package main

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

// least is the smallest of a measure over the runs: what the program costs
// when nothing else disturbs it.
func least(us []usage, of func(usage) float64) float64 {
	var all []float64
	for _, u := range us {
		all = append(all, of(u))
	}
	return slices.Min(all)
}

func cpu(u usage) float64  { return u.cpu.Seconds() }
func wall(u usage) float64 { return u.wall.Seconds() }

func peak(us []usage) float64 {
	var top float64
	for _, u := range us {
		top = max(top, float64(u.anon)/(1<<20))
	}
	return top
}

func printTables(results []*result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t\tingest (explode + seal + store)\t\t\t\t\tpeak anonymous MiB\t\t\tstored bytes\t\t")
	fmt.Fprintln(w, "input\tDWARF MB\tcpu s\tMB/s\t/ gsymutil -j1\t/ symcache\twall s\tsymlake\tgsymutil\tsymcache\t% of DWARF\t/ zstd -3 gsym\t")
	for _, r := range results {
		c := least(r.symlake, cpu)
		fmt.Fprintf(w, "%s\t%.1f\t%.3f\t%.0f\t%.2f\t%s\t%.3f\t%.0f\t%.0f\t%s\t%.2f\t%.2f\t\n", r.name, float64(r.dwarfBytes)/1e6, c, float64(r.dwarfBytes)/1e6/c,
			c/least(r.gsymutil, cpu), ratio(c, least(r.symcache, cpu)), least(r.symlake, wall), peak(r.symlake), peak(r.gsymutil), ratio(peak(r.symcache), 1),
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

func ratio(a, b float64) string {
	if a == 0 || b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
}
