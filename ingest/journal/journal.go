// Package journal writes into the ledger what a run does with its tasks.
package journal

import (
	"context"
	"errors"
	"time"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Journal writes the ledger's entries of a run. Several goroutines may use it, each for another task.
type Journal struct {
	Catalog *catalog.Catalog
	Run     string
	Worker  row.WorkerID // has the objects at work
	Account row.WorkerID // tells what this run does
	Now     func() time.Time
	DryRun  bool // nothing is written
}

// Write puts an object's entry from old to next. ok is false if another process has changed it
// meanwhile: then the object belongs to that process.
func (j *Journal) Write(ctx context.Context, old, next *catalog.Object) (ok bool, err error) {
	if j.DryRun {
		return true, nil
	}
	if err = j.Catalog.Ledger.Swap(ctx, old, next); err == nil {
		return true, nil
	}
	return j.settle(ctx, next, err)
}

// WriteAll writes the entries of unlike objects as Write does, in one request.
func (j *Journal) WriteAll(ctx context.Context, changes []catalog.Change[catalog.Object]) (ok []bool, errs []error) {
	ok, errs = make([]bool, len(changes)), make([]error, len(changes))
	var swapped []error
	if !j.DryRun {
		swapped = j.Catalog.Ledger.SwapAll(ctx, changes)
	}
	for i, c := range changes {
		if ok[i] = j.DryRun || swapped[i] == nil; !ok[i] {
			ok[i], errs[i] = j.settle(ctx, c.New, swapped[i])
		}
	}
	return ok, errs
}

// settle tells what became of a swap to next that ended with err.
func (j *Journal) settle(ctx context.Context, next *catalog.Object, err error) (ok bool, _ error) {
	// The store's answer may be lost, or tell of this worker's own write before.
	now, rerr := j.Catalog.Ledger.Get(ctx, next.URL)
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

// Entry returns the entry of a task in a new state.
func (j *Journal) Entry(t *discover.Task, s catalog.ObjectState) *catalog.Object {
	now := j.Now()
	o := &catalog.Object{URL: t.URL, ETag: t.Entry.ETag, Size: t.Entry.Size, Modified: t.Entry.Modified,
		State: s, First: now, Last: now, Run: j.Run, By: j.Account, Standing: t.Source.Standing()}
	if t.Ledger != nil {
		o.First = t.Ledger.First
		if t.Ledger.ETag == t.Entry.ETag {
			o.Attempts, o.Interrupted, o.Parsers, o.Artifacts, o.App = t.Ledger.Attempts, t.Ledger.Interrupted, t.Ledger.Parsers, t.Ledger.Artifacts, t.Ledger.App
		}
	}
	if t.Rederive && t.Ledger != nil {
		o.By = t.Ledger.By // a report counted its outcome when it was new
	}
	if s == catalog.ObjectLoading || s == catalog.ObjectPublished {
		o.Owner, o.Again = j.Worker, t.Rederive
	}
	return o
}

// Begin notes that the run is about to open the objects of tasks, in one request. ok is false if another process has the
// object.
func (j *Journal) Begin(ctx context.Context, tasks []*discover.Task) (ok []bool, errs []error) {
	changes := make([]catalog.Change[catalog.Object], len(tasks))
	for i, t := range tasks {
		changes[i] = catalog.Change[catalog.Object]{Old: t.Ledger, New: j.beginning(t)}
	}
	ok, errs = j.WriteAll(ctx, changes)
	for i, t := range tasks {
		if ok[i] && !j.DryRun {
			t.Before, t.Ledger, t.Begun = t.Ledger, changes[i].New, true
		}
	}
	return ok, errs
}

// beginning returns the entry of an object that is about to be opened.
func (j *Journal) beginning(t *discover.Task) *catalog.Object {
	if old := t.Ledger; old != nil && old.Again && old.ETag == t.Entry.ETag {
		t.Rederive = true // a report counted it before a process died that derived it again
	}
	o := j.Entry(t, catalog.ObjectLoading)
	if t.Ledger != nil {
		t.Heir, t.Seen = t.Ledger.Owner, true
	}
	if t.Suspect {
		o.Interrupted = t.Ledger.Interrupted + 1
	}
	return o
}

// Rename adds or removes an object's names after it changed to the state of o. before: it had its
// names.
func (j *Journal) Rename(ctx context.Context, before bool, o *catalog.Object) error {
	if j.DryRun {
		return nil
	}
	return ledger.UpdateNames(ctx, j.Catalog, before, o)
}

// Leave notes that the run did not get to a task.
func (j *Journal) Leave(ctx context.Context, t *discover.Task) error {
	if t.Ledger != nil && t.Ledger.ETag == t.Entry.ETag && t.Ledger.State == catalog.ObjectPending {
		return nil
	}
	if was := t.Before; was != nil && was.ETag == t.Entry.ETag {
		switch was.State {
		case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectConflict, catalog.ObjectSkipped, catalog.ObjectRejected: // the run was to read it again
			next := *was
			_, err := j.Write(ctx, t.Ledger, &next)
			return err
		}
	} else if !t.Begun && t.Ledger != nil && t.Ledger.ETag == t.Entry.ETag && t.Ledger.State != catalog.ObjectFailed {
		return nil
	}
	before := t.Named
	o := j.Entry(t, catalog.ObjectPending)
	if t.Begun && t.Suspect {
		o.Interrupted-- // this time no process died
	}
	// Names first: a reader that finds them before the entry finds nothing yet.
	if err := j.Rename(ctx, before, o); err != nil {
		return err
	}
	_, err := j.Write(ctx, t.Ledger, o)
	return err
}

// Vanish notes that an object's source has it no longer. Its loads stay.
func (j *Journal) Vanish(ctx context.Context, old *catalog.Object) error {
	o := *old
	o.State, o.Reason, o.Last, o.Run = catalog.ObjectGone, "", j.Now(), j.Run
	o.By = j.Account
	if ok, err := j.Write(ctx, old, &o); err != nil || !ok {
		return err
	}
	return j.Rename(ctx, ledger.IsNamed(old), &o)
}
