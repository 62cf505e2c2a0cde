package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/upkeep"
	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/host"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

type ingestJob struct {
	workspace.SourceFlags
	DryRun    bool          `help:"Print what ingest would do, and change nothing." group:"What to load"`
	Limit     int           `help:"Take at most N new objects." placeholder:"N" group:"What to load"`
	Force     bool          `help:"Load again objects that are loaded, rejected or pinned." group:"What to load"`
	Rename    bool          `help:"Load nothing. Give loaded artifacts the names that metadata and patterns give now." group:"~Special runs"`
	Rederive  bool          `help:"Load again what older parsers made, worst quality first." detail:"--limit and --deadline bound it." group:"~Special runs"`
	Only      []string      `help:"Take only this object of the sources, and list nothing." placeholder:"URL" group:"~Special runs"`
	HintsOnly bool          `help:"Take the objects that notifications name, and list nothing." group:"~Special runs"`
	Workers   int           `help:"Units at work at once (default: limits.workers, else the processors)." placeholder:"N" group:"How"`
	Shard     string        `help:"Take part I of N, from 0." detail:"The hash of its key says to which part an object belongs." placeholder:"I/N" group:"How"`
	Deadline  time.Duration `help:"Take no new object after this time." detail:"A tenth of it later, ingest puts back the objects that are open." placeholder:"25m" group:"How"`
	IfLocked  string        `help:"If another ingest works on this shard: wait, skip (exit 0), fail or join." detail:"join works beside it: each object is leased to one of them." enum:"wait,skip,fail,join" default:"wait" placeholder:"HOW" group:"How"`
	Isolated  bool          `hidden:"" help:"This process is made for one object that processes died of."`
	Teller    string        `hidden:"" help:"The process that tells what an isolated one does." placeholder:"WORKER"`
	reportFlags
}

// Supervised: every ingest runs in a worker, but not an isolated one: its parent waits for it.
func (j ingestJob) Supervised() bool { return !j.Isolated }

func (ingestJob) Help() string {
	return "Without a configuration, ingest keeps everything in ./symlake-data. Standard error names each object that was rejected or failed.\n\n" +
		"Example:\n  symlake ingest ./build/symbols\n  symlake ingest s3://mobile-symbols/android/ --report -"
}

// Check finds faults in the words before anything is opened or made.
func (j ingestJob) Check(s *session.Session) error {
	p := workspace.New(s)
	if _, err := j.options(p); err != nil {
		return err
	}
	if err := j.reportFlags.check(); err != nil {
		return err
	}
	if err := p.CheckLake(); err != nil {
		return err
	}
	return j.CheckSources(p)
}

// Run finds new objects, loads and publishes them, and reports.
func (j ingestJob) Run(p *workspace.Workspace) error {
	o, err := j.options(p)
	if err != nil {
		return err
	}
	sources, unopened, err := j.Open(p)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return &unopenedSources{list: unopened, all: true}
	}
	if j.Isolated {
		if err := host.BoundMemory(uint64(p.Config.Limits.Memory) + isolatedExtra); err != nil {
			return fmt.Errorf("bound memory: %w", err)
		}
	}
	s, unlock, err := j.store(p, &o)
	if errors.Is(err, workspace.ErrSkipLocked) {
		return p.ReportLocked(j.Report, "ingest", o.Run)
	}
	if err != nil {
		return err
	}
	defer unlock()
	defer s.Close()
	o.Store, o.Keyring = s.Store, s.Ring
	p.Collector.Use(collector.List, o.MemoryBytes)
	profile := collector.Ingest
	if err := os.MkdirAll(o.Scratch, 0o700); err != nil {
		return fmt.Errorf("create scratch folder: %w", err)
	}
	if !j.DryRun {
		if o.Lake, err = p.CreateLake(s, o.Run); err != nil {
			return err
		}
		if o.Lake != nil {
			profile = collector.Lake
		}
	}
	if j.Force && !j.DryRun && !j.Isolated {
		if err := s.NoteEvent(p.Ctx, "force", strings.Join(j.Sources, " ")); err != nil {
			return err
		}
	}
	watch := p.Watch("ingest")
	o.Progress = func(e ingest.Event) { showObject(p, watch, e) }
	o.Taking = func() { p.Collector.Use(profile, o.MemoryBytes) }
	ctx, traces := p.Traced("ingest", o.Run, j.Shard)
	if traces != nil {
		o.Span = traces.Span
	}
	report, err := j.work(ctx, sources, o)
	watch.Stop()
	traces.End(err)
	if len(unopened) > 0 {
		report.Sources = append(unopened, report.Sources...)
		err = errors.Join(err, &unopenedSources{list: unopened})
	}
	return j.verdict(report, j.tell(p, report, o, err))
}

