package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/spill"
	"github.com/symlake/symlake/ingest/sweep"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row"
)

// minStringBytes is what the names of one artifact may take even if less
// memory is configured: they are needed at once, and no real object comes near.
const minStringBytes = 64 << 20

// artifact settles one artifact of x: claimed, exploded, encoded, and handed
// to the publisher.
func (x *object) artifact(ctx context.Context, f *formats.Format, a *formats.Artifact, member string) error {
	rec, err := x.j.cat.Artifact(ctx, a.ID)
	if err != nil {
		return environment(err)
	}
	switch v := x.claim(rec, f, a, member); v {
	case same, keep:
		if !rec.State.Removed() {
			if err := x.addNames(ctx, rec, x.allNames(&a.Artifact)); err != nil {
				return err
			}
		}
		x.outcome(a.ID, member, map[verdict]string{same: outcomeLoaded, keep: outcomeKept}[v])
		return nil
	case contest:
		return x.load(ctx, f, a, member, rec)
	}
	return x.load(ctx, f, a, member, nil)
}

// load explodes an artifact and hands it over. rival, when not nil, holds a
// published load that it has to beat.
func (x *object) load(ctx context.Context, f *formats.Format, a *formats.Artifact, member string, rival *row.Record) (err error) {
	j := x.j
	options := spill.Options{Budget: j.budget, Scratch: j.o.Scratch, Disk: j.disk, StringBytes: max(j.o.MemoryBytes, minStringBytes)}
	var secret *row.Secret
	if a.Kind.HasClasses() {
		// Positions of classes depend on the load's key. One load at most is stored under it.
		if secret, err = row.NewSecret(); err != nil {
			return err
		}
		options.Position = secret.Position
	}
	s := spill.New(options)
	defer func() { err = errors.Join(err, s.Close()) }()
	within, ended := j.span(ctx, stageExplode, a.Canonical)
	quality, err := x.explode(within, f, a, s)
	ended(err)
	if err != nil {
		return x.reject(ctx, a.ID, member, err)
	}
	x.mu.Lock()
	x.lacks = append(x.lacks, quality.Missing...)
	x.mu.Unlock()
	s.Sort()
	if s.Runs() == 0 {
		x.outcome(a.ID, member, outcomeSkipped)
		return nil
	}
	if _, remote := x.t.src.Bucket.(bucket.Fetcher); !remote {
		if err := x.unchanged(ctx); err != nil {
			return err
		}
	}
	known := clone(&a.Artifact)
	encode := func(id sinks.Load, write func(sinks.Row) error, lake *lakeBatch) (_ *row.Loaded, err error) {
		_, ended := j.span(ctx, stageEncode, known.Canonical)
		defer func() { ended(err) }()
		if err := x.slot(ctx); err != nil {
			return nil, err
		}
		defer x.unslot()
		t := s.Table()
		table := row.Table{Strings: t.Strings, Runs: t.Runs, Numbers: t.Numbers, Secret: secret}
		enc, err := row.NewEncoder(j.o.Keyring, known, id, table, write)
		if err != nil {
			return nil, err
		}
		m, err := s.Merge()
		if err != nil {
			return nil, err
		}
		take := enc.Add
		var beside *feed
		if lake != nil {
			if err := lake.Load(known, id); err != nil {
				return nil, environment(err)
			}
			beside = newFeed(lake, &table)
			take = func(r *symbol.Run) error {
				if err := enc.Add(r); err != nil {
					return err
				}
				return environment(beside.write(r))
			}
		}
		given, inner := 0, take
		take = func(r *symbol.Run) error {
			if given++; given%1024 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return inner(r)
		}
		var counts sweep.Counts
		if secret != nil {
			counts, err = sweep.Classes(m.Next, take)
		} else {
			counts, err = sweep.Sweep(m.Next, take)
		}
		if beside != nil {
			err = errors.Join(err, environment(beside.end()))
		}
		if err != nil {
			return nil, err
		}
		if a.Texts != nil && x.t.src.Texts {
			if err := formats.Guard(f.Name, func() error { return a.Texts(ctx, enc.AddText) }); err != nil {
				return nil, err
			}
		}
		l, err := enc.Close()
		if err != nil {
			return nil, err
		}
		l.Format, l.Parser, l.Rank, l.At = f.Name, f.Version, a.Rank, j.o.Now()
		l.Quality = quality
		l.Quality.Covered, l.Quality.WithLine, l.Quality.WithInline = counts.Covered, counts.WithLine, counts.WithInline
		l.Source = row.Source{URL: x.t.url, Member: member, ETag: x.t.entry.ETag, Size: x.t.entry.Size}
		return l, nil
	}
	now := j.o.Now()
	if rival != nil || j.o.DryRun {
		l, err := encode(row.NewLoad(now), func(sinks.Row) error { return nil }, nil)
		if err != nil {
			return x.reject(ctx, a.ID, member, err)
		}
		if rival != nil {
			switch p := rival.Published; {
			case p.Digest == l.Digest && p.Source.URL == x.t.url && p.Source.Member == member:
				x.outcome(a.ID, member, outcomeLoaded)
				return x.addNames(ctx, rival, x.allNames(known))
			case !x.wins(rival, l):
				x.outcome(a.ID, member, outcomeKept)
				return x.addNames(ctx, rival, x.allNames(known))
			}
		}
		if j.o.DryRun {
			x.outcome(a.ID, member, outcomeLoaded)
			x.count(l)
			return nil
		}
	}
	p := &pending{x: x, id: a.ID, member: member, load: row.NewLoad(now), names: x.allNames(known)}
	defer p.abort()
	if p.lake, err = j.lake.take(ctx); err != nil {
		return environment(err)
	}
	p.loaded, err = encode(p.load, func(r sinks.Row) error { return environment(j.write(ctx, p, r)) }, p.lake)
	if p.lake != nil {
		var ranges uint64
		if err == nil {
			ranges = p.loaded.Ranges
		}
		j.lake.give(p.lake, ranges, err != nil && !formats.Rejects(err))
	}
	if err != nil {
		if p.lake != nil && j.lake.handed(p.lake, x, p.id, p.load, false) {
			j.commitLake(ctx, p.lake)
		}
		return x.reject(ctx, a.ID, member, err)
	}
	x.mu.Lock()
	if x.abandoned {
		x.mu.Unlock()
		if p.lake != nil && j.lake.handed(p.lake, x, p.id, p.load, false) {
			j.commitLake(x.run, p.lake)
		}
		return errTime
	}
	x.loads++
	p.missed = slices.Collect(maps.Keys(x.missed))
	x.mu.Unlock()
	return j.hand(x.run, p)
}

