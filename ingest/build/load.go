package build

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build/sweep"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/publish"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
)

// artifact decides about one artifact of x, and loads it if need be.
func (x *object) artifact(ctx context.Context, f *formats.Format, a *formats.Artifact, member string) error {
	rec, err := x.b.Catalog.Artifacts.Get(ctx, a.ID)
	if err != nil {
		return failure.Environment(err)
	}
	b, err := x.bid(ctx, f, a, member, rec)
	if err != nil {
		return err
	}
	pub := x.b.Publisher
	switch v := x.claim(rec, b); v {
	case trust.Same, trust.Keep, trust.Confirm:
		if !rec.State.Removed() {
			if err := pub.AddNames(ctx, x.Object, rec, x.allNames(&a.Artifact)); err != nil {
				return err
			}
		}
		if v == trust.Confirm {
			return pub.Confirm(ctx, x.Object, rec.ID, member, rec.Published.Load)
		}
		x.Note(a.ID, member, map[trust.Verdict]string{trust.Same: ledger.OutcomeLoaded, trust.Keep: ledger.OutcomeKept}[v])
		return nil
	case trust.Contest:
		return x.load(ctx, b, rec, rec)
	}
	return x.load(ctx, b, rec, nil)
}

// load explodes and encodes an artifact, and hands it to the publisher. rec is the artifact's record (nil:
// none). rival, when not nil, is rec, and has a published load that the new one must beat.
func (x *object) load(ctx context.Context, b bid, rec, rival *catalog.Record) (err error) {
	pub, a, member := x.b.Publisher, b.Artifact, b.member
	e := &encoding{x: x, format: b.format, of: a, known: Clone(&a.Artifact), member: member, layout: b.layout}
	e.unwind = &unwinding{b: x.b, format: b.format, of: a, canonical: e.known.Canonical, ruleBytes: e.stringBytes()}
	defer func() { err = errors.Join(err, e.unwind.close()) }()
	release, err := e.ready(ctx)
	defer func() { err = errors.Join(err, release()) }()
	if err != nil {
		return x.reject(ctx, a.ID, member, err)
	}
	now := x.b.Now()
	if rival != nil || x.b.DryRun {
		l, err := e.encodeAlone(ctx, row.NewLoad(now))
		switch {
		case errors.Is(err, errNoRuns):
			x.Note(a.ID, member, ledger.OutcomeSkipped)
			return nil
		case err != nil:
			return x.reject(ctx, a.ID, member, err)
		}
		if rival != nil {
			p := rival.Published
			if p.Digest == l.Digest && record.IsFrom(p, x.Task.URL, member) && slices.Equal(p.Quality.Missing, l.Quality.Missing) {
				x.Note(a.ID, member, ledger.OutcomeLoaded)
				return pub.AddNames(ctx, x.Object, rival, x.allNames(e.known))
			}
			switch pub.Verdict(rival, l, b.accepted) {
			case trust.Dispute:
				return pub.KeepOut(ctx, x.Object, rival, l)
			case trust.Confirm:
				return errors.Join(pub.AddNames(ctx, x.Object, rival, x.allNames(e.known)), pub.Confirm(ctx, x.Object, a.ID, member, p.Load))
			case trust.Keep:
				x.Note(a.ID, member, ledger.OutcomeKept)
				return errors.Join(pub.AddNames(ctx, x.Object, rival, x.allNames(e.known)), pub.AwaitToo(ctx, x.Object, p, l))
			}
		}
		if x.b.DryRun {
			x.Note(a.ID, member, ledger.OutcomeLoaded)
			x.CountLoad(l)
			return nil
		}
	}
	p := &publish.Load{Object: x.Object, Artifact: a.ID, Member: member, ID: row.NewLoad(now), Names: x.allNames(e.known), Seen: rec, Accepted: b.accepted}
	defer p.Abort()
	err = e.encodeInto(ctx, p)
	switch {
	case err == nil:
		return pub.Publish(p)
	case errors.Is(err, errNoRuns):
		pub.DropFromLake(p)
		x.Note(a.ID, member, ledger.OutcomeSkipped)
		return nil
	}
	pub.DropFromLake(p)
	return x.reject(ctx, a.ID, member, err)
}

