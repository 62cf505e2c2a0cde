package ingest

import (
	"context"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/outbox"
	"github.com/symlake/symlake/sinks/row"
)

// Outbox returns the outbox of o's store, which tells the reports of runs.
func Outbox(o Options) *outbox.Outbox { return newJob(o).outbox }

// tells reports whether this process has an account of its own.
func (j *job) tells() bool {
	return !j.o.DryRun && j.o.Teller == (row.WorkerID{})
}

// openAccount enters this process in the outbox, before its first object is noted.
func (j *job) openAccount(ctx context.Context) error {
	if !j.tells() {
		return nil
	}
	return j.outbox.Open(ctx, j.report)
}

// closeAccount writes the report and the error that ended the run into the outbox. Then it strikes
// the wanted names that came.
func (j *job) closeAccount(ctx context.Context, ended error) error {
	if j.report.Account == "" {
		return nil
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = ledger.Detached(ctx)
		defer cancel()
	}
	r := *j.report
	if ended != nil {
		r.Error = ended.Error()
	}
	if err := j.outbox.Close(ctx, &r); err != nil {
		return err
	}
	return j.publisher.Wanted.Strike(ctx, j.cat)
}
