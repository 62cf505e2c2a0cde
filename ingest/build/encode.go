package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build/spill"
	"github.com/symlake/symlake/ingest/build/sweep"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/publish"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/classes"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
)

// maxMissing is how many missing parts a load names: they stand in its record, which every look-up
// reads. A binary has up to 40,000 split units.
const maxMissing = 1000

// errNoRuns says that an artifact has nothing to store.
var errNoRuns = errors.New("the artifact has no ranges and no classes")

// encoding makes the rows of one artifact.
type encoding struct {
	x       *object
	format  *formats.Format
	of      *formats.Artifact
	known   *symbol.Artifact // a copy, which outlives the object
	member  string
	layout  symbol.Layout
	secret  *row.Secret // gives classes their positions; nil: there are none
	quality symbol.Quality
	// runs gives the swept runs, in order, to the takers that begin makes for their strings, as often
	// as it is called. It does not call begin if there are no runs.
	runs func(ctx context.Context, begin beginner) (sweep.Counts, error)

	unwind *unwinding
}

// beginner makes the takers of runs with those strings. aside says that a processor is free for them.
type beginner func(t dictionary.Table, aside bool) (takers, error)

// sort explodes the artifact into a sorter. Then runs reads it as often as it is called. The caller
// closes the sorter, after an error too.
func (e *encoding) sort(ctx context.Context) (*spill.Sorter, error) {
	b, a := e.x.b, e.of
	options := spill.Options{Budget: b.Budget, Scratch: b.Scratch, Disk: b.Disk, StringBytes: e.stringBytes(),
		Lasting: e.lasting(), Few: e.x.isSmall()}
	if a.Kind.HasClasses() {
		// Positions of classes depend on the load's key. One load at most is stored under it.
		e.secret = row.NewSecret()
		options.Position = e.secret.Position
	}
	s := spill.New(options)
	within, ended := b.Tally.Begin(ctx, report.StageExplode, a.Canonical)
	err := e.explode(within, s)
	ended(err)
	if err != nil {
		return s, err
	}
	s.Sort()
	e.runs = func(ctx context.Context, begin beginner) (sweep.Counts, error) {
		if !e.lasting() {
			return e.sorted(ctx, s, begin)
		}
		var counts sweep.Counts
		err := mapped(func() (err error) {
			counts, err = e.sorted(ctx, s, begin)
			return err
		})
		if err == nil {
			err = e.unchanged(ctx) // its names were read until now
		}
		return counts, err
	}
	return s, e.unchanged(ctx)
}

// explode sorts the runs of all parts, several at once.
func (e *encoding) explode(ctx context.Context, s *spill.Sorter) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	var total symbol.Quality
	warnings := map[int][]string{} // by part
	var next atomic.Int64
	work := func() error {
		lane := s.Lane()
		for {
			part := int(next.Add(1)) - 1
			if part >= e.of.Parts {
				return nil
			}
			if err := e.x.slot(ctx); err != nil {
				return err
			}
			var q symbol.Quality
			err := mapped(func() (err error) { // the sorter reads what runs point to
				q, err = e.part(ctx, part, formats.Takers{
					Run:    func(r *symbol.Run) error { return lane.Add(part, r) },
					Script: func(s *symbol.Script) error { return lane.AddScript(part, s) },
					Class:  func(c *symbol.Class) error { return lane.AddClass(part, c) },
				})
				return err
			})
			e.x.unslot()
			if err != nil {
				return err
			}
			mu.Lock()
			total.Add(q)
			if len(q.Warnings) > 0 {
				warnings[part] = q.Warnings
			}
			mu.Unlock()
		}
	}
	workers := min(e.x.b.Workers, e.of.Parts)
	if e.x.isSmall() {
		workers = min(workers, 1)
	}
	parallel.Do(workers, func(int) {
		if err := work(); err != nil {
			stop(err) // the first one counts
		}
	})
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return e.exploded(total, warnings)
}

// part explodes one part.
func (e *encoding) part(ctx context.Context, part int, to formats.Takers) (q symbol.Quality, err error) {
	err = formats.Guard(e.format.Name, func() (err error) {
		q, err = e.of.ExplodeInto(ctx, part, to)
		return err
	})
	return q, err
}

