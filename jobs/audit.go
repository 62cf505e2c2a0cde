package jobs

import (
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks/row"
)

type auditJob struct {
	What  string    `help:"Only events of this kind: init, rotate, reseal, rehome, shred, export, load, copied, rollback, forget, gc, force, conflict, accept, dismiss." placeholder:"KIND"`
	Since time.Time `help:"Only events from this time on, as 2006-01-02T15:04:05Z." placeholder:"TIME"`
}

func (auditJob) Help() string { return "Example:\n  symlake audit --what shred --json" }

// eventJSON is one line of the audit.
type eventJSON struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	What   string    `json:"what"`
	Detail string    `json:"detail,omitempty"`
}

// Run prints the audit, oldest first.
func (j auditJob) Run(p *process) error {
	s, err := p.openRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Events(p.ctx, func(e row.Event) error {
		if j.What != "" && e.What != j.What || e.At.Before(j.Since) {
			return nil
		}
		if p.flags.JSON {
			return p.printJSON(eventJSON{e.At, e.Who, e.What, e.Detail})
		}
		_, err := fmt.Fprintf(p.out, "%s  %-8s %-12s %s\n", e.At.Format(time.RFC3339), e.What, e.Who, oneLine(e.Detail))
		return err
	})
}
