package ingest

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// maxInterrupted is how often an object may have been open when a process died before it gets a process
// of its own.
const maxInterrupted = 3

// isolate takes an object in a process of its own. If that process dies, too, the object is to blame.
func (j *job) isolate(ctx context.Context, t *discover.Task) error {
	if j.late() || j.o.Limit > 0 && j.taken >= j.o.Limit {
		return j.leaveAll(ctx, []*discover.Task{t})
	}
	j.taken++
	if j.o.DryRun {
		return j.work(ctx, []*discover.Task{t}, 1)
	}
	if err := j.openAccount(ctx); err != nil {
		return err
	}
	ours, errs := j.journal.Begin(ctx, []*discover.Task{t})
	if errs[0] != nil || !ours[0] {
		return errs[0]
	}
	var child *report.Report
	died := fmt.Errorf("open when %d processes died", t.Ledger.Interrupted)
	if j.o.Isolate != nil {
		child, died = j.o.Isolate(ctx, t.URL)
	}
	now, err := j.cat.Ledger.Get(ctx, t.URL)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return j.leaveAll(ctx, []*discover.Task{t})
	case now == nil || now.Owner == (row.WorkerID{}): // it ended, as the ledger says
		if now != nil {
			j.adopt(child, t, now)
		}
		return nil
	case now.Owner == j.o.Worker && j.o.Isolate != nil: // it did not come so far as to open the object
		if died == nil {
			died = fmt.Errorf("its process did not take it")
		}
		j.stop(fmt.Errorf("ingest %s in a process of its own: %w", t.URL, died))
		return j.leaveAll(ctx, []*discover.Task{t})
	}
	if died == nil {
		died = fmt.Errorf("it ended without a word")
	}
	if now.Owner != j.o.Worker {
		if _, err := j.crew.Judge(ctx, now.Owner); err != nil {
			return err
		}
	}
	o := j.journal.Entry(t, catalog.ObjectRejected)
	o.Reason, o.Attempts, o.By = fmt.Sprintf("%s: %v", ledger.ReasonCrashed, died), 0, j.journal.Account
	if err := j.journal.Rename(ctx, t.Named, o); err != nil {
		return err
	}
	ok, err := j.journal.Write(ctx, now, o)
	if err == nil && ok {
		j.count(o, nil, []report.Rejection{{URL: t.URL, Error: o.Reason}})
	}
	return err
}

// adopt counts what a child did as this process's own. An object that was derived again was counted
// before, unless it is rejected now.
func (j *job) adopt(child *report.Report, t *discover.Task, o *catalog.Object) {
	var rejected []report.Rejection
	if child != nil {
		j.tally.Write(func(r *report.Report) { r.AddChild(child) })
		for _, n := range child.Wanted {
			j.publisher.Wanted.Arrive(n.Name)
		}
		rejected = child.Rejected
	}
	if !t.Rederive || o.State == catalog.ObjectRejected {
		j.count(o, nil, rejected)
	}
}

// takeSuspects takes objects that were open when a process died: each alone, with nothing else
// unfinished, so that the next death has one culprit. After maxInterrupted deaths an object gets a
// process of its own.
func (j *job) takeSuspects(ctx context.Context, suspects []*discover.Task) error {
	for _, t := range suspects {
		if t.Ledger.Interrupted+1 >= maxInterrupted && !j.o.Isolated {
			if err := j.isolate(ctx, t); err != nil {
				return err
			}
			continue
		}
		if err := j.work(ctx, []*discover.Task{t}, 1); err != nil {
			return err
		}
	}
	return nil
}
