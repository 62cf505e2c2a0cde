package jobs

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/catalog"
)

type objectsJob struct {
	URL     string `arg:"" optional:"" name:"url" help:"List objects whose URL begins so."`
	State   string `help:"List objects in this state." enum:",pending,loading,loaded,kept,conflict,skipped,rejected,failed,gone" default:"" placeholder:"STATE"`
	Retry   string `help:"Clear the quarantine of this object. The next ingest tries it again." placeholder:"URL" xor:"change"`
	Accept  string `help:"Settle the conflicts of this object for it. The next ingest publishes it." placeholder:"URL" xor:"change"`
	Dismiss string `help:"Settle the conflicts of this object against it. The published artifact stays." placeholder:"URL" xor:"change"`
}

func (objectsJob) Help() string {
	return "An object is in conflict when it brings other content for an artifact of another owner. --state conflict also lists objects with some such artifacts.\n\n" +
		"Example:\n  symlake objects --state rejected --json\n  symlake objects --retry s3://mobile-symbols/android/libcart.so"
}

// Run prints the ledger in order of URLs.
func (j objectsJob) Run(p *workspace.Workspace) error {
	change := j.Retry + j.Accept + j.Dismiss
	s, err := p.OpenRecords(change == "")
	if err != nil {
		return err
	}
	defer s.Close()
	switch {
	case j.Retry != "":
		return j.retry(p, s)
	case change != "":
		return j.settle(p, s)
	}
	conflicts := map[string][]report.Conflict{}
	err = s.Conflicts.Each(p.Ctx, "", func(c *catalog.Conflict) error {
		conflicts[c.KeptOut.URL] = append(conflicts[c.KeptOut.URL], report.NewConflict(c))
		return nil
	})
	if err != nil {
		return err
	}
	lines := tabwriter.NewWriter(p.Out, 0, 4, 2, ' ', 0)
	table := p.Table(term.Column{Name: "STATE", Ink: term.States}, term.Column{Name: "SIZE", Right: true}, term.Column{Name: "SEEN", Right: true, Spare: 1},
		term.Column{Name: "TRIES", Right: true, Spare: 2}, term.Column{Name: "URL", Least: 20}, term.Column{Name: "REASON", Least: 14, Spare: 3})
	now := time.Now()
	err = s.Ledger.Each(p.Ctx, j.URL, func(o *catalog.Object) error {
		if j.State != "" && string(o.State) != j.State && (j.State != string(catalog.ObjectConflict) || conflicts[o.URL] == nil) {
			return nil
		}
		if table != nil {
			attempts := "-"
			if o.Attempts > 0 {
				attempts = term.Count(o.Attempts)
			}
			return table.Row(string(o.State), term.Size(o.Size), term.Age(o.First, now), attempts, o.URL, o.Reason)
		}
		if !p.Flags.JSON {
			_, err := fmt.Fprintf(lines, "%s\t%d\t%s\t%s\n", o.State, o.Size, term.OneLine(o.URL), term.OneLine(o.Reason))
			return err
		}
		out := wire.NewObject(o)
		out.Conflicts = conflicts[o.URL]
		return p.PrintJSON(out)
	})
	if err != nil {
		return err
	}
	if table != nil {
		return table.Flush()
	}
	return lines.Flush()
}

// settle ends the conflicts of an object, and notes in the audit how.
func (j objectsJob) settle(p *workspace.Workspace, s *session.Records) error {
	note := func(what string) func(*catalog.Conflict) error {
		return func(c *catalog.Conflict) error { return s.NoteEvent(p.Ctx, what, c.String()) }
	}
	var err error
	if j.Accept != "" {
		err = conflicts.Accept(p.Ctx, s.Catalog, j.Accept, time.Now().UTC(), note("accept"))
	} else {
		err = conflicts.Dismiss(p.Ctx, s.Catalog, j.Dismiss, note("dismiss"))
	}
	if errors.Is(err, conflicts.ErrNone) {
		return exit.Usage("%w", err)
	}
	return err
}

// retry makes an object look as if it had just been listed.
func (j objectsJob) retry(p *workspace.Workspace, s *session.Records) error {
	old, err := s.Ledger.Get(p.Ctx, j.Retry)
	if err != nil {
		return err
	}
	if old == nil {
		return exit.Usage("object %s is not in the ledger", j.Retry)
	}
	o := *old
	o.State, o.Reason, o.Attempts = catalog.ObjectPending, "", 0
	if err := s.Ledger.Swap(p.Ctx, old, &o); err != nil {
		return fmt.Errorf("clear quarantine of %s: %w", j.Retry, err)
	}
	return nil
}
