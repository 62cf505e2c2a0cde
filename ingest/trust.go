package ingest

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Every id is a claim: whoever can write into a source can name it. So a source has an owner and a
// rank, and what is published is replaced only from a source of the same owner or of a higher rank.
// Between sources of one owner, quality decides: see claim.go. A stripped file and its debug file
// from two owners still make one artifact if their bytes agree.

// verdict decides between l and what rec publishes. accepted is the digest that a person accepted
// in a conflict ("": none).
func (x *object) verdict(rec *catalog.Record, l *row.Loaded, accepted string) trust.Verdict {
	p := rec.Published
	if p != nil && !rec.State.Removed() && accepted != "" && accepted == hex.EncodeToString(l.Digest[:]) {
		return trust.Load
	}
	if rec.State.Sticky() && !x.j.o.Force {
		return trust.Keep
	}
	if p == nil {
		return trust.Load
	}
	if r := trust.Relate(l.Source.Standing, x.t.URL, p); r != trust.Own {
		return trust.Decide(r, p, l)
	}
	if record.IsFrom(p, l.Source.URL, l.Source.Member) || x.j.o.Force && rec.State.Sticky() || trust.Beats(l, p) {
		return trust.Load
	}
	return trust.Keep
}

// rule notes a verdict on p beside what old publishes, and in next whose the artifact is then.
func (p *pending) rule(v trust.Verdict, old, next *catalog.Record) {
	p.kept, p.held, p.keptOut, p.overruled, p.loaded.Claim = v != trust.Load && v != trust.Extend, "", nil, nil, nil
	switch {
	case v == trust.Dispute:
		p.keptOut = old
	case v == trust.Confirm:
		next.Published = record.ClaimedBy(old.Published, p.loaded.Source.Standing)
	case v == trust.Extend:
		c := old.Published.Claimed()
		p.loaded.Claim = &c
	}
	switch {
	case p.kept || old.Published == nil || p.accepted != "":
	case trust.Relate(p.loaded.Source.Standing, p.x.t.URL, old.Published) == trust.Above:
		p.overruled = old.Published // how good it is does not count against a source that is trusted more
	default:
		p.held = p.x.worse(old, p.loaded)
		p.kept = p.held != ""
	}
}

// overrule warns that p replaced what another owner had published.
func (x *object) overrule(p *pending) {
	if p.overruled == nil {
		return
	}
	o, s := p.overruled, p.overruled.Claimed()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.warnings) < maxWarnings {
		x.warnings = append(x.warnings, report.Rejection{URL: ledger.Place(x.t.URL, p.member),
			Error: fmt.Sprintf("owner: artifact %s of owner %q and rank %d, from %s, was replaced: this source's rank is %d", p.id, s.Owner, s.Rank, ledger.Place(o.Source.URL, o.Source.Member), p.loaded.Source.Rank)})
	}
}

// confirm gives an artifact whose published load is that one to x's source.
func (x *object) confirm(ctx context.Context, id symbol.ID, member string, published sinks.Load) error {
	for !x.j.o.DryRun {
		rec, err := x.j.cat.Artifacts.Get(ctx, id)
		if err != nil {
			return environment(err)
		}
		if rec == nil || rec.Published == nil || rec.Published.Load != published || x.t.Source.Standing() == rec.Published.Claimed() {
			break // somebody else was faster
		}
		next := record.Copy(rec, id)
		next.Published = record.ClaimedBy(rec.Published, x.t.Source.Standing())
		err = x.j.cat.Artifacts.Swap(ctx, rec, next)
		if err == nil {
			break
		}
		if !errors.Is(err, sinks.ErrConflict) {
			return environment(err)
		}
	}
	x.outcome(id, member, ledger.OutcomeKept)
	return nil
}

// distrust notes that a companion was not used.
func (x *object) distrust(place string, want formats.Ref, known map[string]row.Standing) {
	s, _ := x.j.sources.Standing(place, known)
	told := report.Rejection{URL: x.t.URL, Error: fmt.Sprintf("companion: %s is not used for %s: its source has owner %q and rank %d", place, cmp.Or(want.ID, want.Name), s.Owner, s.Rank)}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.warnings) < maxWarnings && !slices.Contains(x.warnings, told) {
		x.warnings = append(x.warnings, told)
	}
}

// bid is an artifact that an object brings, with what else decides about it.
type bid struct {
	*formats.Artifact
	format   *formats.Format
	member   string
	layout   symbol.Layout
	accepted string // digest that a person accepted in a conflict; "": none
}

// bid reads what a decision about an artifact needs. Code is read only where owners count.
func (x *object) bid(ctx context.Context, f *formats.Format, a *formats.Artifact, member string, rec *catalog.Record) (bid, error) {
	b := bid{Artifact: a, format: f, member: member, layout: symbol.Layout{Table: a.Table}}
	owners := x.t.Source.Standing() != row.Standing{} || rec != nil && rec.Published != nil && rec.Published.Claimed() != row.Standing{}
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
	if !x.t.Disputed(a.ID, member) {
		return b, nil
	}
	c, err := x.j.cat.Conflicts.Get(ctx, a.ID, x.t.URL, member)
	if err != nil {
		return b, environment(err)
	}
	if c != nil && !c.Accepted.IsZero() {
		b.accepted = c.KeptOut.Digest
	}
	return b, nil
}

// foreign decides about a bid for what another owner holds, before anything is exploded.
func (x *object) foreign(r trust.Relation, p *row.Loaded, b bid) trust.Verdict {
	l := &row.Loaded{Rank: b.Rank, Layout: b.layout, Source: row.Source{URL: x.t.URL, Member: b.member}}
	if record.IsFrom(p, x.t.URL, b.member) && p.Source.ETag == x.t.Entry.ETag && p.Format == b.format.Name && p.Parser == b.format.Version && !x.t.Rederive && !x.j.o.Force {
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
