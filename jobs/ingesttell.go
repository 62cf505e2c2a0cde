package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/outbox"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// tellTime bounds what a run that was asked to stop takes to sum its attempts.
	tellTime = 10 * time.Second
	// maxNamed is how many objects standard error names: cron mails them.
	maxNamed = 50
)

// reportFlags say where the report of a run goes, and what the process ends with.
type reportFlags struct {
	Report         string `help:"Where the report goes: a file, a folder (DIR/), or - as the last line of standard output." detail:"A folder gets one file a run." placeholder:"FILE" group:"Report"`
	RunID          string `name:"run" help:"Name of this run. The report sums all its attempts." placeholder:"ID" group:"~Report"`
	TellLater      bool   `help:"Keep the report in the store, too, for symlake report --pending." group:"~Report"`
	NothingNewCode int    `help:"Exit code when no attempt of this run loaded or rejected anything." default:"0" placeholder:"N" group:"~Report"`
	RejectedCode   int    `help:"Exit code when something was newly rejected." default:"3" placeholder:"N" group:"~Report"`
}

// check checks the place of the report and the exit codes.
func (j reportFlags) check() error {
	if err := session.CheckOutput("report", j.Report); err != nil {
		return err
	}
	return session.CheckCodes([]string{"nothing-new-code", "rejected-code"}, []int{j.NothingNewCode, j.RejectedCode})
}

// tell tells what a run did: in metrics, on standard error, and last in its report. What the
// report says is told once it is written. err is the run's own; tell returns the job's.
func (j reportFlags) tell(p *workspace.Workspace, report *report.Report, o ingest.Options, err error) error {
	ctx := context.WithoutCancel(p.Ctx)
	if p.Ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, tellTime)
		defer cancel()
	}
	var telling *outbox.Telling
	if !o.DryRun && !o.Isolated {
		var terr error
		if telling, terr = ingest.Outbox(o).Tell(ctx, report); terr != nil {
			telling, err = nil, errors.Join(err, terr)
		}
		err = errors.Join(err, tellRun(p, report, err))
	}
	if err != nil {
		report.Error = err.Error()
	}
	if !o.Isolated {
		nameObjects(p, report)
	}
	name := reportName(report)
	rerr := p.Sum(j.Report, name, report, prose.Ingest(report, o.DryRun))
	if told := len(report.Rejected) + report.Objects.Failed; rerr == nil && j.Report != "" && j.Report != "-" && (told > 0 || err != nil) {
		fmt.Fprintf(p.ErrOut, "symlake: the report is %s\n", workspace.ReportFile(j.Report, name))
	}
	switch {
	case telling == nil || j.TellLater:
	case rerr == nil:
		rerr = telling.Done(ctx)
	default: // the next run tells it
		rerr = errors.Join(rerr, telling.Release(ctx))
	}
	return errors.Join(err, rerr)
}

// reportName is what the report of a run is called in a folder of reports.
func reportName(r *report.Report) string {
	name := "ingest-" + r.Run
	if r.Shard != "" {
		name += "-" + strings.ReplaceAll(r.Shard, "/", "-of-")
	}
	return name
}

// unopenedSources are sources that could not be opened. The rest was loaded.
type unopenedSources struct {
	list []report.Rejection
	all  bool // there was no rest
}

func (u *unopenedSources) Error() string {
	text := fmt.Sprintf("source %s: %s", u.list[0].URL, u.list[0].Error)
	if n := len(u.list) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	if u.all {
		return text + ": nothing was loaded; run it again when the source is there"
	}
	return text + ": everything else was loaded; run it again when the source is there"
}

// verdict is what a run ends with.
func (j reportFlags) verdict(r *report.Report, err error) error {
	if err != nil {
		return err
	}
	rejected, loaded, conflicted := len(r.Rejected), r.Objects.Loaded+r.Objects.Renamed, r.Conflicted
	if r.Earlier != nil {
		rejected += len(r.Earlier.Rejected)
		loaded += r.Earlier.Objects.Loaded
		conflicted += r.Earlier.Conflicted
	}
	switch {
	case r.Objects.Failed > 0:
		return fmt.Errorf("%d objects could not be read or published: run it again", r.Objects.Failed)
	case rejected > 0 && j.RejectedCode != 0:
		return &exit.Error{Code: j.RejectedCode}
	case loaded == 0 && rejected == 0 && conflicted == 0 && j.NothingNewCode != 0:
		return &exit.Error{Code: j.NothingNewCode}
	}
	return nil
}

