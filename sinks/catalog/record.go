package catalog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// State says how an artifact's record may change. Durable.
type State string

// The states of a record.
const (
	Live      State = "live"      // readers get Published; ingest may replace it
	Pinned    State = "pinned"    // rolled back: only a forced ingest replaces it
	Shredded  State = "shredded"  // a person destroyed its keys
	Forgotten State = "forgotten" // a person removed it: the empty record keeps it from coming back
)

// Sticky reports whether only a forced ingest replaces the record's load.
func (s State) Sticky() bool { return s == Pinned || s.Removed() }

// Removed reports whether a person took the artifact away.
func (s State) Removed() bool { return s == Shredded || s == Forgotten }

// Record holds all that a store knows of one artifact. Publishing a load is one swap of it.
type Record struct {
	ID        symbol.ID
	State     State
	Published *row.Loaded // nil: no load was published yet
	Previous  *row.Loaded // kept for a rollback; nil: none
	Progress  []Progress
	// Names are all names of the artifact, also those from its configuration (APP@BUILD). The "n"
	// records can be made anew from them.
	Names []symbol.Name

	stored
}

// HasName reports whether the artifact has a name of that kind, in any case.
func (r *Record) HasName(kind symbol.NameKind, text string) bool {
	return slices.ContainsFunc(r.Names, func(n symbol.Name) bool { return n.Kind == kind && strings.EqualFold(n.Text, text) })
}

// Owners of the entries of loads that are not under way any more: gc removes both.
const (
	Superseded = "superseded" // it was replaced, or never published
	Doomed     = "gc"         // gc drops its rows. If its maker lives after all, it can no longer publish the load
)

// The counters of artifacts' records. CountKind has the kind of the published load behind it.
const (
	CountRecords   = "records"
	CountArtifacts = "artifacts" // with a published load
	CountKind      = "kind/"
	CountLoading   = "loading"  // loads in progress
	CountObsolete  = "obsolete" // loads for gc
	CountEmpty     = "empty"    // records that hold no load
	// CountLoads sums the loads that have rows by their records, as sinks.CountStored does by the rows. CountNamed sums the
	// keys of the names that records have.
	CountLoads   = "loads"
	CountNamed   = "named"
	CountRanges  = "ranges" // of published loads, like the rest
	CountRows    = "rows"
	CountBytes   = "bytes"
	CountText    = "text" // bytes of code
	CountCovered = "covered"
	CountLines   = "lines"
	CountInlined = "inlined"
	CountWrapped = "wrapped/" // data keys that a version of the store key wraps, with the version behind it
)

// keyed returns the loads that have a data key.
func (r *Record) keyed() (list []*row.Loaded) {
	for _, l := range []*row.Loaded{r.Published, r.Previous} {
		if l != nil && len(l.WrappedKey) > 0 {
			list = append(list, l)
		}
	}
	return list
}

// Loading counts the loads that are in progress.
func (r *Record) Loading() (n int) {
	for _, p := range r.Progress {
		if p.Loads() {
			n++
		}
	}
	return n
}

// Obsolete counts the entries of loads that wait for gc. CountObsolete sums them up.
func (r *Record) Obsolete() int { return len(r.Progress) - r.Loading() }

// IsLoadless reports whether a record has no published load and no entry. CountEmpty counts such records.
func (r *Record) IsLoadless() bool { return r.Published == nil && len(r.Progress) == 0 }

// HasGarbage reports whether gc has work at a record. It has none at a nil record.
func (r *Record) HasGarbage() bool { return r != nil && (r.Obsolete() > 0 || r.IsLoadless()) }

func (r *Record) counts(n records, add func(sinks.Count)) error {
	add(sinks.Count{Name: CountRecords, By: 1})
	for _, l := range []*row.Loaded{r.Published, r.Previous} {
		if l != nil && l.Bytes > 0 && len(l.WrappedKey) > 0 {
			add(sinks.Count{Name: CountLoads, By: sinks.Sum(row.LoadPrefix(r.ID, l.Load))})
		}
	}
	for _, l := range r.keyed() {
		add(sinks.Count{Name: CountWrapped + strconv.FormatUint(uint64(l.KeyVersion), 10), By: 1})
	}
	keys := make(map[string]bool, len(r.Names)) // unlike kinds of names may be one text
	for _, name := range r.Names {
		if key := string(n.nameKey(name.Text, r.ID)); !keys[key] {
			keys[key] = true
			add(countKey(CountNamed, []byte(key)))
		}
	}
	add(sinks.Count{Name: CountLoading, By: int64(r.Loading())})
	add(sinks.Count{Name: CountObsolete, By: int64(r.Obsolete())})
	if r.IsLoadless() {
		add(sinks.Count{Name: CountEmpty, By: 1})
	}
	l := r.Published
	if l == nil {
		return nil
	}
	add(sinks.Count{Name: CountArtifacts, By: 1})
	add(sinks.Count{Name: CountKind + string(l.Artifact.Kind), By: 1})
	add(sinks.Count{Name: CountRanges, By: int64(l.Ranges)})
	add(sinks.Count{Name: CountRows, By: int64(l.Rows)})
	add(sinks.Count{Name: CountBytes, By: int64(l.Bytes)})
	if q := &l.Quality; q.Text > 0 {
		add(sinks.Count{Name: CountText, By: int64(q.Text)})
		add(sinks.Count{Name: CountCovered, By: int64(min(q.Covered, q.Text))})
		add(sinks.Count{Name: CountLines, By: int64(min(q.WithLine, q.Text))})
		add(sinks.Count{Name: CountInlined, By: int64(min(q.WithInline, q.Text))})
	}
	return nil
}

// Progress is a load under way. Any process may remove it once its lease is over.
type Progress struct {
	Load  sinks.Load
	Owner string
	Lease time.Time
}

// Loads reports whether the load is in progress. The other entries wait for gc.
func (p Progress) Loads() bool { return p.Owner != Superseded && p.Owner != Doomed }
