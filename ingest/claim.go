package ingest

import (
	"github.com/symlake/symlake/sinks/row"
)

// claim decides by what is known before anything is exploded. Which source
// wins: the better rank, then the newer parser, then more bytes with a line,
// then the smaller digest of the content, then the smaller URL. (The digest is that of what would be
// stored: two files with the same answers are one, and no file is hashed for it.)
// A changed object replaces its own earlier load, whatever its rank. Between owners, trust.go decides.
func (x *object) claim(rec *row.Record, b bid) verdict {
	f, a, member, force := b.format, b.Artifact, b.member, x.j.o.Force
	if rec == nil {
		return load
	}
	p := rec.Published
	switch {
	case p != nil && b.accepted != "":
		return contest
	case rec.State.Sticky() && !force:
		return keep
	case p == nil:
		return load
	}
	if r := relate(x.t.src.standing(), x.t.url, p); r != own {
		return x.foreign(r, p, b)
	}
	if rec.State.Sticky() {
		return load
	}
	if isFrom(p, x.t.url, member) {
		switch {
		case force, p.Source.ETag != x.t.entry.ETag:
			return load
		case p.Format == f.Name && p.Parser < f.Version:
			return load
		case x.t.rederive, len(x.t.owed) > 0:
			return contest
		case p.Format == f.Name:
			return same
		}
	}
	switch {
	case a.Rank != p.Rank:
		if a.Rank < p.Rank {
			return load
		}
		return keep
	case p.Format == f.Name && f.Version != p.Parser:
		if f.Version > p.Parser {
			return load
		}
		return keep
	}
	return contest
}