// conflictLines returns the conflicts of a report, each as one sentence about the object that was kept out.
func conflictLines(r *report.Report) (list []report.Rejection) {
	for _, c := range r.Conflicts {
		url := c.KeptOut.URL
		if c.KeptOut.Member != "" {
			url += "!" + c.KeptOut.Member
		}
		list = append(list, report.Rejection{URL: url, Error: fmt.Sprintf("artifact %s belongs to owner %q by %s: see symlake objects --state conflict", c.Artifact, c.Kept.Owner, c.Kept.URL)})
	}
	return list
}

// name names the objects that were rejected, failed or kept out, with reasons, for a person to read: cron
// mails standard error, at every log level.
func nameObjects(p *workspace.Workspace, r *report.Report) {
	left, more := maxNamed, r.Untold
	list := func(what string, all []report.Rejection) {
		n := min(len(all), left)
		for _, x := range all[:n] {
			fmt.Fprintf(p.ErrOut, "symlake: %s %s: %s\n", what, term.OneLine(x.URL), term.OneLine(x.Error))
		}
		left -= n
		more += len(all) - n
	}
	list("rejected", r.Rejected)
	list("failed", r.Failed)
	list("behind: Iceberg table", r.TablesBehind)
	list("conflict", conflictLines(r))
	more += r.Conflicted - len(r.Conflicts)
	if e := r.Earlier; e != nil {
		list("conflict of an earlier run", conflictLines(e))
		list("rejected by an earlier run", e.Rejected)
		more += e.Untold
	}
	if more > 0 && left == 0 {
		fmt.Fprintf(p.ErrOut, "symlake: %d more: see symlake objects --state rejected\n", more)
	}
}

// tellRun tells what a run of ingest did.
func tellRun(p *workspace.Workspace, r *report.Report, err error) error {
	if !p.Measured() {
		return nil
	}
	m := workspace.NewMetrics(r.Shard)
	o := r.Objects
	outcomes := map[string]int{"seen": o.Seen, "new": o.New, "pending": o.Pending, "loaded": o.Loaded, "kept": o.Kept, "conflict": o.Conflict, "rejected": o.Rejected, "failed": o.Failed, "gone": o.Gone}
	for _, n := range o.Skipped {
		outcomes["skipped"] += n
	}
	m.Set("symlake_run_objects", "Objects of the last ingest by what became of them.", "outcome", workspace.Floats(outcomes))
	m.Set("symlake_run_bytes", "Bytes of the last ingest: objects read, rows stored, files of the lake.", "kind",
		map[string]float64{"read": float64(r.Bytes.Read), "stored": float64(r.Bytes.Stored), "lake": float64(r.Bytes.Lake)})
	m.One("symlake_run_artifacts", "Artifacts published by the last ingest.", float64(r.Artifacts))
	m.One("symlake_run_ranges", "Ranges published by the last ingest.", float64(r.Ranges))
	m.One("symlake_run_classes", "Classes of mappings published by the last ingest.", float64(r.Classes))
	rejects := map[string]int{}
	for _, x := range r.Rejected {
		rejects[catalog.ReasonKind(x.Error)]++
	}
	m.Set("symlake_run_rejected", "Objects and members that the last ingest newly rejected, by reason.", "reason", workspace.Floats(rejects))
	m.One("symlake_run_conflicts", "Artifacts that the last ingest kept out, because another owner holds them.", float64(r.Conflicted))
	m.One("symlake_run_tables_behind", "Iceberg tables that do not show what the last ingest loaded.", float64(len(r.TablesBehind)))
	m.Set("symlake_run_stage_seconds", "Seconds that the workers of the last ingest spent, by stage.", "stage", r.Stages)
	m.One("symlake_run_seconds", "Seconds that the last ingest took.", r.Seconds)
	m.One("symlake_run_ended_timestamp_seconds", "When the last ingest ended.", float64(time.Now().UnixMilli())/1000)
	success := 1.0
	if err != nil || o.Failed > 0 {
		success = 0
	}
	m.One("symlake_run_success", "1 if the last ingest did its work; rejected objects are no failure.", success)
	return p.Tell("symlake_ingest", m)
}
