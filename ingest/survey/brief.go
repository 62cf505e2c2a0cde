package survey

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks/catalog"
)

// Brief sums a catalog up from the counters that the store keeps with its writes. So it costs the same for a million
// artifacts as for ten. It equals Take, but for these:
//   - Oldest is a whole second;
//   - of a run it tells Run, Last, Objects, Working and Untold alone;
//   - Last is when an object was tried last, even if a later run has touched that object since.
//
// A store without counters, or with records from before it counted, is read whole by Take.
func Brief(ctx context.Context, c *catalog.Catalog) (*Survey, error) {
	began := time.Now().UTC()
	counts, whole, err := c.Counters.Read(ctx)
	if err != nil {
		return nil, err
	}
	if !whole {
		return Take(ctx, c, nil)
	}
	t := &taking{Survey: &Survey{Taken: began, Kinds: map[string]int{}, Objects: map[string]int{}, Rejects: map[string]int{}}, runs: newRuns()}
	t.addCounts(counts)
	if err := c.Conflicts.Each(ctx, "", t.conflict); err != nil {
		return nil, err
	}
	if err := c.Accounts.Each(ctx, t.account); err != nil {
		return nil, err
	}
	t.Survey.Runs = t.runs.finished()
	t.Took = time.Since(began)
	return t.Survey, nil
}

// addCounts adds the counters of artifacts and objects.
func (t *taking) addCounts(counts map[string]int64) {
	n := func(name string) uint64 { return uint64(max(0, counts[name])) }
	t.Artifacts, t.Loading, t.Obsolete = int(n(catalog.CountArtifacts)), int(n(catalog.CountLoading)), int(n(catalog.CountObsolete))
	t.Ranges, t.Rows, t.Bytes = n(catalog.CountRanges), n(catalog.CountRows), n(catalog.CountBytes)
	t.Quality.Text, t.Quality.Covered = n(catalog.CountText), n(catalog.CountCovered)
	t.Quality.WithLine, t.Quality.WithInline = n(catalog.CountLines), n(catalog.CountInlined)
	oldest := int64(0)
	for name, n := range counts {
		if n <= 0 { // what comes before it may be under way
			continue
		}
		if kind, is := strings.CutPrefix(name, catalog.CountKind); is {
			t.Kinds[kind] = int(n)
		} else if state, is := strings.CutPrefix(name, catalog.CountObjects); is {
			t.Objects[state] = int(n)
		} else if why, is := strings.CutPrefix(name, catalog.CountRejects); is {
			t.Rejects[why] = int(n)
		} else if since, is := strings.CutPrefix(name, catalog.CountBacklog); is {
			t.Backlog += int(n)
			if second, err := strconv.ParseInt(since, 10, 64); err == nil && (t.Oldest.IsZero() || second < oldest) {
				oldest, t.Oldest = second, time.Unix(second, 0).UTC()
			}
		} else if of, is := strings.CutPrefix(name, catalog.CountRun); is {
			state, run, _ := strings.Cut(of, "/")
			t.runs.count(run, state, int(n), time.Unix(0, counts[catalog.CountLast+run]).UTC())
		}
	}
}