// explode sorts the runs of all parts, several at once.
func (x *object) explode(ctx context.Context, f *formats.Format, a *formats.Artifact, s *spill.Sorter) (symbol.Quality, error) {
	j := x.j
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
			if part >= a.Parts {
				return nil
			}
			if err := x.slot(ctx); err != nil {
				return err
			}
			var q symbol.Quality
			err := formats.Guard(f.Name, func() (err error) {
				q, err = a.Explode(ctx, part, func(r *symbol.Run) error { return lane.Add(part, r) })
				return err
			})
			x.unslot()
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
	var wg sync.WaitGroup
	for range min(j.o.Workers, a.Parts) {
		wg.Go(func() {
			if err := work(); err != nil {
				stop(err) // the first one counts
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return total, err
	}
	slices.Sort(total.Missing)
	total.Missing = slices.Compact(total.Missing)
	warn := func(text string) {
		if len(total.Warnings) < maxWarnings && !slices.Contains(total.Warnings, text) {
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
	if a.Check != nil {
		return total, a.Check(total)
	}
	return total, nil
}

// maxMissing is how many missing parts a load names: they stand in its record,
// which every look-up reads. A binary has up to 40,000 split units.
const maxMissing = 1000

// maxWarnings is how many warnings of its parser a load keeps.
const maxWarnings = 100

// clone copies what may point into the object.
func clone(a *symbol.Artifact) *symbol.Artifact {
	c := *a
	c.Canonical, c.Arch = strings.Clone(a.Canonical), strings.Clone(a.Arch)
	c.Names = slices.Clone(a.Names)
	for i := range c.Names {
		c.Names[i].Text = strings.Clone(c.Names[i].Text)
	}
	c.Anchors = maps.Clone(a.Anchors)
	for name, at := range a.Anchors {
		delete(c.Anchors, name)
		c.Anchors[strings.Clone(name)] = at
	}
	return &c
}

// wins reports whether l may take the place of what rec publishes.
func (x *object) wins(rec *row.Record, l *row.Loaded) bool {
	switch p := rec.Published; {
	case rec.State.Sticky():
		return x.j.o.Force
	case p == nil, isFrom(p, l.Source.URL, l.Source.Member):
		return true
	default:
		return beats(l, p)
	}
}

func (x *object) count(l *row.Loaded) {
	x.mu.Lock()
	x.published++
	if l.Artifact.Kind.HasClasses() {
		x.classes += l.Ranges
	} else {
		x.ranges += l.Ranges
	}
	for _, w := range l.Quality.Warnings {
		x.warnings = append(x.warnings, Rejection{join(x.t.url, l.Source.Member), w})
	}
	x.stored += l.Bytes
	x.mu.Unlock()
}
