package ingest

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/publish"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
)

// Run ingests the new objects of srcs, and reports what became of them. The error is an error of the
// environment (store, source, disk) or of ctx, and the report says how far the run came. Errors of
// single objects stand in the report only.
func Run(ctx context.Context, srcs []discover.Source, o Options) (*report.Report, error) {
	j := newJob(o)
	err := j.open(srcs)
	if err == nil {
		err = j.run(ctx)
	}
	j.total()
	return j.report, err
}

// run is the story of one run: join the crew, bring the lake up to the store, take the new objects of
// all sources, publish, and report.
func (j *job) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	j.stop = stop

	var background sync.WaitGroup
	done := make(chan struct{})
	err := j.join(ctx, &background, done)
	background.Go(func() { j.publisher.Tick(ctx, done) })
	if err == nil {
		_, end := j.tally.Begin(ctx, report.StageProject, "")
		err = j.publisher.UpdateLake(ctx)
		end(err)
	}
	if err == nil {
		err = j.takeAll(ctx)
	}
	close(done)
	background.Wait()
	j.publisher.Flush(ctx)
	j.publisher.FlushLake(ctx)
	if ctx.Err() == nil {
		err = errors.Join(err, j.publisher.SettleLake(ctx))
	}
	if ctx.Err() == nil && !j.o.Isolated { // the process that started this one publishes
		err = errors.Join(err, j.publisher.PublishTables(ctx))
	}

	var away *discover.Unlisted
	if (err == nil || errors.Is(err, bucket.ErrPartial) && !errors.As(err, &away)) && ctx.Err() == nil {
		err = errors.Join(err, j.countUnread(ctx))
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	j.total()
	if cerr := j.closeAccount(ctx, err); cerr != nil {
		err = errors.Join(err, cerr)
	}
	if j.lease != nil {
		j.lease.Close(ctx)
	}
	return err
}

// join finds the other workers, reads the work that earlier runs left, and takes this worker's lease.
// The lease is kept in the background until done.
func (j *job) join(ctx context.Context, background *sync.WaitGroup, done chan struct{}) error {
	if err := j.crew.Look(ctx); err != nil || j.o.DryRun {
		return err
	}
	if j.o.Force {
		if err := j.cat.Obligations.DropPass(ctx); err != nil {
			return err
		}
	}
	var err error
	if j.publisher.Wanted, err = wanted.Read(ctx, j.cat); err != nil {
		return err
	}
	if j.owed, err = j.readOwed(ctx); err != nil {
		return err
	}
	if err := j.followRecords(ctx); err != nil {
		return err
	}
	if j.lease, err = j.crew.Join(ctx); err != nil {
		return err
	}
	j.publisher.Lease = j.lease
	background.Go(func() { j.lease.Keep(ctx, done, j.stop) })
	if j.tells() {
		// An outbox that cannot be read stops no run. Tell tries again, and returns the error.
		_ = j.outbox.Recall(ctx, math.MaxInt64)
	}
	return nil
}

// readOwed returns the obligations that earlier runs left, by URL of the object. A store of an earlier
// version gets its obligations first.
func (j *job) readOwed(ctx context.Context) (map[string][]*catalog.Obligation, error) {
	if !j.o.DryRun {
		joined, err := j.cat.Obligations.Joined(ctx)
		if err == nil && !joined {
			err = companions.Join(ctx, j.cat)
		}
		if err != nil {
			return nil, err
		}
	}
	return companions.Owed(ctx, j.cat)
}

// followRecords brings the ledger up to the records that earlier processes changed.
func (j *job) followRecords(ctx context.Context) error {
	var owed []*catalog.Obligation
	err := j.cat.Obligations.EachLedger(ctx, func(o *catalog.Obligation) error {
		owed = append(owed, o)
		return nil
	})
	if err != nil {
		return err
	}
	return parallel.Each(owed, func(o *catalog.Obligation) error { return ledger.FollowRecord(ctx, j.cat, o) })
}

// takeAll takes the new objects of all sources, the objects that dead workers left, and the objects
// that these complete. The error is bucket.ErrPartial if the sources hold more.
func (j *job) takeAll(ctx context.Context) error {
	var partial error
	for _, s := range j.sources {
		err := j.lister.Find(ctx, s, j.take)
		if errors.Is(err, bucket.ErrPartial) {
			partial = errors.Join(partial, err)
			j.report.Sources = append(j.report.Sources, report.Rejection{URL: s.Bucket.URL(s.Key), Error: err.Error()})
		} else if err != nil {
			return err
		}
	}
	if err := j.crew.TakeOver(ctx, j.late, j.take); err != nil {
		return err
	}
	for _, t := range j.big {
		t.Alone = true
		if err := j.work(ctx, []*discover.Task{t}, 1); err != nil {
			return err
		}
	}

	// An object ends when the lake names its loads. Only then it is known which objects it completes.
	j.publisher.FlushLake(ctx)
	if err := j.takeOwed(ctx); err != nil {
		return err
	}
	return partial
}

// take takes the objects of a round.
func (j *job) take(ctx context.Context, r *discover.Round) error {
	j.report.Objects.Seen += r.Seen
	if len(r.Suspects) > 0 && !j.followed && !j.o.DryRun {
		if err := publish.FollowWinners(ctx, j.cat); err != nil {
			return err
		}
		j.followed = true
	}
	j.report.Objects.New += len(r.Tasks) + len(r.Suspects)
	j.report.Objects.Gone += len(r.Gone)
	if err := parallel.Each(r.Gone, func(o *catalog.Object) error { return j.journal.Vanish(ctx, o) }); err != nil {
		return err
	}
	if err := j.work(ctx, r.Tasks, j.o.Workers); err != nil {
		return err
	}
	return j.takeSuspects(ctx, r.Suspects)
}

// maxWakes bounds how often one run derives an object again. If the catalog names a companion that no
// archive holds any more, that companion would wake the object each time.
const maxWakes = 2

// takeOwed derives again the objects of this run's sources that obligations name: obligations of
// earlier runs, of this run, and of the workers beside it.
func (j *job) takeOwed(ctx context.Context) error {
	if j.o.DryRun || j.o.Isolated {
		return nil
	}
	tried := make(map[string]int)
	for !j.late() && ctx.Err() == nil {
		owed, err := j.readOwed(ctx)
		if err != nil {
			return err
		}
		for url, n := range tried {
			if n >= maxWakes {
				delete(owed, url)
			}
		}
		tasks, err := j.waits.Tasks(ctx, j.lister, owed)
		if err != nil {
			return err
		}
		if len(tasks) == 0 {
			return nil
		}
		for _, t := range tasks {
			tried[t.URL]++
		}
		r := &discover.Round{Tasks: tasks}
		r.Part()
		if err := j.work(ctx, r.Tasks, j.o.Workers); err != nil {
			return err
		}
		if err := j.takeSuspects(ctx, r.Suspects); err != nil {
			return err
		}
		// An object ends, and its obligations with it, when the lake names its loads.
		j.publisher.FlushLake(ctx)
	}
	return nil
}
