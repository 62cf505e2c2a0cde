package publish

import (
	"context"

	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
)

// PublishTables brings the lake's Iceberg tables up to the run. What the run loaded stays published if a catalog refuses: the
// report names the tables that are behind, and the next run brings them up.
func (p *Publisher) PublishTables(ctx context.Context) error {
	if p.Lake == nil || p.DryRun {
		return nil
	}
	within, end := p.Tally.Begin(ctx, report.StageTables, "")
	tables, err := projection.Publish(within, p.Lake, sinks.LakePublish{Run: p.Journal.Run})
	end(err)
	p.Tally.Write(func(r *report.Report) {
		for _, t := range tables {
			if t.Behind != "" {
				r.Append(&r.TablesBehind, report.Rejection{URL: t.Table, Error: t.Behind})
			}
		}
	})
	return err
}
