package ingest

import (
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks/catalog"
)

// claim decides by what is known before anything is exploded. Which source
// wins: the better rank, then the newer parser, then more bytes with a line,
// then the smaller digest of the content, then the smaller URL. (The digest is that of what would be
// stored: two files with the same answers are one, and no file is hashed for it.)
// A changed object replaces its own earlier load, whatever its rank. Between owners, trust.go decides.
func (x *object) claim(rec *catalog.Record, b bid) trust.Verdict {
	f, a, member, force := b.format, b.Artifact, b.member, x.j.o.Force
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
	if r := trust.Relate(x.t.src.standing(), x.t.url, p); r != trust.Own {
		return x.foreign(r, p, b)
	}
	if rec.State.Sticky() {
		return trust.Load
	}
	if record.IsFrom(p, x.t.url, member) {
		switch {
		case force, p.Source.ETag != x.t.entry.ETag:
			return trust.Load
		case p.Format == f.Name && p.Parser < f.Version:
			return trust.Load
		case x.t.rederive, len(x.t.owed) > 0:
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
