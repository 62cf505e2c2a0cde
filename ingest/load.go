package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

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
	e := &encoding{x: x, format: f, of: a, known: clone(&a.Artifact), member: member}
	if e.runs = e.passed; !a.Ordered {
		s, err := e.sort(ctx)
		if s != nil {
			defer func() { err = errors.Join(err, s.Close()) }()
		}
		if err != nil {
			return x.reject(ctx, a.ID, member, err)
		}
	}
	now := j.o.Now()
	if rival != nil || j.o.DryRun {
		l, err := e.encode(ctx, row.NewLoad(now), func(sinks.Row) error { return nil }, nil)
		switch {
		case errors.Is(err, errNoRuns):
			x.outcome(a.ID, member, outcomeSkipped)
			return nil
		case err != nil:
			return x.reject(ctx, a.ID, member, err)
		}
		if rival != nil {
			switch p := rival.Published; {
			case p.Digest == l.Digest && p.Source.URL == x.t.url && p.Source.Member == member:
				x.outcome(a.ID, member, outcomeLoaded)
				return x.addNames(ctx, rival, x.allNames(e.known))
			case !x.wins(rival, l):
				x.outcome(a.ID, member, outcomeKept)
				return x.addNames(ctx, rival, x.allNames(e.known))
			}
		}
		if j.o.DryRun {
			x.outcome(a.ID, member, outcomeLoaded)
			x.count(l)
			return nil
		}
	}
	p := &pending{x: x, id: a.ID, member: member, load: row.NewLoad(now), names: x.allNames(e.known)}
	defer p.abort()
	if p.lake, err = j.lake.take(ctx); err != nil {
		return environment(err)
	}
	p.loaded, err = e.encode(ctx, p.load, func(r sinks.Row) error { return environment(j.write(ctx, p, r)) }, p.lake)
	if p.loaded != nil {
		p.loaded.By = j.by()
	}
	nothing := errors.Is(err, errNoRuns)
	if p.lake != nil {
		var ranges uint64
		if err == nil {
			ranges = p.loaded.Ranges
		}
		j.lake.give(p.lake, ranges, err != nil && !nothing && !formats.Rejects(err))
	}
	if err != nil {
		if p.lake != nil && j.lake.handed(p.lake, x, p.id, p.load, false) {
			j.commitLake(ctx, p.lake)
		}
		if nothing {
			x.outcome(a.ID, member, outcomeSkipped)
			return nil
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
	x.published = append(x.published, l.Artifact.ID)
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
