package pprof

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	// windowPlaces are asked for together, in the order of images and addresses.
	windowPlaces = 256 << 10
	// askAtOnce is how many questions are made at a time.
	askAtOnce = 4 << 10
)

// run asks for all places.
func (a *asker) run(ctx context.Context) error {
	err := a.eachLocation(ctx, func(at int64, b []byte) error {
		l, whole := parseLocation(b)
		if !whole {
			return nil
		}
		asked := a.parts(&l, b, func(w wanted, _ int) {
			w.number = int32(len(a.window))
			a.window = append(a.window, w)
		})
		if !asked {
			a.left(&l, at)
		}
		if len(a.window) < windowPlaces {
			return nil
		}
		return a.askWindow(ctx)
	})
	a.tables.locations = nil
	if err != nil {
		return err
	}
	return a.askWindow(ctx)
}

// left counts a location that is not asked for.
func (a *asker) left(l *location, offset int64) {
	at, known := a.byID[l.mapping]
	switch {
	case l.lines > 0:
		a.o.Counts.Named++
	case l.mapping != 0 && !known:
		a.o.Counts.Keep("a location names a mapping that the profile does not have", place(offset))
	case known && a.images[at].space != unasked && !a.images[at].holds(l.address):
		a.o.Counts.Keep("the address of a location lies outside its mapping", place(offset))
	}
}

// askWindow asks for the places of the window, each distinct one once, and keeps their records in the order of the profile.
func (a *asker) askWindow(ctx context.Context) error {
	slices.SortFunc(a.window, func(x, y wanted) int {
		return cmp.Or(cmp.Compare(x.of, y.of), cmp.Compare(x.at, y.at), cmp.Compare(x.as, y.as))
	})
	records := make([]uint32, len(a.window)) // where each place's begins in buffer
	a.buffer = append(a.buffer[:0], 0)       // the record of a place that stays
	set := func(run []wanted, found *symbol.Answer) {
		record, as := uint32(0), int32(math.MinInt32)
		for _, w := range run {
			if w.as != as {
				record, as = a.record(w.as, found), w.as
			}
			records[w.number] = record
		}
	}
	rest, err := a.askLines(ctx, set)
	if err != nil {
		return err
	}
	if err := a.askPlaces(ctx, rest, set); err != nil {
		return err
	}
	a.window = a.window[:0]
	for _, at := range records {
		if err := a.records.add(a.buffer[at:]); err != nil {
			return err
		}
	}
	return nil
}

// askPlaces asks for sorted places, and sets each answer for all equal ones.
func (a *asker) askPlaces(ctx context.Context, places []wanted, set func(run []wanted, found *symbol.Answer)) error {
	questions := make([]report.Frame, 0, min(len(places), askAtOnce))
	for from := 0; from < len(places); {
		questions = questions[:0]
		firsts := make([]int32, 0, askAtOnce)
		to := from
		for ; to < len(places); to++ {
			w := &places[to]
			if to > from && w.of == places[to-1].of && w.at == places[to-1].at {
				continue
			}
			if len(questions) == askAtOnce {
				break
			}
			questions, firsts = append(questions, a.question(w)), append(firsts, int32(to))
		}
		err := a.o.Look(ctx, questions, func(i int, found *symbol.Answer) {
			behind := to
			if i+1 < len(firsts) {
				behind = int(firsts[i+1])
			}
			set(places[firsts[i]:behind], found)
		})
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// askLines asks for the places of scripts without a column: the first column of the line that the map knows answers. It
// returns the places that have no answer yet, sorted.
func (a *asker) askLines(ctx context.Context, set func(run []wanted, found *symbol.Answer)) (rest []wanted, err error) {
	var lines [][]wanted
	from := slices.IndexFunc(a.window, func(w wanted) bool { return a.isLine(&w) })
	if from < 0 {
		return a.window, nil
	}
	rest = append(rest, a.window[:from]...)
	for from < len(a.window) {
		to := from + 1
		for to < len(a.window) && a.window[to].of == a.window[from].of && a.window[to].at == a.window[from].at {
			to++
		}
		if run := a.window[from:to]; a.isLine(&run[0]) {
			lines = append(lines, run)
		} else {
			rest = append(rest, run...)
		}
		from = to
	}
	for some := range slices.Chunk(lines, askAtOnce/len(indents)) {
		left, err := a.probe(ctx, some, []uint64{0}, set)
		if err != nil {
			return nil, err
		}
		if left, err = a.probe(ctx, left, indents, set); err != nil {
			return nil, err
		}
		for _, run := range left {
			rest = append(rest, run...)
		}
	}
	slices.SortFunc(rest, compareWanted)
	return rest, nil
}

// isLine reports whether a place is a line of a script without a column.
func (a *asker) isLine(w *wanted) bool {
	return w.as < 0 && uint32(w.at) == 0 && !a.renamed[-1-w.as].managed
}

// indents are columns at which lines of scripts begin.
var indents = []uint64{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 48, 64}

// probe asks for lines at columns, and sets the answer at the first known one. It returns the lines without one.
func (a *asker) probe(ctx context.Context, lines [][]wanted, columns []uint64, set func(run []wanted, found *symbol.Answer)) (left [][]wanted, err error) {
	questions := make([]report.Frame, 0, len(lines)*len(columns))
	for _, run := range lines {
		for _, c := range columns {
			w := run[0]
			w.at += c
			questions = append(questions, a.question(&w))
		}
	}
	found := make([]bool, len(lines))
	err = a.o.Ask(ctx, questions, func(i int, answer *symbol.Answer) {
		if at := i / len(columns); !found[at] && answer.Status == symbol.Found && len(answer.Frames) > 0 {
			found[at] = true
			a.o.Counts.Places++
			a.o.Counts.Answered++
			set(lines[at], answer)
		}
	})
	for i, run := range lines {
		if !found[i] {
			left = append(left, run)
		}
	}
	return left, err
}
