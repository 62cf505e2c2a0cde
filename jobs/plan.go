package jobs

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
)

type planJob struct {
	workspace.SourceFlags
	Shard string `help:"List part I of N, from 0." placeholder:"I/N"`
	Limit int    `help:"List at most N objects." default:"100000" placeholder:"N"`
}

func (planJob) Help() string {
	return "Each line is an object that ingest would take. Run symlake ingest --only URL for one of them.\n\n" +
		"Example:\n  symlake plan --json"
}

// Check finds faults in the words before anything is opened.
func (j planJob) Check(s *session.Session) error {
	p := workspace.New(s)
	if _, err := (ingestJob{SourceFlags: j.SourceFlags, Shard: j.Shard}).options(p); err != nil {
		return err
	}
	if j.Limit < 0 {
		return exit.Usage("--limit %d is below 0", j.Limit)
	}
	return j.CheckSources(p)
}

// Run prints the pending objects, for a scheduler to map over.
func (j planJob) Run(p *workspace.Workspace) error {
	o, err := ingestJob{SourceFlags: j.SourceFlags, Shard: j.Shard}.options(p)
	if err != nil {
		return err
	}
	sources, unopened, err := j.Open(p)
	if err != nil {
		return err
	}
	if len(unopened) > 0 {
		return fmt.Errorf("source %s: %s", unopened[0].URL, unopened[0].Error)
	}
	s, err := p.OpenRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	o.Store, o.Keyring = s.Store, s.Ring
	watch := p.WatchBar("plan")
	list, more, err := ingest.Plan(p.Ctx, sources, o, max(j.Limit, 1))
	watch.Stop()
	if err != nil {
		return err
	}
	lines := tabwriter.NewWriter(p.Out, 0, 4, 2, ' ', 0)
	table := p.Table(term.Column{Name: "SIZE", Right: true}, term.Column{Name: "STATE", Ink: term.States}, term.Column{Name: "MODIFIED", Right: true, Spare: 1},
		term.Column{Name: "URL", Least: 20}, term.Column{Name: "REASON", Least: 14, Spare: 2})
	now := time.Now()
	for _, l := range list {
		switch {
		case table != nil:
			err = table.Row(term.Size(l.Size), string(l.State), term.Age(l.Modified, now), l.URL, l.Reason)
		case p.Flags.JSON:
			err = p.PrintJSON(l)
		default:
			_, err = fmt.Fprintf(lines, "%d\t%s\t%s\t%s\n", l.Size, l.State, term.OneLine(l.URL), term.OneLine(l.Reason))
		}
		if err != nil {
			return err
		}
	}
	if more > 0 {
		p.Log.Warn("more objects are pending", "objects", more)
	}
	if table != nil {
		return table.Flush()
	}
	return lines.Flush()
}
