// Package survey reads a catalog once and sums it up: sizes, the backlog, and the work of runs.
//
// The command status prints a survey. The server keeps one for the pages of its readers.
//
// Invariants:
//   - a survey reads each record once, in the order of the store, and writes nothing;
//   - its memory does not depend on the size of the store: reasons are kinds, and runs are bounded.
package survey

import (
	"context"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
)

// Survey sums a catalog up.
type Survey struct {
	Taken time.Time // when it began
	Took  time.Duration
	Read  int // records

	Artifacts int            // with a published load
	Kinds     map[string]int // these artifacts by kind
	Loading   int            // loads in progress, abandoned ones too until gc
	Obsolete  int            // loads that were replaced or never published: gc removes their rows
	Ranges    uint64
	Rows      uint64
	Bytes     uint64 // sealed rows of published loads
	// Quality sums the published loads that know how much code there is.
	Quality symbol.Quality

	Objects map[string]int // by state
	Backlog int            // objects that are listed and not done
	// Oldest is when the first of the backlog was seen; zero: there is none.
	Oldest    time.Time
	Rejects   map[string]int // rejected objects by kind of reason
	Conflicts int            // between owners of sources, not settled
	Untold    int            // processes that ended without telling their report
	Runs      []*Run         // newest first
}

// Lag returns the age of the oldest object of the backlog.
func (s *Survey) Lag(now time.Time) time.Duration {
	if s.Oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(s.Oldest))
}

// taking is a survey on its way.
type taking struct {
	*Survey
	runs *runs
	tell func(read int)
}

// Take reads the catalog. tell is called with the number of records read so far (nil: it is not).
func Take(ctx context.Context, c *catalog.Catalog, tell func(read int)) (*Survey, error) {
	began := time.Now().UTC()
	t := &taking{Survey: &Survey{Taken: began, Kinds: map[string]int{}, Objects: map[string]int{}, Rejects: map[string]int{}}, runs: newRuns(), tell: tell}
	err := c.Artifacts.Each(ctx, t.artifact)
	if err == nil {
		err = c.Conflicts.Each(ctx, "", t.conflict)
	}
	if err == nil {
		err = c.Ledger.Each(ctx, "", t.object)
	}
	if err == nil {
		err = c.Accounts.Each(ctx, t.account)
	}
	if err != nil {
		return nil, err
	}
	t.Survey.Runs = t.runs.finished()
	t.Took = time.Since(began)
	return t.Survey, nil
}

func (t *taking) count() {
	if t.Read++; t.tell != nil {
		t.tell(t.Read)
	}
}

func (t *taking) artifact(r *catalog.Record) error {
	t.count()
	loading := r.Loading()
	t.Loading += loading
	t.Obsolete += len(r.Progress) - loading
	l := r.Published
	if l == nil {
		return nil
	}
	t.Artifacts++
	t.Kinds[string(l.Artifact.Kind)]++
	t.Ranges += l.Ranges
	t.Rows += l.Rows
	t.Bytes += l.Bytes
	if q := &l.Quality; q.Text > 0 {
		t.Quality.Text += q.Text
		t.Quality.Covered += min(q.Covered, q.Text)
		t.Quality.WithLine += min(q.WithLine, q.Text)
		t.Quality.WithInline += min(q.WithInline, q.Text)
	}
	return nil
}

func (t *taking) conflict(c *catalog.Conflict) error {
	t.count()
	if c.Accepted.IsZero() {
		t.Conflicts++
	}
	return nil
}

func (t *taking) object(o *catalog.Object) error {
	t.count()
	t.Objects[string(o.State)]++
	if o.InBacklog() {
		t.Backlog++
		if t.Oldest.IsZero() || o.First.Before(t.Oldest) {
			t.Oldest = o.First
		}
	}
	if o.State == catalog.ObjectRejected {
		t.Rejects[catalog.ReasonKind(o.Reason)]++
	}
	t.runs.object(o)
	return nil
}

func (t *taking) account(a *catalog.Account) error {
	t.count()
	if !a.Ended.IsZero() && a.Told.IsZero() {
		t.Untold++
	}
	t.runs.account(a)
	return nil
}
