package measure

import (
	"fmt"
	"slices"
)

// Least returns the smallest of a measure over the runs: the cost of the program
// when nothing else disturbs it.
func Least(us []Usage, of func(Usage) float64) float64 {
	var all []float64
	for _, u := range us {
		all = append(all, of(u))
	}
	return slices.Min(all)
}

// CPU returns the seconds of processor time.
func CPU(u Usage) float64 { return u.CPU.Seconds() }

// Wall returns the seconds that passed.
func Wall(u Usage) float64 { return u.Wall.Seconds() }

// Peak returns the most anonymous memory of all runs, in MiB.
func Peak(us []Usage) float64 {
	var top float64
	for _, u := range us {
		top = max(top, float64(u.Anon)/(1<<20))
	}
	return top
}

// PairRatio returns the median of a measure of as over that of bs, where as[i] ran beside bs[i].
func PairRatio(as, bs []Usage, of func(Usage) float64) float64 {
	var all []float64
	for i := range as {
		all = append(all, of(as[i])/of(bs[i]))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Ratio returns a / b as text; "-" if one of them was not measured.
func Ratio(a, b float64) string {
	if a == 0 || b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// Percent returns a share with its counts.
func Percent(n, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%.2f %% (%d of %d)", 100*float64(n)/float64(of), n, of)
}

// Spread returns the median of a measure over runs, with the least and the most.
func Spread(us []Usage, of func(Usage) float64, format string) string {
	var all []float64
	for _, u := range us {
		all = append(all, of(u))
	}
	slices.Sort(all)
	return fmt.Sprintf(format+" ("+format+" to "+format+")", all[len(all)/2], all[0], all[len(all)-1])
}

// Resident returns the peak of memory in MiB, as the kernel counts it.
func Resident(u Usage) float64 { return float64(u.Resident) / (1 << 20) }
