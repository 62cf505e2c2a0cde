// Package trust decides between two loads of one artifact.
//
// Each id is a claim: anybody with access to a source can name it. So a source has an owner and a rank.
// Between sources of one owner, quality decides ([Beats]): the better rank of the format; then, of one
// format, the newer parser; then more bytes with a line; then, of source maps, more ranges and more bytes
// of rows; then the smaller digest of the content; then the smaller URL. Content decides the tie, not the
// file, so two files with equal answers count as one, and no file is hashed for it.
//
// A source of another owner replaces a load only from a higher rank, or adds the debug file of a stripped
// file that agrees with it ([Decide]). Anything else is a conflict, which a person settles.
package trust

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Verdict says what to do with an artifact that an object brings.
type Verdict int

// The verdicts on a source.
const (
	Load    Verdict = iota // explode it and publish it
	Contest                // explode it, then compare the result with the published load
	Same                   // it is loaded already
	Keep                   // the published load is better
	Extend                 // publish it, and leave the artifact to its owner
	Confirm                // the published load stays, and belongs to this source now
	Dispute                // the published load stays, and a person decides
)

// Beats reports whether l is better than p. Both are exploded loads of one artifact.
func Beats(l, p *row.Loaded) bool {
	switch {
	case l.Rank != p.Rank:
		return l.Rank < p.Rank
	case l.Format == p.Format && l.Parser != p.Parser:
		return l.Parser > p.Parser
	case l.Quality.WithLine != p.Quality.WithLine:
		return l.Quality.WithLine > p.Quality.WithLine
	case l.Artifact.Kind != symbol.SourceMap:
	case l.Ranges != p.Ranges: // a map covers each line to its end, so its bytes with a line say little
		return l.Ranges > p.Ranges
	case l.Bytes != p.Bytes:
		return l.Bytes > p.Bytes
	}
	if d := bytes.Compare(l.Digest[:], p.Digest[:]); d != 0 {
		return d < 0
	}
	return cmp.Or(strings.Compare(l.Source.URL, p.Source.URL), strings.Compare(l.Source.Member, p.Source.Member)) < 0
}

// Relation says how a source stands to a published load and its artifact.
type Relation int

// The relations between a source and the published load.
const (
	Own   Relation = iota // both belong to the source's owner: quality decides
	Above                 // both belong to another owner, and the source outranks it
	guest                 // the load is the source's own, the artifact belongs to another owner
	below                 // both belong to another owner, and the source does not outrank it
)

// Relate returns how a source of standing s, with an object at url, stands to p. A load from the same
// URL is the source's own.
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

// Decide returns the verdict on l beside p, which is published, if their owners differ:
//
//	Load     replaces p and takes the artifact over
//	Extend   replaces p and leaves the artifact to its owner
//	Keep     leaves p
//	Confirm  leaves p and takes the artifact over
//	Dispute  leaves p and is a conflict
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

// unowned reports whether p was loaded before sources had owners: it has no layout, and no source claims
// it. A source of a worse format and a higher rank does not replace it.
func unowned(p *row.Loaded) bool {
	return p.Claimed() == (row.Standing{}) && p.Layout == (symbol.Layout{})
}

// Between decides between a new load l and the load that rec publishes. accepted is the digest that
// a person accepted in a conflict ("": none). force replaces pinned loads, too.
func Between(rec *catalog.Record, l *row.Loaded, accepted string, force bool) Verdict {
	p := rec.Published
	if p != nil && !rec.State.Removed() && accepted != "" && accepted == hex.EncodeToString(l.Digest[:]) {
		return Load
	}
	if rec.State.Sticky() && !force {
		return Keep
	}
	if p == nil {
		return Load
	}
	if r := Relate(l.Source.Standing, l.Source.URL, p); r != Own {
		return Decide(r, p, l)
	}
	if record.IsFrom(p, l.Source.URL, l.Source.Member) || force && rec.State.Sticky() || Beats(l, p) {
		return Load
	}
	return Keep
}

// Worse says why l is much worse than the published load p: one of its counts is below the share
// least of p's. "": it is not.
func Worse(p, l *row.Loaded, least float64) string {
	if p == nil || least <= 0 || l.Rank < p.Rank || len(p.WrappedKey) == 0 {
		return ""
	}
	below := func(what string, now, was uint64) string {
		if float64(now) >= least*float64(was) {
			return ""
		}
		return fmt.Sprintf("min_quality %g: %s is %d, and %d in the published load; ingest --force takes it", least, what, now, was)
	}
	if l.Artifact.Kind == symbol.R8 {
		return cmp.Or(below("classes", l.Ranges, p.Ranges), below("members", l.Members, p.Members))
	}
	if l.Quality.WithLine > p.Quality.WithLine {
		return ""
	}
	return cmp.Or(below("bytes with a line", l.Quality.WithLine, p.Quality.WithLine), below("bytes covered", l.Quality.Covered, p.Quality.Covered))
}
