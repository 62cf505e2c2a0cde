package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// artifact settles one artifact of x: claimed, exploded, encoded, and handed
// to the publisher.
func (x *object) artifact(ctx context.Context, f *formats.Format, a *formats.Artifact, member string) error {
	rec, err := x.j.cat.Artifacts.Get(ctx, a.ID)
	if err != nil {
		return environment(err)
	}
	b, err := x.bid(ctx, f, a, member, rec)
	if err != nil {
		return err
	}
	switch v := x.claim(rec, b); v {
	case trust.Same, trust.Keep, trust.Confirm:
		if !rec.State.Removed() {
			if err := x.addNames(ctx, rec, x.allNames(&a.Artifact)); err != nil {
				return err
			}
		}
		if v == trust.Confirm {
			return x.confirm(ctx, rec.ID, member, rec.Published.Load)
		}
		x.outcome(a.ID, member, map[trust.Verdict]string{trust.Same: ledger.OutcomeLoaded, trust.Keep: ledger.OutcomeKept}[v])
		return nil
	case trust.Contest:
		return x.load(ctx, b, rec)
	}
	return x.load(ctx, b, nil)
}

// load explodes an artifact and hands it over. rival, when not nil, holds a
// published load that it has to beat.
func (x *object) load(ctx context.Context, b bid, rival *catalog.Record) (err error) {
	j, a, member := x.j, b.Artifact, b.member
	e := &encoding{x: x, format: b.format, of: a, known: clone(&a.Artifact), member: member, layout: b.layout}
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
			x.outcome(a.ID, member, ledger.OutcomeSkipped)
			return nil
		case err != nil:
			return x.reject(ctx, a.ID, member, err)
		}
		if rival != nil {
			p := rival.Published
			if p.Digest == l.Digest && record.IsFrom(p, x.t.URL, member) && slices.Equal(p.Quality.Missing, l.Quality.Missing) {
				x.outcome(a.ID, member, ledger.OutcomeLoaded)
				return x.addNames(ctx, rival, x.allNames(e.known))
			}
			switch x.verdict(rival, l, b.accepted) {
			case trust.Dispute:
				return x.keepOut(ctx, rival, l)
			case trust.Confirm:
				return errors.Join(x.addNames(ctx, rival, x.allNames(e.known)), x.confirm(ctx, a.ID, member, p.Load))
			case trust.Keep:
				x.outcome(a.ID, member, ledger.OutcomeKept)
				return errors.Join(x.addNames(ctx, rival, x.allNames(e.known)), x.awaitToo(ctx, p, l))
			}
		}
		if j.o.DryRun {
			x.outcome(a.ID, member, ledger.OutcomeLoaded)
			x.count(l)
			return nil
		}
	}
	p := &pending{x: x, id: a.ID, member: member, load: row.NewLoad(now), names: x.allNames(e.known), accepted: b.accepted}
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
			x.outcome(a.ID, member, ledger.OutcomeSkipped)
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
	p.missed, p.states = maps.Clone(x.missed), maps.Clone(x.states)
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

func (x *object) count(l *row.Loaded) {
	x.mu.Lock()
	x.published = append(x.published, l.Artifact.ID)
	if l.Artifact.Kind.HasClasses() {
		x.classes += l.Ranges
	} else {
		x.ranges += l.Ranges
	}
	for _, w := range l.Quality.Warnings {
		x.warnings = append(x.warnings, report.Rejection{URL: ledger.Place(x.t.URL, l.Source.Member), Error: w})
	}
	x.stored += l.Bytes
	x.mu.Unlock()
}

// allNames are the names of an artifact of x: its own, and those of the app.
func (x *object) allNames(a *symbol.Artifact) []symbol.Name {
	return append(slices.Clone(a.Names), discover.AppNames(x.app, a.Names)...)
}
