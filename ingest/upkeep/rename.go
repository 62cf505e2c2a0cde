package upkeep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/journal"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// RenameOptions says which objects to compare, and how.
type RenameOptions struct {
	projection.Stores
	// Names returns APP and BUILD from an object's user metadata (nil: symlake-app and symlake-build).
	Names         func(url string, meta map[string]string) (app, build string)
	Shard, Shards int // only objects with a key that hashes to Shard of Shards (Shards 0: all)
	DryRun        bool
	Run           string           // id of this run, for the report
	Now           func() time.Time // nil: time.Now
}

// shardGrace is how long a load that another shard has published is left to that shard.
const shardGrace = time.Hour

// Rename gives artifacts the APP@BUILD that metadata, sidecars and patterns of srcs name now. It opens
// no object, and compares loaded and kept objects that have not changed. An artifact loses its earlier
// APP@BUILD, unless another object that holds it has the same one.
//
// If the process dies, an artifact has both names or the ledger has the earlier entry, and the next
// Rename ends the work. Memory grows with the number of renamed objects. Rename returns the errors of
// the stores, of the sources and of ctx.
func Rename(ctx context.Context, srcs []discover.Source, o RenameOptions) (*report.Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &renamer{RenameOptions: o, cat: catalog.New(o.Store.Catalog, o.Keyring), changed: map[string]renaming{},
		report: &report.Report{Job: "ingest", Run: o.Run, Started: o.Now(), Rejected: []report.Rejection{}}}
	r.report.Objects.Skipped = map[string]int{}
	if o.Shards > 1 {
		r.report.Shard = fmt.Sprintf("%d/%d", o.Shard, o.Shards)
		r.Until = o.Now().Add(-shardGrace)
	}
	sources, err := discover.NewSources(srcs)
	if err == nil {
		err = r.run(ctx, sources)
	}
	if err == nil {
		err = r.project(ctx)
	}
	r.report.Seconds = o.Now().Sub(r.report.Started).Seconds()
	return r.report, err
}

// renamer is one Rename at work.
type renamer struct {
	RenameOptions
	cat     *catalog.Catalog
	report  *report.Report
	changed map[string]renaming // by URL
}

// renaming is an object that gets another APP@BUILD.
type renaming struct {
	old *catalog.Object
	app string
}

// heldName is an artifact under an APP@BUILD, in lower case: names match in any case.
type heldName struct {
	id  symbol.ID
	app string
}

func (r *renamer) run(ctx context.Context, sources discover.Sources) error {
	believe := func(context.Context, row.WorkerID) (bool, error) { return true, nil }
	lister := &discover.Lister{Catalog: r.cat, Now: r.Now, Shard: r.Shard, Shards: r.Shards, Renaming: true, DryRun: r.DryRun, Alive: believe}
	for _, s := range sources {
		err := lister.List(ctx, s, func(ctx context.Context, round *discover.Round) error {
			r.report.Objects.Seen += round.Seen
			return r.compareNames(ctx, round.Tasks)
		})
		if err != nil {
			return err
		}
	}
	r.report.Objects.Renamed = len(r.changed)
	if len(r.changed) == 0 || r.DryRun {
		return nil
	}

	if err := r.addNames(ctx); err != nil {
		return err
	}
	dropped, err := r.unheld(ctx)
	if err != nil {
		return err
	}
	if err := parallel.Each(dropped, func(n heldName) error { return r.dropNames(ctx, n) }); err != nil {
		return err
	}
	entries := &journal.Journal{Catalog: r.cat}
	return parallel.Each(slices.Collect(maps.Values(r.changed)), func(c renaming) error {
		next := *c.old
		next.App = c.app
		_, err := entries.Write(ctx, c.old, &next) // a process that changed it meanwhile read the new names
		return err
	})
}

// project brings the lake up to date with the new names.
func (r *renamer) project(ctx context.Context) error {
	if r.Lake == nil || r.DryRun {
		return nil
	}
	done, err := projection.Update(ctx, r.Stores, nil)
	if err != nil {
		return err
	}
	r.report.AddLakeFiles(done.Files, done.Bytes)
	tables, err := projection.Publish(ctx, r.Lake, sinks.LakePublish{})
	for _, t := range tables {
		if t.Behind != "" {
			r.report.Append(&r.report.TablesBehind, report.Rejection{URL: t.Table, Error: t.Behind})
		}
	}
	return err
}

// compareNames notes the objects with a new APP@BUILD.
func (r *renamer) compareNames(ctx context.Context, tasks []*discover.Task) error {
	var mu sync.Mutex
	return parallel.Each(tasks, func(t *discover.Task) error {
		app, build, err := t.App(ctx, r.Names)
		if errors.Is(err, bucket.ErrChanged) || errors.Is(err, bucket.ErrNotFound) {
			return nil // the next ingest sees to it
		}
		if now := discover.AppBuild(app, build); err == nil && now != t.Ledger.App {
			mu.Lock()
			r.changed[t.URL] = renaming{t.Ledger, now}
			mu.Unlock()
		}
		return err
	})
}

// addNames adds the new names.
func (r *renamer) addNames(ctx context.Context) error {
	for _, c := range r.changed {
		for _, id := range ledger.Artifacts(c.old) {
			rec, err := r.cat.Artifacts.Get(ctx, id)
			if err != nil {
				return err
			}
			if rec == nil {
				continue
			}
			if err := record.AddNames(ctx, r.cat, rec, discover.AppNames(c.app, rec.Names)); err != nil {
				return err
			}
		}
	}
	return nil
}

// unheld returns the earlier names that no object has now.
func (r *renamer) unheld(ctx context.Context) ([]heldName, error) {
	gone := map[heldName]bool{}
	for _, c := range r.changed {
		for _, id := range ledger.Artifacts(c.old) {
			if c.old.App != "" {
				gone[heldName{id, strings.ToLower(c.old.App)}] = true
			}
		}
	}
	err := r.cat.Ledger.Each(ctx, "", func(o *catalog.Object) error {
		app := o.App
		if c, is := r.changed[o.URL]; is {
			app = c.app
		}
		for _, id := range ledger.Artifacts(o) {
			delete(gone, heldName{id, strings.ToLower(app)})
		}
		return nil
	})
	return slices.Collect(maps.Keys(gone)), err
}

// dropNames takes an APP@BUILD, and the file names below it, from an artifact.
func (r *renamer) dropNames(ctx context.Context, n heldName) error {
	return record.RemoveNames(ctx, r.cat, n.id, func(name symbol.Name) bool { return record.IsBuild(name, []string{n.app}) })
}
