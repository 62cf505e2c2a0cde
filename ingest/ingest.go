package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/ingest/crew"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/outbox"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/scratch"
)

// job is one run.
type job struct {
	o       Options
	cat     *catalog.Catalog
	sources discover.Sources
	lister  *discover.Lister
	budget  *scratch.Budget
	disk    *scratch.Budget // nil: no bound
	slots   chan struct{}
	group   group
	lake    *lakeside
	stop    context.CancelCauseFunc

	mu       sync.Mutex
	report   *report.Report
	ended    int // objects
	bytes    int64
	taken    int
	failures int                              // one after the other
	owed     map[string][]*catalog.Obligation // by URL, as earlier runs left them
	lacking  map[string]map[string]bool       // what loads of this run lack: URL, then waiter's key

	worker   row.WorkerID // this process
	owner    string       // of its loads, in records
	crew     *crew.Crew
	lease    *crew.Lease // nil: it writes nothing
	began    time.Time   // by the system's clock, as hardStop: when objects at work are put back (zero: never)
	hardStop time.Time
	taking   sync.Once
	big      []*discover.Task // that found no room for scratch files beside others; guarded by mu
	unread   []*discover.Task // that could not be read; guarded by mu
	wanted   *wanted.Names
	outbox   *outbox.Outbox

	reconciled bool // the ledger, after a process died
}

const (
	// maxFailures one after the other say that it is not the objects.
	maxFailures = 5
	// maxUnread bounds the objects that could not be read and are counted at the end.
	maxUnread = 1 << 16
	// noteObjects are noted as attempted together, if they are small together.
	noteObjects = 32
	noteBytes   = 64 << 20
)

// Run ingests what is new in srcs and reports what became of it. The error is
// that of the environment (store, source, disk) or of ctx; the report says how
// far it came. What one object does wrong is in the report only.
func Run(ctx context.Context, srcs []discover.Source, o Options) (*report.Report, error) {
	j := newJob(o)
	err := j.open(srcs)
	if err == nil {
		err = j.run(ctx)
	}
	j.total()
	return j.report, err
}

// total ends the report.
func (j *job) total() {
	slices.SortFunc(j.report.Rejected, byURL)
	slices.SortFunc(j.report.Failed, byURL)
	j.report.Missing = j.missing()
	j.report.Objects.Elsewhere = j.crew.CountElsewhere()
	j.report.Seconds = j.o.Now().Sub(j.report.Started).Seconds()
}

// by is the account that tells what this process does.
func (j *job) by() row.WorkerID {
	if j.o.Teller != (row.WorkerID{}) {
		return j.o.Teller
	}
	return j.worker
}

func newJob(o Options) *job {
	o = o.withDefaults()
	j := &job{o: o, cat: catalog.New(o.Store.Catalog, o.Keyring), budget: scratch.NewBudget(o.MemoryBytes),
		lake: newLakeside(o.Lake), slots: make(chan struct{}, o.Workers), lacking: make(map[string]map[string]bool),
		worker: o.Worker}
	if o.DiskBytes > 0 {
		j.disk = scratch.NewBudget(o.DiskBytes)
	}
	j.owner = o.Owner + "/" + j.worker.String()
	j.crew = &crew.Crew{Catalog: j.cat, Me: j.worker, Host: o.Host, Process: o.Process, Run: o.Run, Started: o.Now(), DryRun: o.DryRun, Running: o.Alive}
	j.outbox = &outbox.Outbox{Crew: j.crew, Attempts: o.Attempts, TellLater: o.TellLater, Now: o.Now}
	j.lister = &discover.Lister{Catalog: j.cat, Formats: o.Formats, Now: o.Now, Shard: o.Shard, Shards: o.Shards, Only: o.Only, HintsOnly: o.HintsOnly,
		Rederive: o.Rederive, Force: o.Force, Retry: o.Retry, Isolated: o.Isolated, DryRun: o.DryRun, Alive: j.crew.Alive, Elsewhere: j.crew.Elsewhere, Late: j.late}
	j.group.landed.L = &j.group.mu
	j.report = &report.Report{Job: "ingest", Run: o.Run, Started: o.Now(), Rejected: []report.Rejection{}}
	j.report.Objects.Skipped, j.report.Stages = map[string]int{}, map[string]float64{}
	if !o.Deadline.IsZero() {
		left := o.Deadline.Sub(o.Now())
		j.began = time.Now()
		j.hardStop = j.began.Add(left + left/10)
	}
	if o.Shards > 1 {
		j.report.Shard = fmt.Sprintf("%d/%d", o.Shard, o.Shards)
	}
	return j
}

