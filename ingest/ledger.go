package ingest

import (
	"context"
	"errors"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

// note puts an object's ledger entry to next. False: somebody else has
// changed it meanwhile, so it is theirs.
func (j *job) note(ctx context.Context, old, next *catalog.Object) (bool, error) {
	if j.o.DryRun {
		return true, nil
	}
	err := j.cat.Ledger.Swap(ctx, old, next)
	if err == nil {
		return true, nil
	}
	// The answer may have been lost, or may be about our own write before.
	now, rerr := j.cat.Ledger.Get(ctx, next.URL)
	if rerr != nil {
		return false, err
	}
	if now != nil && now.State == next.State && now.ETag == next.ETag && now.Run == next.Run && now.Owner == next.Owner && now.Last.Equal(next.Last) {
		*next = *now
		return true, nil
	}
	if errors.Is(err, sinks.ErrConflict) {
		return false, nil
	}
	return false, err
}

// entry is the ledger's entry of a task in a new state.
func (j *job) entry(t *discover.Task, s catalog.ObjectState) *catalog.Object {
	now := j.o.Now()
	o := &catalog.Object{URL: t.URL, ETag: t.Entry.ETag, Size: t.Entry.Size, Modified: t.Entry.Modified,
		State: s, First: now, Last: now, Run: j.o.Run, By: j.by(), Standing: t.Source.Standing()}
	if t.Ledger != nil {
		o.First = t.Ledger.First
		if t.Ledger.ETag == t.Entry.ETag {
			o.Attempts, o.Interrupted, o.Parsers, o.Artifacts, o.App = t.Ledger.Attempts, t.Ledger.Interrupted, t.Ledger.Parsers, t.Ledger.Artifacts, t.Ledger.App
		}
	}
	if t.Rederive && t.Ledger != nil {
		o.By = t.Ledger.By // its outcome was counted when it was new
	}
	if s == catalog.ObjectLoading || s == catalog.ObjectPublished {
		o.Owner, o.Again = j.worker, t.Rederive
	}
	return o
}

// begin notes that t is about to be opened.
func (j *job) begin(ctx context.Context, t *discover.Task) (bool, error) {
	if old := t.Ledger; old != nil && old.Again && old.ETag == t.Entry.ETag {
		t.Rederive = true // it was counted before a process died that derived it again
	}
	o := j.entry(t, catalog.ObjectLoading)
	if t.Ledger != nil {
		t.Heir, t.Seen = t.Ledger.Owner, true
	}
	if t.Suspect {
		o.Interrupted = t.Ledger.Interrupted + 1
	}
	ok, err := j.note(ctx, t.Ledger, o)
	if ok && !j.o.DryRun {
		t.Before, t.Ledger, t.Begun = t.Ledger, o, true
	}
	return ok, err
}

// rename adds or removes an object's names after its state went from old to now.
func (j *job) rename(ctx context.Context, before bool, o *catalog.Object) error {
	if j.o.DryRun {
		return nil
	}
	return ledger.UpdateNames(ctx, j.cat, before, o)
}

// leave notes that a task was not got to.
func (j *job) leave(ctx context.Context, t *discover.Task) error {
	if t.Ledger != nil && t.Ledger.ETag == t.Entry.ETag && t.Ledger.State == catalog.ObjectPending {
		return nil
	}
	if was := t.Before; was != nil && was.ETag == t.Entry.ETag {
		switch was.State {
		case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectConflict, catalog.ObjectSkipped, catalog.ObjectRejected: // it was to be done again, and is as it was
			next := *was
			_, err := j.note(ctx, t.Ledger, &next)
			return err
		}
	} else if !t.Begun && t.Ledger != nil && t.Ledger.ETag == t.Entry.ETag && t.Ledger.State != catalog.ObjectFailed {
		return nil
	}
	before := t.Named
	o := j.entry(t, catalog.ObjectPending)
	if t.Begun && t.Suspect {
		o.Interrupted-- // this time nothing died
	}
	// Names first: who finds them before the entry finds nothing yet.
	if err := j.rename(ctx, before, o); err != nil {
		return err
	}
	_, err := j.note(ctx, t.Ledger, o)
	return err
}

// vanish notes that an object is no longer listed. Its loads stay.
func (j *job) vanish(ctx context.Context, old *catalog.Object) error {
	o := *old
	o.State, o.Reason, o.Last, o.Run = catalog.ObjectGone, "", j.o.Now(), j.o.Run
	o.By = j.by()
	if ok, err := j.note(ctx, old, &o); err != nil || !ok {
		return err
	}
	return j.rename(ctx, ledger.IsNamed(old), &o)
}
