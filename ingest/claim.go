package ingest

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/sinks/row"
)

// verdict is what is to be done with an artifact that was found.
type verdict int

const (
	load    verdict = iota // explode it and publish it
	contest                // explode it, then compare what came out with what is published
	same                   // it is loaded already
	keep                   // what is published is better
)

// claim decides by what is known before anything is exploded. Which source
// wins: the better rank, then the newer parser, then more bytes with a line,
// then the smaller digest of the content, then the smaller URL. (The digest is that of what would be
// stored: two files with the same answers are one, and no file is hashed for it.)
// A changed object replaces its own earlier load, whatever its rank.
func (x *object) claim(rec *row.Record, f *formats.Format, a *formats.Artifact, member string) verdict {
	force := x.j.o.Force
	if rec == nil {
		return load
	}
	if rec.State.Sticky() {
		if force {
			return load
		}
		return keep
	}
	p := rec.Published
	if p == nil {
		return load
	}
	if isFrom(p, x.t.url, member) {
		switch {
		case force, p.Source.ETag != x.t.entry.ETag:
			return load
		case p.Format == f.Name && p.Parser < f.Version:
			return load
		case x.t.rederive:
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

// beats compares two exploded loads of one artifact.
func beats(l, p *row.Loaded) bool {
	switch {
	case l.Rank != p.Rank:
		return l.Rank < p.Rank
	case l.Format == p.Format && l.Parser != p.Parser:
		return l.Parser > p.Parser
	case l.Quality.WithLine != p.Quality.WithLine:
		return l.Quality.WithLine > p.Quality.WithLine
	}
	if d := bytes.Compare(l.Digest[:], p.Digest[:]); d != 0 {
		return d < 0
	}
	return cmp.Or(strings.Compare(l.Source.URL, p.Source.URL), strings.Compare(l.Source.Member, p.Source.Member)) < 0
}
