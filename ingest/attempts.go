package ingest

import (
	"context"

	"github.com/symlake/symlake/sinks/row"
)

// AddAttempts counts what earlier attempts of the same run did, too: a
// scheduler that retries a run wants one answer for all of them. The ledger
// knows for each object in which run it ended; what an object became is counted once.
func (r *Report) AddAttempts(ctx context.Context, c *row.Catalog) error {
	count := ObjectCounts{Seen: r.Objects.Seen, Pending: r.Objects.Pending, Gone: r.Objects.Gone, Skipped: map[string]int{}}
	rejected, failed := []Rejection{}, []Rejection(nil)
	err := c.Objects(ctx, "", func(o *row.Object) error {
		if o.Run != r.Run {
			return nil
		}
		switch o.State {
		case row.ObjectLoaded:
			count.Loaded++
		case row.ObjectKept:
			count.Kept++
		case row.ObjectSkipped:
			count.Skipped[o.Reason]++
		case row.ObjectRejected:
			count.Rejected++
			rejected = append(rejected, Rejection{o.URL, o.Reason})
		case row.ObjectFailed:
			count.Failed++
			failed = append(failed, Rejection{o.URL, o.Reason})
		default:
			return nil
		}
		count.New++
		return nil
	})
	if err != nil {
		return err
	}
	count.New += count.Pending
	r.Objects, r.Rejected, r.Failed = count, rejected, failed
	return nil
}
