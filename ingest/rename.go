package ingest

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
)

// Rename names artifacts after the APP@BUILD that metadata, sidecars and
// patterns of srcs give now, without opening an object: those whose ledger
// entry says loaded or kept and which have not changed. An artifact loses the
// APP@BUILD of before, unless another object that holds it has that too.
//
// A death anywhere leaves both names, or the entry of before, and the next
// Rename ends it. Memory is in proportion to the objects that are renamed. The
// error is that of the environment or of ctx.
func Rename(ctx context.Context, srcs []discover.Source, o Options) (*report.Report, error) {
	j := newJob(o)
	j.lister.Renaming = true
	err := j.open(srcs)
	if err == nil {
		err = j.renameAll(ctx)
	}
	if err == nil {
		err = j.publisher.UpdateLake(ctx)
	}
	j.report.Seconds = j.o.Now().Sub(j.report.Started).Seconds()
	return j.report, err
}

// renaming is an object that gets another APP@BUILD.
type renaming struct {
	old *catalog.Object
	app string
}

// heldName is an artifact under an APP@BUILD, in lower case: names match in
// any case.
type heldName struct {
	id  symbol.ID
	app string
}

func (j *job) renameAll(ctx context.Context) error {
	changed := map[string]renaming{}
	for _, s := range j.sources {
		err := j.lister.List(ctx, s, func(ctx context.Context, r *discover.Round) error {
			j.report.Objects.Seen += r.Seen
			return j.compareNames(ctx, r.Tasks, changed)
		})
		if err != nil {
			return err
		}
	}
	j.report.Objects.Renamed = len(changed)
	if len(changed) == 0 || j.o.DryRun {
		return nil
	}
	if err := j.nameChanged(ctx, changed); err != nil {
		return err
	}
	dropped, err := j.unheld(ctx, changed)
	if err != nil {
		return err
	}
	if err := parallel.Each(dropped, func(n heldName) error { return j.dropNames(ctx, n) }); err != nil {
		return err
	}
	var all []renaming
	for _, c := range changed {
		all = append(all, c)
	}
	return parallel.Each(all, func(c renaming) error {
		next := *c.old
		next.App = c.app
		_, err := j.journal.Write(ctx, c.old, &next) // who changed it meanwhile read the names as they are now
		return err
	})
}

// compareNames adds to changed the objects that are called otherwise now.
func (j *job) compareNames(ctx context.Context, tasks []*discover.Task, changed map[string]renaming) error {
	var mu sync.Mutex
	return parallel.Each(tasks, func(t *discover.Task) error {
		app, build, err := t.App(ctx, j.o.Names)
		if errors.Is(err, bucket.ErrChanged) || errors.Is(err, bucket.ErrNotFound) {
			return nil // the next ingest sees to it
		}
		if now := discover.AppBuild(app, build); err == nil && now != t.Ledger.App {
			mu.Lock()
			changed[t.URL] = renaming{t.Ledger, now}
			mu.Unlock()
		}
		return err
	})
}

// nameChanged gives the new names.
func (j *job) nameChanged(ctx context.Context, changed map[string]renaming) error {
	for _, c := range changed {
		for _, id := range ledger.Artifacts(c.old) {
			rec, err := j.cat.Artifacts.Get(ctx, id)
			if err != nil {
				return err
			}
			if rec == nil {
				continue
			}
			if err := record.AddNames(ctx, j.cat, rec, discover.AppNames(c.app, rec.Names)); err != nil {
				return err
			}
		}
	}
	return nil
}

// unheld are the names of before that no object has any more.
func (j *job) unheld(ctx context.Context, changed map[string]renaming) ([]heldName, error) {
	gone := map[heldName]bool{}
	for _, c := range changed {
		for _, id := range ledger.Artifacts(c.old) {
			if c.old.App != "" {
				gone[heldName{id, strings.ToLower(c.old.App)}] = true
			}
		}
	}
	err := j.cat.Ledger.Each(ctx, "", func(o *catalog.Object) error {
		app := o.App
		if c, is := changed[o.URL]; is {
			app = c.app
		}
		for _, id := range ledger.Artifacts(o) {
			delete(gone, heldName{id, strings.ToLower(app)})
		}
		return nil
	})
	var list []heldName
	for n := range gone {
		list = append(list, n)
	}
	return list, err
}

// dropNames takes an APP@BUILD, and the file names below it, from an artifact.
func (j *job) dropNames(ctx context.Context, n heldName) error {
	return record.RemoveNames(ctx, j.cat, n.id, func(name symbol.Name) bool { return record.IsBuild(name, []string{n.app}) })
}
