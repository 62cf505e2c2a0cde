package gc

import (
	"context"
	"sync/atomic"

	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// renewMost bounds the records that one gc writes anew. The next gc goes on where it ended.
	renewMost = 500_000
	// renewPage is the number of records to read before the old ones are written.
	renewPage = 8192
	// renewAtOnce records share a transaction and its sync, in a store that groups them.
	renewAtOnce = 1024
)

// renew writes records of earlier versions anew in the form of today, which takes a quarter of their bytes. After it has been over
// the catalog once, it costs one read. A record that does not open stays as it is: verify names it.
func (g *collector) renew(ctx context.Context) error {
	from, done, err := g.cat.Keys.RenewedTo(ctx)
	for err == nil && !done && g.report.Renewed < renewMost {
		var old []catalog.Stale
		var next []byte
		if old, next, err = g.cat.Keys.Old(ctx, from, renewPage); err != nil {
			return err
		}
		if from, done = next, next == nil; g.DryRun {
			g.report.Renewed += len(old)
			continue
		}
		var renewed atomic.Int64
		parallel.DoMost(renewAtOnce, len(old), func(i int) {
			if _, ok, err := g.cat.Keys.Renew(ctx, old[i]); ok && err == nil {
				renewed.Add(1)
			}
		})
		if err = ctx.Err(); err != nil {
			return err
		}
		g.report.Renewed += int(renewed.Load())
		g.progress("record", g.report.Renewed, 0)
		if len(old) > 0 || done {
			err = g.cat.Keys.SetRenewedTo(ctx, from, done)
		}
	}
	return err
}
