package formattest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// Flat is an artifact's ranges with overlaps settled: the lowest rank wins,
// then the first part, then what a part emitted first. It is the plainest
// thing that gives answers, to hold real ones against.
type Flat struct {
	runs   []symbol.Script // of code: without marks
	starts []uint64        // of cells, ascending; a cell ends where the next starts
	cells  []flatCell
}

type flatCell struct {
	run, at int32 // run -1: a hole
}

// Flatten explodes all parts of a.
func Flatten(ctx context.Context, f *formats.Format, a *formats.Artifact) (*Flat, error) {
	c := collector{index: map[string]uint32{"": 0}, strings: []string{""}}
	for p := range a.Parts {
		if _, err := explode(ctx, f, a, p, formats.Takers{Script: c.add, Run: func(r *symbol.Run) error { return c.add(&symbol.Script{Run: *r}) }}); err != nil {
			return nil, fmt.Errorf("part %d: %w", p, err)
		}
	}
	for i := range c.runs {
		c.runs[i].Strings = c.strings
	}
	fl := &Flat{runs: c.runs}
	fl.paint()
	return fl, nil
}

// collector keeps copies of runs.
type collector struct {
	runs    []symbol.Script
	index   map[string]uint32
	strings []string
}

func (c *collector) add(r *symbol.Script) error {
	intern := func(i uint32) uint32 {
		s := r.Strings[i]
		n, ok := c.index[s]
		if !ok {
			s = strings.Clone(s)
			n = uint32(len(c.strings))
			c.index[s] = n
			c.strings = append(c.strings, s)
		}
		return n
	}
	kept := symbol.Script{Marks: slices.Clone(r.Marks)}
	kept.Rank, kept.Ranges, kept.Scopes = r.Rank, slices.Clone(r.Ranges), slices.Clone(r.Scopes)
	for i := range kept.Scopes {
		s := &kept.Scopes[i]
		s.Function, s.Call.File = intern(s.Function), intern(s.Call.File)
	}
	for i := range kept.Ranges {
		kept.Ranges[i].At.File = intern(kept.Ranges[i].At.File)
	}
	for i := range kept.Marks {
		kept.Marks[i].Name, kept.Marks[i].Compiled = intern(kept.Marks[i].Name), intern(kept.Marks[i].Compiled)
	}
	c.runs = append(c.runs, kept)
	return nil
}

// paint gives each cell between two neighboring borders to the first range,
// in order of precedence, that covers it.
func (fl *Flat) paint() {
	for i := range fl.runs {
		for j := range fl.runs[i].Ranges {
			g := &fl.runs[i].Ranges[j]
			fl.starts = append(fl.starts, g.Start, g.End)
		}
	}
	slices.Sort(fl.starts)
	fl.starts = slices.Compact(fl.starts)
	fl.cells = make([]flatCell, len(fl.starts))
	next := make([]int32, len(fl.starts)+1) // the first unpainted cell at or after
	for i := range next {
		next[i] = int32(i)
	}
	for i := range fl.cells {
		fl.cells[i].run = -1
	}
	free := func(i int32) int32 {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	order := make([]int32, len(fl.runs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(fl.runs[a].Rank, fl.runs[b].Rank) })
	for _, i := range order {
		for j := range fl.runs[i].Ranges {
			g := &fl.runs[i].Ranges[j]
			from, _ := slices.BinarySearch(fl.starts, g.Start)
			to, _ := slices.BinarySearch(fl.starts, g.End)
			for k := free(int32(from)); int(k) < to; k = free(k) {
				fl.cells[k] = flatCell{i, int32(j)}
				next[k] = k + 1
			}
		}
	}
}

// At is the answer at a position, innermost first; nil: none.
func (fl *Flat) At(pos uint64) []symbol.Frame {
	i, ok := slices.BinarySearch(fl.starts, pos)
	if !ok {
		i--
	}
	if i < 0 || fl.cells[i].run < 0 {
		return nil
	}
	r, at := &fl.runs[fl.cells[i].run], int(fl.cells[i].at)
	if r.Marks == nil {
		return r.Run.Chain(at, nil)
	}
	return r.Chain(at, nil)
}

// Borders are the positions where answers change, ascending.
func (fl *Flat) Borders() []uint64 { return fl.starts }