// exploded notes the parser's quality of all parts together, and its warnings by part.
func (e *encoding) exploded(total symbol.Quality, warnings map[int][]string) error {
	slices.Sort(total.Missing)
	total.Missing = slices.Compact(total.Missing)
	warn := func(text string) {
		if len(total.Warnings) < outcome.MaxWarnings && !slices.Contains(total.Warnings, text) {
			total.Warnings = append(total.Warnings, text)
		}
	}
	if n := len(total.Missing) - maxMissing; n > 0 {
		total.Missing = slices.Clone(total.Missing[:maxMissing])
		warn(fmt.Sprintf("%d parts are missing besides those that are named", n))
	}
	for _, part := range slices.Sorted(maps.Keys(warnings)) {
		for _, text := range warnings[part] {
			warn(text)
		}
	}
	if e.of.Check != nil {
		if err := e.of.Check(total); err != nil {
			return err
		}
	}
	e.quality = total
	e.x.Lack(total.Missing)
	return nil
}

// explodedOne notes the quality of an artifact that has one part.
func (e *encoding) explodedOne(q symbol.Quality) error {
	var total symbol.Quality
	total.Add(q)
	return e.exploded(total, map[int][]string{0: q.Warnings})
}

// unchanged checks that the bytes that were read are the listed object's.
func (e *encoding) unchanged(ctx context.Context) error {
	if _, remote := e.x.Task.Source.Bucket.(bucket.Fetcher); remote {
		return nil
	}
	return e.x.unchanged(ctx)
}

// patient returns next, but ends with the context: a sweep may read millions of runs before it gives
// one.
func patient[R, O any](ctx context.Context, next func(*R) (O, bool, error)) func(*R) (O, bool, error) {
	n := 0
	return func(into *R) (order O, ok bool, err error) {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return order, false, context.Cause(ctx)
		}
		return next(into)
	}
}

// sorted sweeps the runs of a sorter.
func (e *encoding) sorted(ctx context.Context, s *spill.Sorter, begin beginner) (sweep.Counts, error) {
	if s.Runs() == 0 {
		return sweep.Counts{}, nil
	}
	t := s.Table()
	table := dictionary.Table{Strings: t.Strings, Runs: t.Runs, Numbers: t.Numbers}
	aside := e.secret == nil && e.x.spareSlot()
	if aside { // the load is alone on two processors at least: other goroutines encode the swept runs
		defer e.x.unslot()
	}
	to, err := begin(table, aside)
	if err != nil {
		return sweep.Counts{}, err
	}
	m, err := s.Merge()
	if err != nil {
		return sweep.Counts{}, err
	}
	if e.secret != nil {
		return sweep.Classes(sweep.ClassSource[spill.Order](patient(ctx, m.NextClass)), func(c *classes.Packed) error { return to.class(c, &table) })
	}
	if aside { // it takes less time than the rows do, and the sweep takes hardly any
		e.unwind.begin(ctx)
	}
	take, end := to.beside(aside)
	var counts sweep.Counts
	if e.of.ExplodeScript != nil {
		counts, err = sweep.SweepScript(sweep.ScriptSource[spill.Order](patient(ctx, m.NextScript)), take)
	} else {
		var run symbol.Script
		counts, err = sweep.Sweep(sweep.Source[spill.Order](patient(ctx, m.Next)), func(r *symbol.Run) error {
			run.Run = *r
			return take(&run)
		})
	}
	return counts, errors.Join(err, end())
}

// passed gives the runs of an artifact that has them in order, as they are exploded.
func (e *encoding) passed(ctx context.Context, begin beginner) (sweep.Counts, error) {
	var script sweep.Script
	held := int64(0)
	end := func() error { return nil }
	defer func() { e.x.b.Budget.Give(held) }()
	q, err := e.part(ctx, 0, formats.Takers{Script: func(r *symbol.Script) error {
		if script.Emit == nil {
			size := textBytes(r.Strings)
			if most := e.stringBytes(); size > most {
				return spill.LongNames(size, most)
			}
			held = size
			e.x.b.Budget.Force(held)
			strs := symbol.CloneStrings(r.Strings)
			table := dictionary.Table{Strings: strs}
			to, err := begin(table, false)
			if err != nil {
				return err
			}
			var take func(*symbol.Script) error
			take, end = to.beside(false)
			script.Emit = func(r *symbol.Script) error {
				own := *r // the lake keeps strings, which may point into the object
				own.Strings = strs
				return take(&own)
			}
		}
		return script.Add(r)
	}})
	if err = errors.Join(err, end()); err != nil {
		return script.Counts, err
	}
	if err := e.explodedOne(q); err != nil {
		return script.Counts, err
	}
	return script.Counts, e.unchanged(ctx)
}

