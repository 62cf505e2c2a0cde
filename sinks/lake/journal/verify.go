package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks/bucket"
)

// Verify reads all entries and checkpoints that there are, and calls problem for each fault. It fails if ctx ends or the
// bucket cannot be listed.
func (l *Log) Verify(ctx context.Context, problem func(error)) error {
	end, err := l.State(ctx, 0)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		problem(err)
	}
	var forgotten uint64
	if err == nil {
		forgotten = end.Forgotten
	}
	macs := map[uint64]MAC{}
	var last Tail
	err = l.Bucket.List(ctx, EntryDir, "", func(of bucket.Entry) error {
		n, ok := EntryNumber(of.Key)
		if !ok {
			return nil
		}
		e, err := l.entry(ctx, of)
		switch {
		case errors.Is(err, bucket.ErrNotFound): // a compaction deleted it meanwhile
			return ctx.Err()
		case err != nil:
			problem(err)
			last = Tail{Number: n}
			return ctx.Err()
		}
		switch {
		case n == last.Number+1 && (last.Lake != "" || n == 1):
			if err := l.follows(last, e); err != nil {
				problem(err)
			}
		case n > last.Number+1 && n > forgotten+1:
			problem(l.missing(max(last.Number, forgotten)+1, n))
		}
		macs[n], last = e.MAC, last.To(e)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return l.Bucket.List(ctx, CheckpointDir, "", func(of bucket.Entry) error {
		n, ok := CheckpointNumber(of.Key)
		if !ok {
			return nil
		}
		c, err := l.ReadCheckpoint(ctx, n)
		if m, there := macs[n]; err == nil && there && m != c.Entry {
			err = l.broken(of.Key, fmt.Errorf("it is a checkpoint of another entry %d", n))
		}
		if err != nil && !errors.Is(err, bucket.ErrNotFound) {
			problem(err)
		}
		return ctx.Err()
	})
}
