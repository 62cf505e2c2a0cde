package ingest

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// verdict is what is to be done with an artifact that was found.
type verdict int

const (
	load    verdict = iota // explode it and publish it
	contest                // explode it, then compare what came out with what is published
	same                   // it is loaded already
	keep                   // what is published is better
	extend                 // publish it, and leave the artifact to its owner: see trust.go
	confirm                // what is published stays, and belongs to this source now
	dispute                // what is published stays, and a person is asked: see conflict.go
)

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

// relation says how a source stands to a published load.
type relation int

const (
	own   relation = iota // the load and its artifact belong to the source's owner: quality decides
	above                 // they belong to another owner, whom the source outranks
	guest                 // the load is the source's own, the artifact belongs to another owner
	below                 // they belong to another owner, whom the source does not outrank
)

// relate tells how a source of standing s, with an object at url, stands to p. What was read from
// the same URL is the source's own.
func relate(s row.Standing, url string, p *row.Loaded) relation {
	mine := p.Source.URL == url || p.Source.Owner == s.Owner
	may := s.MayReplace(p.Claimed())
	switch {
	case mine && (may || p.Claim == nil):
		return own
	case may:
		return above
	case mine:
		return guest
	}
	return below
}

// decide says what becomes of l beside p, which is published, where their owners differ: load
// replaces p and takes the artifact over, extend replaces p and leaves the artifact to its owner,
// keep leaves p, confirm leaves p and takes the artifact over, dispute leaves p and is a conflict.
func decide(r relation, p, l *row.Loaded) verdict {
	agree := agrees(p, l)
	switch {
	case r == above && (p.Digest == l.Digest || l.Rank > p.Rank && (agree || unowned(p))):
		return confirm
	case r == above:
		return load
	case r == guest && p.Digest == l.Digest && isFrom(p, l.Source.URL, l.Source.Member) && !slices.Equal(p.Quality.Missing, l.Quality.Missing):
		return extend // the same answers, and another companion is there
	case p.Digest == l.Digest:
		return keep
	case !agree:
		return dispute
	case l.Rank < p.Rank, r == guest && (isFrom(p, l.Source.URL, l.Source.Member) || beats(l, p)):
		return extend
	case l.Rank > p.Rank, r == guest, p.Artifact.Kind != symbol.ELF && p.Artifact.Kind != symbol.MachO:
		return keep
	}
	return dispute
}

// agrees reports whether two loads can be of one image, or are of one map. An id that a parser
// computes from content proves it.
func agrees(p, l *row.Loaded) bool {
	return p.Layout.Agrees(l.Layout) || strings.HasPrefix(p.Artifact.Canonical, "sha256:")
}

// unowned reports whether p was loaded before sources had owners: its layout was not noted, and
// nobody claims it. A worse source that is trusted more does not replace it.
func unowned(p *row.Loaded) bool {
	return p.Claimed() == (row.Standing{}) && p.Layout == (symbol.Layout{})
}
