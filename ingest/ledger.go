package ingest

import (
	"context"
	"errors"

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
	err := j.cat.SwapObject(ctx, old, next)
	if err == nil {
		return true, nil
	}
	// The answer may have been lost, or may be about our own write before.
	now, rerr := j.cat.Object(ctx, next.URL)
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
func (j *job) entry(t *task, s catalog.ObjectState) *catalog.Object {
	now := j.o.Now()
	o := &catalog.Object{URL: t.url, ETag: t.entry.ETag, Size: t.entry.Size, Modified: t.entry.Modified,
		State: s, First: now, Last: now, Run: j.o.Run, By: j.by(), Standing: t.src.standing()}
	if t.old != nil {
		o.First = t.old.First
		if t.old.ETag == t.entry.ETag {
			o.Attempts, o.Interrupted, o.Parsers, o.Artifacts, o.App = t.old.Attempts, t.old.Interrupted, t.old.Parsers, t.old.Artifacts, t.old.App
		}
	}
	if t.rederive && t.old != nil {
		o.By = t.old.By // its outcome was counted when it was new
	}
	if s == catalog.ObjectLoading || s == catalog.ObjectPublished {
		o.Owner, o.Again = j.worker, t.rederive
	}
	return o
}

// begin notes that t is about to be opened.
func (j *job) begin(ctx context.Context, t *task) (bool, error) {
	if old := t.old; old != nil && old.Again && old.ETag == t.entry.ETag {
		t.rederive = true // it was counted before a process died that derived it again
	}
	o := j.entry(t, catalog.ObjectLoading)
	if t.old != nil {
		t.heir, t.seen = t.old.Owner, true
	}
	if t.suspect {
		o.Interrupted = t.old.Interrupted + 1
	}
	ok, err := j.note(ctx, t.old, o)
	if ok && !j.o.DryRun {
		t.was, t.old, t.begun = t.old, o, true
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
func (j *job) leave(ctx context.Context, t *task) error {
	if t.old != nil && t.old.ETag == t.entry.ETag && t.old.State == catalog.ObjectPending {
		return nil
	}
	if was := t.was; was != nil && was.ETag == t.entry.ETag {
		switch was.State {
		case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectConflict, catalog.ObjectSkipped, catalog.ObjectRejected: // it was to be done again, and is as it was
			next := *was
			_, err := j.note(ctx, t.old, &next)
			return err
		}
	} else if !t.begun && t.old != nil && t.old.ETag == t.entry.ETag && t.old.State != catalog.ObjectFailed {
		return nil
	}
	before := t.IsNamed
	o := j.entry(t, catalog.ObjectPending)
	if t.begun && t.suspect {
		o.Interrupted-- // this time nothing died
	}
	// Names first: who finds them before the entry finds nothing yet.
	if err := j.rename(ctx, before, o); err != nil {
		return err
	}
	_, err := j.note(ctx, t.old, o)
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