// store opens the store for this run, and makes its missing parts. A dry run makes nothing: without a store, all objects are
// new to one in memory.
func (j ingestJob) store(p *workspace.Workspace, o *ingest.Options) (s *session.Records, unlock func(), err error) {
	if j.DryRun {
		tables, err := p.OpenTables(true)
		if err == nil {
			err = tables.Close()
		}
		if errors.Is(err, sinks.ErrMissing) {
			if o.Scratch, err = os.MkdirTemp("", "symlake-"); err != nil {
				return nil, nil, fmt.Errorf("create scratch folder: %w", err)
			}
			s, err = p.EmptyStore()
			return s, func() { os.RemoveAll(o.Scratch) }, err
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return p.CreateLocked(func() (func(), error) {
		if j.Isolated { // the process that started this one holds the lock
			return p.JoinStore(workspace.LockJoin, "")
		}
		return p.JoinStore(j.IfLocked, "ingest-"+strings.ReplaceAll(cmp.Or(j.Shard, "0/1"), "/", "-of-"))
	})
}

// work ingests, or renames.
func (j ingestJob) work(ctx context.Context, sources []discover.Source, o ingest.Options) (*report.Report, error) {
	if !j.Rename {
		return ingest.Run(ctx, sources, o)
	}
	return upkeep.Rename(ctx, sources, upkeep.RenameOptions{Stores: projection.Stores{Store: o.Store, Keyring: o.Keyring, Lake: o.Lake}, Names: o.Names,
		Shard: o.Shard, Shards: o.Shards, DryRun: o.DryRun, Run: o.Run, Now: o.Now})
}

// showObject shows the outcome of an object.
func showObject(p *workspace.Workspace, w *term.Progress, e ingest.Event) {
	if !w.HasBar() {
		level := slog.LevelDebug
		if e.State == catalog.ObjectRejected || e.State == catalog.ObjectFailed {
			level = slog.LevelWarn
		}
		p.Log.Log(p.Ctx, level, "object", "url", e.URL, "state", e.State, "reason", e.Reason)
	}
	w.At(term.Step{Done: int64(e.Done), Total: int64(e.Total), Unit: "object", Bytes: e.Bytes, Text: e.URL}, "ingest", "done", e.Done, "of", e.Total, "url", e.URL)
}

// options is what flags and configuration say of the pipeline.
func (j ingestJob) options(p *workspace.Workspace) (ingest.Options, error) {
	o := p.Pipeline()
	o.Force, o.DryRun, o.Limit, o.Run, o.Scratch = j.Force, j.DryRun, j.Limit, workspace.RunID(j.RunID), p.Scratch()
	o.Rederive, o.HintsOnly = j.Rederive, j.HintsOnly
	if o.Only = j.Only; j.Isolated {
		o.Isolated, o.Only = true, j.Only[len(j.Only)-1:]
	}
	if j.Workers < 0 || j.Limit < 0 || j.Deadline < 0 {
		return o, exit.Usage("--workers %d, --limit %d, --deadline %s: want none below 0", j.Workers, j.Limit, j.Deadline)
	}
	if j.Workers != 0 {
		o.Workers = j.Workers
	}
	o.Host, o.Process, o.Alive = host.ThisHost(), host.Identity(p.Worker), host.ProcessAlive
	o.Worker, o.TellLater, o.Attempts = row.NewWorkerID(), j.TellLater, j.RunID != ""
	if j.Teller != "" {
		if err := o.Teller.UnmarshalText([]byte(j.Teller)); err != nil {
			return o, exit.Usage("--teller: %w", err)
		}
	}
	o.Isolate = isolate(p, o.Run, o.Worker.String(), cmp.Or(o.ObjectTime, time.Hour))
	o.Owner = workspace.Owner(o.Run)
	if j.Deadline > 0 {
		o.Deadline = time.Now().Add(j.Deadline)
	}
	var err error
	o.Shard, o.Shards, err = workspace.ParseShard(j.Shard)
	return o, err
}

// Failed tells of a run that did not come so far as to have a report: in its metrics, which would
// show the success of an earlier one, and in its report. It returns the run's error and its own.
func (j ingestJob) Failed(s *session.Session, err error) error {
	p := workspace.New(s)
	if j.Isolated { // its parent tells
		return err
	}
	report := &report.Report{Job: "ingest", Run: workspace.RunID(j.RunID), Started: p.Began.UTC(), Seconds: time.Since(p.Began).Seconds(),
		Error: err.Error(), Rejected: []report.Rejection{}}
	report.Objects.Skipped = map[string]int{}
	if _, shards, serr := workspace.ParseShard(j.Shard); serr == nil && shards > 1 {
		report.Shard = j.Shard
	}
	var missing *unopenedSources
	if errors.As(err, &missing) {
		report.Sources = missing.list
	}
	if !j.DryRun {
		err = errors.Join(err, tellRun(p, report, err))
	}
	return p.ReportFailure(err, j.Report, reportName(report), report)
}
