package ingest

import (
	"context"
	"strings"

	"github.com/symlake/symlake/sinks/row"
)

// AddAttempts counts what earlier attempts of the same run did, too: a
// scheduler that retries a run wants one answer for all of them. The ledger
// knows for each object in which run it ended; what an object became is counted once. Of a run that is divided
// into shards, which share its id, a report tells of its own shard.
func (r *Report) AddAttempts(ctx context.Context, c *row.Catalog, srcs []Source, o Options) error {
	count := ObjectCounts{Seen: r.Objects.Seen, Pending: r.Objects.Pending, Gone: r.Objects.Gone, Skipped: map[string]int{}}
	rejected, failed := []Rejection{}, []Rejection(nil)
	err := c.Objects(ctx, "", func(x *row.Object) error {
		if x.Run != r.Run || !inShard(x.URL, srcs, o) {
			return nil
		}
		switch x.State {
		case row.ObjectLoaded:
			count.Loaded++
		case row.ObjectKept:
			count.Kept++
		case row.ObjectSkipped:
			count.Skipped[x.Reason]++
		case row.ObjectRejected:
			count.Rejected++
			rejected = append(rejected, Rejection{x.URL, x.Reason})
		case row.ObjectFailed:
			count.Failed++
			failed = append(failed, Rejection{x.URL, x.Reason})
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

func inShard(url string, srcs []Source, o Options) bool {
	if o.Shards < 2 {
		return true
	}
	for _, s := range srcs {
		if key, ok := strings.CutPrefix(url, urlPrefix(s.Bucket)); ok {
			return ShardOf(key, o.Shards) == o.Shard
		}
	}
	return false
}
