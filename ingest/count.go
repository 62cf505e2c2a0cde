package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/scratch"
)

const (
	// maxFailures is how many objects may fail one after the other: then the environment is to blame,
	// and the run stops.
	maxFailures = 5
	// maxUnread bounds the objects that could not be read and are counted at the end.
	maxUnread = 1 << 16
	// maxAttempts is in how many runs an object may fail before it is quarantined.
	maxAttempts = 3
)

// countEnded counts an object that has ended. err says why its ledger entry o was not written.
func (j *job) countEnded(x *outcome.Object, o *catalog.Object, err error) {
	t := x.Task
	if errors.Is(x.Err(), scratch.ErrDisk) && o.State == catalog.ObjectPending && err == nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.big = append(j.big, &discover.Task{Source: t.Source, Entry: t.Entry, URL: t.URL, Ledger: t.Ledger, Sidecar: t.Sidecar, Named: t.Named})
		return
	}
	if o.State == catalog.ObjectFailed && err == nil && failure.IsObjects(x.Err()) {
		j.mu.Lock()
		if len(j.unread) < maxUnread {
			j.unread = append(j.unread, t)
		}
		j.mu.Unlock()
	}
	j.tally.Write(func(r *report.Report) {
		x.AddTo(r)
		r.Bytes.Read += o.Size
	})

	rejected := report.Rejected(o)
	if t.Rederive && err == nil && o.State != catalog.ObjectFailed && !x.NewlyRejected(o) {
		// A report counted it when it was new, with the rejections of that time.
		if t.Before != nil {
			told := report.Rejected(t.Before)
			rejected = slices.DeleteFunc(rejected, func(r report.Rejection) bool { return slices.Contains(told, r) })
		}
		j.tally.Write(func(r *report.Report) { r.Append(&r.Rejected, rejected...) })
		return
	}
	j.count(o, err, rejected)
}

// count counts an object by its state, and stops the run after too many failures.
func (j *job) count(o *catalog.Object, err error, rejected []report.Rejection) {
	state, reason := o.State, o.Reason
	if err != nil && state != catalog.ObjectPending {
		state, reason = catalog.ObjectFailed, err.Error()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	known := 0
	j.tally.Write(func(r *report.Report) {
		r.CountObject(o.URL, state, reason, rejected)
		known = r.Objects.New
	})

	if state == catalog.ObjectFailed {
		if j.failures++; j.failures >= maxFailures {
			j.stop(fmt.Errorf("%d objects failed one after the other, the last one %s: %s", j.failures, o.URL, reason))
		}
	} else {
		j.failures = 0
	}
	j.ended++
	j.bytes += o.Size
	if j.o.Progress != nil {
		j.o.Progress(Event{URL: o.URL, State: state, Reason: reason, Done: j.ended, Total: known, Bytes: j.bytes})
	}
}

// countUnread counts a failed run for each object that could not be read, and quarantines the objects
// that failed in too many runs. A run that the environment stopped does not count.
func (j *job) countUnread(ctx context.Context) error {
	return parallel.Each(j.unread, func(t *discover.Task) error {
		old := t.Ledger
		if old == nil || old.State != catalog.ObjectFailed {
			return nil
		}
		next := *old
		if next.Attempts++; next.Attempts >= maxAttempts {
			next.State, next.Reason = catalog.ObjectRejected, fmt.Sprintf("failed in %d runs, last: %s", next.Attempts, old.Reason)
		}
		ok, err := j.journal.Write(ctx, old, &next)
		if err != nil || !ok || next.State != catalog.ObjectRejected {
			return err
		}
		j.tally.Write(func(r *report.Report) {
			r.Objects.Failed--
			r.Objects.Rejected++
			r.DropFailed(next.URL)
			r.Append(&r.Rejected, report.Rejection{URL: next.URL, Error: next.Reason})
		})
		return nil
	})
}
