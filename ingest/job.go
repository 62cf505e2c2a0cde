package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/ingest/build"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/crew"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/gather"
	"github.com/symlake/symlake/ingest/journal"
	"github.com/symlake/symlake/ingest/outbox"
	"github.com/symlake/symlake/ingest/publish"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/scratch"
)

// job is one run: its parts, and how far it is.
type job struct {
	o         Options
	cat       *catalog.Catalog
	sources   discover.Sources
	lister    *discover.Lister
	crew      *crew.Crew
	lease     *crew.Lease // nil: it writes nothing
	journal   *journal.Journal
	waits     *companions.Waits
	builder   *build.Builder
	publisher *publish.Publisher
	outbox    *outbox.Outbox
	report    *report.Report
	tally     *report.Tally // writes report while workers are at work
	stop      context.CancelCauseFunc

	owed     map[string][]*catalog.Obligation // by URL, as earlier runs left them
	taken    int                              // objects
	taking   sync.Once
	followed bool // the ledger was brought up to the records, after a process died

	mu       sync.Mutex
	ended    int              // objects
	bytes    int64            // of the objects that ended
	failures int              // one after the other
	big      []*discover.Task // that found no room for scratch files beside others
	unread   []*discover.Task // that could not be read
}

func newJob(o Options) *job {
	o = o.withDefaults()
	j := &job{o: o, cat: catalog.New(gather.Catalog(o.Store.Catalog), o.Keyring)}
	j.report = &report.Report{Job: "ingest", Run: o.Run, Started: o.Now(), Rejected: []report.Rejection{}}
	j.report.Objects.Skipped, j.report.Stages = map[string]int{}, map[string]float64{}
	if o.Shards > 1 {
		j.report.Shard = fmt.Sprintf("%d/%d", o.Shard, o.Shards)
	}
	j.tally = report.NewTally(j.report)
	j.tally.Span = o.Span

	account := o.Teller
	if account == (row.WorkerID{}) {
		account = o.Worker
	}
	j.crew = &crew.Crew{Catalog: j.cat, Me: o.Worker, Host: o.Host, Process: o.Process, Run: o.Run, Started: o.Now(), DryRun: o.DryRun, Running: o.Alive}
	j.outbox = &outbox.Outbox{Crew: j.crew, Attempts: o.Attempts, TellLater: o.TellLater, Now: o.Now}
	j.journal = &journal.Journal{Catalog: j.cat, Run: o.Run, Worker: o.Worker, Account: account, Now: o.Now, DryRun: o.DryRun}
	j.lister = &discover.Lister{Catalog: j.cat, Formats: o.Formats, Now: o.Now, Shard: o.Shard, Shards: o.Shards,
		Only: o.Only, HintsOnly: o.HintsOnly, Rederive: o.Rederive, Force: o.Force, Retry: o.Retry, Isolated: o.Isolated, DryRun: o.DryRun,
		Alive: j.crew.Alive, Elsewhere: j.crew.Elsewhere, Late: j.late}
	j.waits = &companions.Waits{Catalog: j.cat}
	j.publisher = &publish.Publisher{Store: o.Store, Keyring: o.Keyring, Lake: o.Lake, Catalog: j.cat, Crew: j.crew, Journal: j.journal, Waits: j.waits,
		Tally: j.tally, Who: o.Owner, Now: o.Now, Shards: o.Shards, Force: o.Force, MinQuality: o.MinQuality, DryRun: o.DryRun, Ended: j.countEnded}

	b := build.Builder{Opener: o.opener(), Formats: o.Formats, Catalog: j.cat, Keyring: o.Keyring, Waits: j.waits, Publisher: j.publisher, Tally: j.tally,
		Names: o.Names, Account: account, Now: o.Now, Force: o.Force, DryRun: o.DryRun, NoUnwind: o.NoUnwind,
		Workers: o.Workers, MemoryBytes: o.MemoryBytes, DiskBytes: o.DiskBytes, ObjectTime: o.ObjectTime, Started: j.report.Started}
	if !o.Deadline.IsZero() {
		left := o.Deadline.Sub(o.Now())
		b.Began = time.Now()
		b.HardStop = b.Began.Add(left + left/10)
	}
	j.builder = build.New(b)
	return j
}

// opener returns an opener with the budgets of a run.
func (o *Options) opener() build.Opener {
	op := build.Opener{Budget: scratch.NewBudget(o.MemoryBytes), Scratch: o.Scratch, Limits: &o.Limits}
	if o.DiskBytes > 0 {
		op.Disk = scratch.NewBudget(o.DiskBytes)
	}
	return op
}

// Walk opens every object of a source and its members, as Run opens them, and stores nothing. Of o it
// uses only Formats, Limits, MemoryBytes and Scratch. visit's error comes back unchanged.
func Walk(ctx context.Context, s discover.Source, o Options, visit build.Visit) error {
	o = o.withDefaults()
	op := o.opener()
	op.Disk = nil
	return build.Walk(ctx, s, o.Formats, op, visit)
}

// open checks the sources.
func (j *job) open(srcs []discover.Source) (err error) {
	j.sources, err = discover.NewSources(srcs)
	j.waits.Sources, j.builder.Sources = j.sources, j.sources
	return err
}

// late reports whether the run is to take no more objects.
func (j *job) late() bool { return !j.o.Deadline.IsZero() && !j.o.Now().Before(j.o.Deadline) }

// total completes the report.
func (j *job) total() {
	byURL := func(a, b report.Rejection) int { return strings.Compare(a.URL, b.URL) }
	slices.SortFunc(j.report.Rejected, byURL)
	slices.SortFunc(j.report.Failed, byURL)
	j.report.Missing = j.waits.Missing()
	j.report.Objects.Elsewhere = j.crew.CountElsewhere()
	j.report.Seconds = j.o.Now().Sub(j.report.Started).Seconds()
}