// open checks the sources.
func (j *job) open(srcs []discover.Source) (err error) {
	j.sources, err = discover.NewSources(srcs)
	return err
}

func byURL(a, b report.Rejection) int { return strings.Compare(a.URL, b.URL) }

func (j *job) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	j.stop = stop

	var flusher sync.WaitGroup
	done := make(chan struct{})
	flusher.Go(func() {
		tick := time.NewTicker(groupAge / 4)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				j.group.flush(ctx, j, groupAge)
				j.noteWaiting(ctx, groupAge)
			case <-done:
				return
			}
		}
	})
	err := j.enlist(ctx, &flusher, done)
	if err == nil {
		_, ended := j.span(ctx, stageProject, "")
		err = j.project(ctx)
		ended(err)
	}
	if err == nil {
		err = j.walk(ctx)
	}
	close(done)
	flusher.Wait()
	j.group.settle(ctx, j)
	j.flushLake(ctx)
	var away *discover.Unlisted
	if (err == nil || errors.Is(err, bucket.ErrPartial) && !errors.As(err, &away)) && ctx.Err() == nil {
		err = errors.Join(err, j.settleUnread(ctx))
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

// enlist takes this process's lease, keeps it until done, and looks who else is at work.
func (j *job) enlist(ctx context.Context, running *sync.WaitGroup, done chan struct{}) error {
	if err := j.crew.Look(ctx); err != nil || j.o.DryRun {
		return err
	}
	var err error
	if j.wanted, err = wanted.Read(ctx, j.cat); err != nil {
		return err
	}
	if j.owed, err = j.readObligations(ctx); err != nil {
		return err
	}
	if err := j.settleLedgers(ctx); err != nil {
		return err
	}
	if j.lease, err = j.crew.Join(ctx); err != nil {
		return err
	}
	running.Go(func() { j.lease.Keep(ctx, done, j.stop) })
	if j.tells() {
		// An outbox that cannot be read stops no run. Tell tries again, and returns the error.
		_ = j.outbox.Recall(ctx, math.MaxInt64)
	}
	return nil
}

// walk takes everything that is new, then everything that it completes. The error is bucket.ErrPartial when that was not all
// that the sources hold.
func (j *job) walk(ctx context.Context) error {
	var partial error
	for _, s := range j.sources {
		err := j.lister.Find(ctx, s, j.round)
		if errors.Is(err, bucket.ErrPartial) {
			partial = errors.Join(partial, err)
			j.report.Sources = append(j.report.Sources, report.Rejection{URL: s.Bucket.URL(s.Key), Error: err.Error()})
		} else if err != nil {
			return err
		}
	}
	if err := j.crew.TakeOver(ctx, j.late, j.round); err != nil {
		return err
	}
	for _, t := range j.big {
		t.Alone = true
		if err := j.work(ctx, []*discover.Task{t}, 1); err != nil {
			return err
		}
	}
	// Objects end when the lake names them, and only then is it known what they complete.
	j.flushLake(ctx)
	if err := j.fulfil(ctx); err != nil {
		return err
	}
	return partial
}

// round works off a piece of a listing.
func (j *job) round(ctx context.Context, r *discover.Round) error {
	j.report.Objects.Seen += r.Seen
	if len(r.Suspects) > 0 && !j.reconciled && !j.o.DryRun {
		if err := j.reconcile(ctx); err != nil {
			return err
		}
		j.reconciled = true
	}
	j.report.Objects.New += len(r.Tasks) + len(r.Suspects)
	j.report.Objects.Gone += len(r.Gone)
	errs := make([]error, len(r.Gone))
	parallel.Do(len(r.Gone), func(i int) { errs[i] = j.vanish(ctx, r.Gone[i]) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := j.work(ctx, r.Tasks, j.o.Workers); err != nil {
		return err
	}
	return j.doubtful(ctx, r.Suspects)
}
