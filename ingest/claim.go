package ingest

import (
	"cmp"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
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
	if r := trust.Relate(x.t.Source.Standing(), x.t.URL, p); r != trust.Own {
		return x.foreign(r, p, b)
	}
	if rec.State.Sticky() {
		return trust.Load
	}
	if record.IsFrom(p, x.t.URL, member) {
		switch {
		case force, p.Source.ETag != x.t.Entry.ETag:
			return trust.Load
		case p.Format == f.Name && p.Parser < f.Version:
			return trust.Load
		case x.t.Rederive, len(x.t.Owed) > 0:
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

// worse says why a load is not to take the place of the one that is published: it answers much less. "": it is not.
func (x *object) worse(rec *catalog.Record, l *row.Loaded) string {
	o, p := &x.j.o, rec.Published
	if p == nil || o.Force || o.MinQuality <= 0 || l.Rank < p.Rank || len(p.WrappedKey) == 0 {
		return ""
	}
	least := func(what string, now, was uint64) string {
		if float64(now) >= o.MinQuality*float64(was) {
			return ""
		}
		return fmt.Sprintf("min_quality %g: %s is %d, and %d in the published load; ingest --force takes it", o.MinQuality, what, now, was)
	}
	if l.Artifact.Kind == symbol.R8 {
		return cmp.Or(least("classes", l.Ranges, p.Ranges), least("members", l.Members, p.Members))
	}
	if l.Quality.WithLine > p.Quality.WithLine {
		return ""
	}
	return cmp.Or(least("bytes with a line", l.Quality.WithLine, p.Quality.WithLine), least("bytes covered", l.Quality.Covered, p.Quality.Covered))
}
