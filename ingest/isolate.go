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

// isolate takes an object in a process of its own. Only if that dies, too, is the object to blame.
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
	ours, err := j.begin(ctx, t)
	if err != nil || !ours {
		return err
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
	case now.Owner == j.worker && j.o.Isolate != nil: // it did not come so far as to open the object
		if died == nil {
			died = fmt.Errorf("its process did not take it")
		}
		j.stop(fmt.Errorf("ingest %s in a process of its own: %w", t.URL, died))
		return j.leaveAll(ctx, []*discover.Task{t})
	}
	if died == nil {
		died = fmt.Errorf("it ended without a word")
	}
	if now.Owner != j.worker {
		if _, err := j.crew.Judge(ctx, now.Owner); err != nil {
			return err
		}
	}
	o := j.entry(t, catalog.ObjectRejected)
	o.Reason, o.Attempts, o.By = fmt.Sprintf("%s: %v", ledger.ReasonCrashed, died), 0, j.by()
	if err := j.rename(ctx, t.Named, o); err != nil {
		return err
	}
	ok, err := j.note(ctx, now, o)
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
		j.mu.Lock()
		r := j.report
		r.Artifacts += child.Artifacts
		r.IDs = report.UpTo(r.IDs, child.IDs, report.MaxListed)
		r.Wanted = report.UpTo(r.Wanted, child.Wanted, report.MaxListed)
		for _, n := range child.Wanted {
			j.wanted.Arrive(n.Name)
		}
		r.Ranges += child.Ranges
		r.Classes += child.Classes
		r.Bytes.Read += child.Bytes.Read
		r.Bytes.Stored += child.Bytes.Stored
		r.Bytes.Lake += child.Bytes.Lake
		r.Append(&r.Warnings, child.Warnings...)
		r.Append(&r.Held, child.Held...)
		r.AddConflicts(child.Conflicts...)
		r.LakeFiles = append(r.LakeFiles, child.LakeFiles...)
		j.mu.Unlock()
		rejected = child.Rejected
	}
	if !t.Rederive || o.State == catalog.ObjectRejected {
		j.count(o, nil, rejected)
	}
}

// doubtful takes objects that were open when a process died, each alone with nothing else unfinished, so that the
// next death has one culprit. One that was there too often gets a process of its own.
func (j *job) doubtful(ctx context.Context, suspects []*discover.Task) error {
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
