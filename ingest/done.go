package ingest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/scratch"
)

// done counts an object that has ended. err: its ledger entry was not written.
func (j *job) done(x *object, o *catalog.Object, err error) {
	if errors.Is(x.err, scratch.ErrDisk) && o.State == catalog.ObjectPending && err == nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.big = append(j.big, &discover.Task{Source: x.t.Source, Entry: x.t.Entry, URL: x.t.URL, Ledger: x.t.Ledger, Sidecar: x.t.Sidecar, Named: x.t.Named})
		return
	}
	if o.State == catalog.ObjectFailed && err == nil && isObjects(x.err) {
		j.mu.Lock()
		if len(j.unread) < maxUnread {
			j.unread = append(j.unread, x.t)
		}
		j.mu.Unlock()
	}
	rejected := report.Rejected(o)
	j.mu.Lock()
	r := j.report
	r.Artifacts += len(x.published)
	r.AddArtifacts(x.published...)
	r.Ranges += x.ranges
	r.Classes += x.classes
	r.Append(&r.Warnings, x.warnings...)
	r.Bytes.Stored += x.stored
	r.Bytes.Read += o.Size
	for _, c := range x.conflicts {
		r.AddConflicts(report.NewConflict(c))
	}
	j.mu.Unlock()
	if x.t.Rederive && err == nil && o.State != catalog.ObjectFailed && !x.fell(o) {
		// It was counted when it was new, with what was rejected of it then.
		if x.t.Before != nil {
			told := report.Rejected(x.t.Before)
			rejected = slices.DeleteFunc(rejected, func(r report.Rejection) bool { return slices.Contains(told, r) })
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		r.Append(&r.Rejected, rejected...)
		return
	}
	j.count(o, err, rejected)
}

// fell reports whether x, which was counted when it was new, is rejected now and was not before.
func (x *object) fell(o *catalog.Object) bool {
	return o.State == catalog.ObjectRejected && (x.t.Before == nil || x.t.Before.State != catalog.ObjectRejected)
}

func (j *job) count(o *catalog.Object, err error, rejected []report.Rejection) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.report
	state, reason := o.State, o.Reason
	if err != nil && state != catalog.ObjectPending {
		state, reason = catalog.ObjectFailed, err.Error()
	}
	switch state {
	case catalog.ObjectLoaded:
		r.Objects.Loaded++
	case catalog.ObjectKept:
		r.Objects.Kept++
	case catalog.ObjectConflict:
		r.Objects.Conflict++
	case catalog.ObjectSkipped:
		r.Objects.Skipped[ledger.ShortReason(reason)]++
	case catalog.ObjectRejected:
		r.Objects.Rejected++
	case catalog.ObjectPending:
		r.Objects.Pending++
	case catalog.ObjectGone:
		r.Objects.Gone++
	case catalog.ObjectFailed:
		r.Objects.Failed++
		r.Append(&r.Failed, report.Rejection{URL: o.URL, Error: reason})
	}
	if state != catalog.ObjectFailed && state != catalog.ObjectPending {
		r.Append(&r.Rejected, rejected...)
	}
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
		j.o.Progress(Event{URL: o.URL, State: state, Reason: reason, Done: j.ended, Total: r.Objects.New, Bytes: j.bytes})
	}
}
