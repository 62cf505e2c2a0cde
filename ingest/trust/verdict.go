package trust

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks/row"
)

// Verdict is what is to be done with an artifact that was found.
type Verdict int

const (
	Load    Verdict = iota // explode it and publish it
	Contest                // explode it, then compare what came out with what is published
	Same                   // it is loaded already
	Keep                   // what is published is better
	Extend                 // publish it, and leave the artifact to its owner: see trust.go
	Confirm                // what is published stays, and belongs to this source now
	Dispute                // what is published stays, and a person is asked: see conflict.go
)

// Beats compares two exploded loads of one artifact.
func Beats(l, p *row.Loaded) bool {
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

// Relation says how a source stands to a published load.
type Relation int

const (
	Own   Relation = iota // the load and its artifact belong to the source's owner: quality decides
	Above                 // they belong to another owner, whom the source outranks
	guest                 // the load is the source's own, the artifact belongs to another owner
	below                 // they belong to another owner, whom the source does not outrank
)

// Relate tells how a source of standing s, with an object at url, stands to p. What was read from
// the same URL is the source's own.
func Relate(s row.Standing, url string, p *row.Loaded) Relation {
	mine := p.Source.URL == url || p.Source.Owner == s.Owner
	may := s.MayReplace(p.Claimed())
	switch {
	case mine && (may || p.Claim == nil):
		return Own
	case may:
		return Above
	case mine:
		return guest
	}
	return below
}

// Decide says what becomes of l beside p, which is published, where their owners differ: load
// replaces p and takes the artifact over, extend replaces p and leaves the artifact to its owner,
// keep leaves p, confirm leaves p and takes the artifact over, dispute leaves p and is a conflict.
func Decide(r Relation, p, l *row.Loaded) Verdict {
	agree := agrees(p, l)
	switch {
	case r == Above && (p.Digest == l.Digest || l.Rank > p.Rank && (agree || unowned(p))):
		return Confirm
	case r == Above:
		return Load
	case r == guest && p.Digest == l.Digest && record.IsFrom(p, l.Source.URL, l.Source.Member) && !slices.Equal(p.Quality.Missing, l.Quality.Missing):
		return Extend // the same answers, and another companion is there
	case p.Digest == l.Digest:
		return Keep
	case !agree:
		return Dispute
	case l.Rank < p.Rank, r == guest && (record.IsFrom(p, l.Source.URL, l.Source.Member) || Beats(l, p)):
		return Extend
	case l.Rank > p.Rank, r == guest, p.Artifact.Kind != symbol.ELF && p.Artifact.Kind != symbol.MachO:
		return Keep
	}
	return Dispute
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