// encodeAlone makes the rows of a load, and keeps none.
func (e *encoding) encodeAlone(ctx context.Context, id sinks.Load) (*row.Loaded, error) {
	if err := e.x.slot(ctx); err != nil {
		return nil, err
	}
	defer e.x.unslot()
	return e.encode(ctx, id, func(sinks.Row) error { return nil }, nil)
}

// encodeInto makes the rows of a load. It has a batch of the lake for no longer than its slot: so few are open.
func (e *encoding) encodeInto(ctx context.Context, p *publish.Load) (err error) {
	if err := e.x.slot(ctx); err != nil {
		return err
	}
	defer e.x.unslot()
	pub := e.x.b.Publisher
	if p.Lake, err = pub.TakeBatch(ctx); err != nil {
		return failure.Environment(err)
	}
	var ranges uint64
	p.Loaded, err = e.encode(ctx, p.ID, func(r sinks.Row) error { return failure.Environment(pub.Write(ctx, p, r)) }, p.Lake)
	if p.Loaded != nil {
		p.Loaded.By, ranges = e.x.b.Account, p.Loaded.Ranges
	}
	if p.Lake != nil {
		pub.GiveBatch(p.Lake, ranges, err != nil && !errors.Is(err, errNoRuns) && !formats.Rejects(err))
	}
	return err
}

// Clone copies an artifact with all strings that may point into the object.
func Clone(a *symbol.Artifact) *symbol.Artifact {
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
	c.Parts, c.Segments = slices.Clone(a.Parts), slices.Clone(a.Segments)
	for i := range c.Parts {
		c.Parts[i].Name = strings.Clone(c.Parts[i].Name)
	}
	return &c
}

// allNames returns the names of an artifact of x: its own, and the names that the app gives it.
func (x *object) allNames(a *symbol.Artifact) []symbol.Name {
	return append(slices.Clone(a.Names), discover.AppNames(x.App, a.Names)...)
}

// ready sets e.runs by what the artifact promises of its runs. The caller calls release, after an error too.
func (e *encoding) ready(ctx context.Context) (release func() error, err error) {
	release = func() error { return nil }
	switch {
	case e.of.Ordered && e.of.Few:
		h, err := e.hold(ctx)
		return func() error { h.close(); return nil }, err
	case e.of.Ordered:
		e.runs = e.passed
		return release, nil
	}
	s, err := e.sort(ctx)
	if s != nil {
		release = s.Close
	}
	return release, err
}

// hold explodes a script of few runs. Then e.runs gives them, once. The caller closes what it returns,
// after an error too.
func (e *encoding) hold(ctx context.Context) (*held, error) {
	h := &held{budget: e.x.b.Budget, most: e.stringBytes()}
	script := sweep.Script{Emit: h.take}
	within, ended := e.x.b.Tally.Begin(ctx, report.StageExplode, e.of.Canonical)
	err := e.explodeInOrder(within, &script)
	ended(err)
	if err != nil {
		return h, err
	}
	e.runs = func(_ context.Context, begin beginner) (sweep.Counts, error) {
		if h.parcel == nil {
			return script.Counts, nil
		}
		to, err := begin(dictionary.Table{Strings: h.strings, Runs: h.uses}, false)
		if err != nil {
			return script.Counts, err
		}
		take, end := to.beside(false)
		h.parcel.close()
		err = h.parcel.write(take)
		return script.Counts, errors.Join(err, end())
	}
	return h, e.unchanged(ctx)
}

// explodeInOrder gives the runs of the one part to script.
func (e *encoding) explodeInOrder(ctx context.Context, script *sweep.Script) error {
	if err := e.x.slot(ctx); err != nil {
		return err
	}
	defer e.x.unslot()
	var q symbol.Quality
	err := mapped(func() (err error) { // names may lie in the object
		q, err = e.part(ctx, 0, formats.Takers{Script: script.Add})
		return err
	})
	if err != nil {
		return err
	}
	return e.explodedOne(q)
}
