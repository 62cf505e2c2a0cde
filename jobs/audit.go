package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks/catalog/audit"
)

type auditJob struct {
	Head  bool      `help:"Print only the hash of the last event." detail:"Keep it outside the store. symlake verify --audit-head compares it."`
	What  string    `help:"List events of this kind." enum:",init,rotate,reseal,rehome,shred,export,load,copied,rollback,forget,gc,force,conflict,accept,dismiss,damage" default:"" placeholder:"KIND"`
	Since time.Time `help:"List events from this time on, such as 2026-01-31T15:04:05Z." placeholder:"TIME"`
}

func (auditJob) Help() string { return "Example:\n  symlake audit --what shred --json" }

// eventJSON is one line of the audit.
type eventJSON struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	What   string    `json:"what"`
	Detail string    `json:"detail,omitempty"`
}

// headJSON is the head of the audit.
type headJSON struct {
	Head   string `json:"head"`
	Events int    `json:"events"` // of the chain that ends in it
	Before int    `json:"before"` // events that are older than the chain, and covered by it
}

// head prints the hash of the last event, unless the events before it do not lead there.
func (auditJob) head(p *workspace.Workspace, s *session.Records) error {
	chain, err := s.Audit.Chain(p.Ctx)
	if err != nil {
		return err
	}
	if len(chain.Problems) > 0 {
		return fmt.Errorf("the audit is damaged, and its head means nothing: %w", errors.Join(chain.Problems...))
	}
	if p.Flags.JSON {
		return p.PrintJSON(headJSON{chain.Head, chain.Events, chain.Before})
	}
	_, err = fmt.Fprintln(p.Out, chain.Head)
	return err
}

// isHead checks that a head of the audit can be one ("": none is given).
func isHead(text string) error {
	if b, err := hex.DecodeString(text); text != "" && (err != nil || len(b) != sha256.Size) {
		return exit.Usage("--audit-head %q: want the 64 hex digits that symlake audit --head prints", text)
	}
	return nil
}

// Run prints the audit, in the order in which it was written.
func (j auditJob) Run(p *workspace.Workspace) error {
	s, err := p.OpenRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	if j.Head {
		return j.head(p, s)
	}
	table := p.Table(term.Column{Name: "WHEN"}, term.Column{Name: "AGE", Right: true, Spare: 1}, term.Column{Name: "WHAT", Ink: term.Loud}, term.Column{Name: "WHO", Least: 8}, term.Column{Name: "DETAIL", Least: 20})
	now := time.Now()
	err = s.Audit.Each(p.Ctx, func(e audit.Event) error {
		if j.What != "" && e.What != j.What || e.At.Before(j.Since) {
			return nil
		}
		if table != nil {
			return table.Row(e.At.Local().Format(time.DateTime), term.Age(e.At, now), e.What, e.Who, e.Detail)
		}
		if p.Flags.JSON {
			return p.PrintJSON(eventJSON{e.At, e.Who, e.What, e.Detail})
		}
		_, err := fmt.Fprintf(p.Out, "%s  %-8s %-12s %s\n", e.At.Format(time.RFC3339), e.What, e.Who, term.OneLine(e.Detail))
		return err
	})
	if table != nil {
		err = errors.Join(err, table.Flush())
	}
	return err
}
