package jobs

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/symlake/symlake/sinks/row"
)

type objectsJob struct {
	URL   string `arg:"" optional:"" name:"url" help:"Only objects whose URL begins so."`
	State string `help:"Only this state: pending, loading, loaded, kept, skipped, rejected, failed or gone." placeholder:"STATE"`
	Retry string `help:"Clear the quarantine of this URL, so that the next ingest tries it again." placeholder:"URL"`
}

func (objectsJob) Help() string { return "Example:\n  symlake objects --state rejected --json" }

// objectJSON is a ledger entry as --json prints it.
type objectJSON struct {
	URL       string         `json:"url"`
	ETag      string         `json:"etag"`
	Size      int64          `json:"size"`
	State     string         `json:"state"`
	Reason    string         `json:"reason,omitempty"`
	Attempts  int            `json:"attempts"`
	First     time.Time      `json:"first"`
	Last      time.Time      `json:"last"`
	Seconds   float64        `json:"seconds"`
	Run       string         `json:"run"`
	App       string         `json:"app,omitempty"`
	Artifacts []objectMember `json:"artifacts"`
}

type objectMember struct {
	Artifact string `json:"artifact,omitempty"`
	Member   string `json:"member"`
	Outcome  string `json:"outcome"`
	Error    string `json:"error,omitempty"`
}

// Run prints the ledger in order of URLs.
func (j objectsJob) Run(p *process) error {
	s, err := p.openRecords(j.Retry == "")
	if err != nil {
		return err
	}
	defer s.Close()
	if j.Retry != "" {
		return j.retry(p, s)
	}
	table := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	err = s.Objects(p.ctx, j.URL, func(o *row.Object) error {
		if j.State != "" && string(o.State) != j.State {
			return nil
		}
		if !p.flags.JSON {
			_, err := fmt.Fprintf(table, "%s\t%d\t%s\t%s\n", o.State, o.Size, oneLine(o.URL), oneLine(o.Reason))
			return err
		}
		out := objectJSON{URL: o.URL, ETag: o.ETag, Size: o.Size, State: string(o.State), Reason: o.Reason, Attempts: o.Attempts,
			First: o.First, Last: o.Last, Seconds: o.Seconds, Run: o.Run, App: o.App, Artifacts: []objectMember{}}
		for _, a := range o.Artifacts {
			m := objectMember{Member: a.Member, Outcome: a.Outcome, Error: a.Error}
			if a.ID != [16]byte{} {
				m.Artifact = a.ID.String()
			}
			out.Artifacts = append(out.Artifacts, m)
		}
		return p.printJSON(out)
	})
	if err != nil {
		return err
	}
	return table.Flush()
}

// retry makes an object look as if it had just been listed.
func (j objectsJob) retry(p *process, s *records) error {
	old, err := s.Object(p.ctx, j.Retry)
	if err != nil {
		return err
	}
	if old == nil {
		return usage("object %s is not in the ledger", j.Retry)
	}
	o := *old
	o.State, o.Reason, o.Attempts = row.ObjectPending, "", 0
	if err := s.SwapObject(p.ctx, old, &o); err != nil {
		return fmt.Errorf("clear quarantine of %s: %w", j.Retry, err)
	}
	return nil
}
