package build

import (
	"context"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// claim decides about an artifact before it is exploded. Package trust tells which source wins. A
// changed object replaces its own earlier load, of any rank.
func (x *object) claim(rec *catalog.Record, b bid) trust.Verdict {
	f, a, member, force := b.format, b.Artifact, b.member, x.b.Force
	if rec == nil {
		return trust.Load
	}
	p := rec.Published
	switch {
	case p != nil && b.accepted != "":
		return trust.Contest
	case rec.State.Sticky() && !force:
		return trust.Keep
	case p == nil:
		return trust.Load
	}
	if r := trust.Relate(x.Task.Source.Standing(), x.Task.URL, p); r != trust.Own {
		return x.foreign(r, p, b)
	}
	if rec.State.Sticky() {
		return trust.Load
	}
	if record.IsFrom(p, x.Task.URL, member) {
		switch {
		case force, p.Source.ETag != x.Task.Entry.ETag:
			return trust.Load
		case p.Format == f.Name && p.Parser < f.Version:
			return trust.Load
		case x.Task.Rederive, len(x.Task.Owed) > 0:
			return trust.Contest
		case p.Format == f.Name:
			return trust.Same
		}
	}
	switch {
	case a.Rank != p.Rank:
		if a.Rank < p.Rank {
			return trust.Load
		}
		return trust.Keep
	case p.Format == f.Name && f.Version != p.Parser:
		if f.Version > p.Parser {
			return trust.Load
		}
		return trust.Keep
	}
	return trust.Contest
}

// bid is an artifact that an object brings, with the facts that decide about it.
type bid struct {
	*formats.Artifact
	format   *formats.Format
	member   string
	layout   symbol.Layout
	accepted string // digest that a person accepted in a conflict; "": none
}

// bid reads the facts that decide about an artifact. It reads code only where owners count.
func (x *object) bid(ctx context.Context, f *formats.Format, a *formats.Artifact, member string, rec *catalog.Record) (bid, error) {
	b := bid{Artifact: a, format: f, member: member, layout: symbol.Layout{Table: a.Table}}
	owners := x.Task.Source.Standing() != row.Standing{} || rec != nil && rec.Published != nil && rec.Published.Claimed() != row.Standing{}
	if owners && a.CodeDigest != nil {
		err := mapped(func() error {
			return formats.Guard(f.Name, func() (err error) {
				b.layout.Code, err = a.CodeDigest(ctx)
				return err
			})
		})
		if err != nil && !formats.Rejects(err) { // code that cannot be read is unknown
			return b, err
		}
	}
	if !x.Task.Disputed(a.ID, member) {
		return b, nil
	}
	c, err := x.b.Catalog.Conflicts.Get(ctx, a.ID, x.Task.URL, member)
	if err != nil {
		return b, failure.Environment(err)
	}
	if c != nil && !c.Accepted.IsZero() {
		b.accepted = c.KeptOut.Digest
	}
	return b, nil
}

// foreign decides about a bid for an artifact of another owner, before it is exploded.
func (x *object) foreign(r trust.Relation, p *row.Loaded, b bid) trust.Verdict {
	l := &row.Loaded{Rank: b.Rank, Layout: b.layout, Source: row.Source{URL: x.Task.URL, Member: b.member}}
	if record.IsFrom(p, x.Task.URL, b.member) && p.Source.ETag == x.Task.Entry.ETag && p.Format == b.format.Name && p.Parser == b.format.Version && !x.Task.Rederive && !x.b.Force {
		return trust.Same
	}
	if b.Rank == p.Rank {
		return trust.Contest
	}
	if v := trust.Decide(r, p, l); v != trust.Dispute {
		return v
	}
	return trust.Contest // the content may be the same
}