// stringBytes returns the memory that the names of the artifact may take.
func (e *encoding) stringBytes() int64 { return max(e.x.b.MemoryBytes, spill.MinStringBytes) }

// textBytes returns the memory that strings take.
func textBytes(strs []string) (n int64) {
	for _, s := range strs {
		n += int64(len(s)) + int64(unsafe.Sizeof(s))
	}
	return n
}

// encode makes the rows of a load, and the rows of the lake beside them (lake nil: none). The object has a slot. The error is
// errNoRuns if there are none.
func (e *encoding) encode(ctx context.Context, id sinks.Load, write func(sinks.Row) error, lake *publish.Batch) (_ *row.Loaded, err error) {
	x, b := e.x, e.x.b
	within, ended := b.Tally.Begin(ctx, report.StageEncode, e.known.Canonical)
	defer func() { ended(err) }()
	var enc *loads.Encoder
	defer func() {
		if enc != nil {
			enc.Abort()
		}
	}()
	counts, err := e.runs(within, func(t dictionary.Table, aside bool) (to takers, err error) {
		given := 0
		ready := func() (err error) {
			switch { // it numbers all names first, and the lake does not wait for that
			case enc != nil:
			case aside:
				enc, err = loads.NewEncoderBeside(b.Keyring, e.known, id, t, write, mapped)
			default:
				enc, err = loads.NewEncoder(b.Keyring, e.known, id, e.secret, t, write)
			}
			if err != nil {
				return err
			}
			if given++; given%1024 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil
		}
		script := e.of.ExplodeScript != nil
		to.rows = func(r *symbol.Script) error {
			if err := ready(); err != nil {
				return err
			}
			if script {
				return enc.AddScript(r)
			}
			return enc.Add(&r.Run)
		}
		to.rowClass = func(c *classes.Packed) error {
			if err := ready(); err != nil {
				return err
			}
			return enc.AddClass(c)
		}
		if lake != nil {
			if err := lake.Load(e.known, id); err != nil {
				return to, failure.Environment(err)
			}
			to.lake = func(r *symbol.Script) error {
				if script {
					return failure.Environment(lake.WriteScript(r))
				}
				return failure.Environment(lake.Write(&r.Run))
			}
			to.lakeClass = func(c *symbol.Class) error { return failure.Environment(lake.WriteClass(c)) }
		}
		return to, nil
	})
	switch {
	case err != nil:
		return nil, err
	case enc == nil:
		return nil, errNoRuns
	}
	if lake != nil { // it writes them out beside what follows
		lake.EndLoad()
	}
	if e.of.Texts != nil && x.Task.Source.Texts {
		if err := formats.Guard(e.format.Name, func() error { return e.of.Texts(ctx, enc.AddText) }); err != nil {
			return nil, err
		}
	}
	if fresh, err := e.unwind.addTo(within, enc); err != nil {
		return nil, err
	} else if fresh {
		if err := e.unchanged(within); err != nil {
			return nil, err
		}
	}
	l, err := enc.Close()
	if err != nil {
		return nil, err
	}
	l.Format, l.Parser, l.Rank, l.At = e.format.Name, e.format.Version, e.of.Rank, b.Now()
	l.Quality = e.quality
	e.unwind.addQuality(&l.Quality)
	l.Quality.Covered, l.Quality.WithLine, l.Quality.WithInline = counts.Covered, counts.WithLine, counts.WithInline
	l.Source = row.Source{URL: x.Task.URL, Member: e.member, ETag: x.Task.Entry.ETag, Size: x.Task.Entry.Size, Standing: x.Task.Source.Standing()}
	l.Layout = e.layout
	return l, nil
}

// lasting reports whether the strings of runs last until the load is encoded: the object is open so
// long, but the lake keeps strings longer.
func (e *encoding) lasting() bool { return e.of.Lasting && e.x.b.Publisher.Lake == nil }
