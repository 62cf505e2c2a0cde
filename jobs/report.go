package jobs

import (
	"fmt"
	"time"

	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/outbox"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/host"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks/row"
)

type reportJob struct {
	Accounts       []string `arg:"" optional:"" name:"account" help:"Accounts of a report that arrived, for --ack."`
	Pending        bool     `help:"Print what runs did and could not report, as one report."`
	Ack            bool     `help:"Do not report it again: after printing it, or the accounts given."`
	Report         string   `help:"Where the report goes: a file, a folder (DIR/), or - for standard output." placeholder:"FILE" default:"-"`
	NothingNewCode int      `help:"Exit code when nothing is pending." default:"0" placeholder:"N"`
	RejectedCode   int      `help:"Exit code when the report has rejected objects." default:"0" placeholder:"N"`
}

// Supervised: the command runs in a worker.
func (reportJob) Supervised() bool { return true }

func (reportJob) Help() string {
	return "A run reports what it did. If it was killed, or ran with --tell-later, its report stays in the store until a later run or this command prints it. " +
		"Runs that still work are left alone. If symlake cannot know, it waits at most half a minute.\n\n" +
		"Example:\n  symlake report --pending --ack"
}

// Check finds faults in the words before anything is opened.
func (j reportJob) Check(*session.Session) error {
	switch {
	case j.Pending && len(j.Accounts) > 0:
		return exit.Usage("report: --pending takes all accounts: name none")
	case !j.Pending && (!j.Ack || len(j.Accounts) == 0):
		return exit.Usage("report: want --pending, or --ack with the accounts of a report")
	}
	for _, account := range j.Accounts {
		if new(row.WorkerID).UnmarshalText([]byte(account)) != nil {
			return exit.Usage("report: account %q: want the 32 hex digits of a report's accounts", account)
		}
	}
	if err := session.CheckOutput("report", j.Report); err != nil {
		return err
	}
	return session.CheckCodes([]string{"nothing-new-code", "rejected-code"}, []int{j.NothingNewCode, j.RejectedCode})
}

// Run prints pending reports as one, or removes accounts after their report arrived.
func (j reportJob) Run(p *workspace.Workspace) error {
	s, err := p.OpenRecords(false)
	if err != nil {
		return err
	}
	defer s.Close()
	if !j.Pending {
		return outbox.Acknowledge(p.Ctx, s.Catalog, j.Accounts)
	}
	o := ingest.Options{Store: s.Store, Keyring: s.Ring, Host: host.ThisHost(), Process: host.Identity(p.Worker), Alive: host.ProcessAlive, TellLater: !j.Ack}
	telling, err := ingest.Outbox(o).Pending(p.Ctx)
	if err != nil {
		return err
	}
	r, nothing := telling.Report, telling.Report == nil
	if nothing {
		r = &report.Report{Job: "report", Started: time.Now().UTC(), Rejected: []report.Rejection{}, Objects: report.ObjectCounts{Skipped: map[string]int{}}}
	}
	if p.OutView.People && !p.Given("report") {
		err = showReport(p, r, nothing)
	} else {
		nameObjects(p, r)
		err = p.Report(j.Report, "report-"+workspace.RunID(""), r)
	}
	if err == nil && j.Ack {
		err = telling.Done(p.Ctx)
	} else if rerr := telling.Release(p.Ctx); err == nil {
		err = rerr
	}
	switch {
	case err != nil:
		return err
	case nothing && j.NothingNewCode != 0:
		return &exit.Error{Code: j.NothingNewCode}
	case len(r.Rejected) > 0 && j.RejectedCode != 0:
		return &exit.Error{Code: j.RejectedCode}
	}
	return nil
}

// showReport shows a report to a person: a paragraph, and a table of the objects that someone has to look at.
func showReport(p *workspace.Workspace, r *report.Report, nothing bool) error {
	if p.Reported = true; nothing {
		return session.Say(p.Out, p.OutView, "Nothing is pending: every run told what it did.")
	}
	if err := session.Say(p.Out, p.OutView, prose.Ingest(r, false)); err != nil {
		return err
	}
	table := p.Table(term.Column{Name: "OBJECT", Ink: term.States}, term.Column{Name: "URL", Least: 20}, term.Column{Name: "REASON", Least: 20})
	add := func(what string, list []report.Rejection) {
		for _, x := range list {
			table.Row(what, x.URL, x.Error)
		}
	}
	add("rejected", r.Rejected)
	add("failed", r.Failed)
	add("conflict", conflictLines(r))
	if e := r.Earlier; e != nil {
		add("rejected", e.Rejected)
		add("conflict", conflictLines(e))
	}
	if table.Empty() {
		return nil
	}
	fmt.Fprintln(p.Out)
	return table.Flush()
}
