package jobs

import (
	"fmt"
	"os/user"
	"time"

	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/sinks/row"
)

type gcJob struct {
	Grace  time.Duration `help:"Leave what is younger; keep it above the clients' catalog TTL." default:"24h"`
	DryRun bool          `help:"Print what would be removed; change nothing."`
}

func (gcJob) Help() string { return "Example:\n  symlake gc --grace 48h" }

// Run removes abandoned loads and those older than the previous one.
func (j gcJob) Run(p *process) error {
	s, err := p.openStore(j.DryRun)
	if err != nil {
		return err
	}
	defer s.Close()
	cat, ring, err := s.catalog(p)
	if err != nil {
		return err
	}
	alone := false
	if !j.DryRun {
		unlock, err := p.lockStore("wait")
		if err != nil {
			return err
		}
		defer unlock()
		alone = p.storeDir() != ""
	}
	r, err := ingest.GC(p.ctx, ingest.GCOptions{Store: s.Store, Keyring: ring, Grace: max(j.Grace, 1), DryRun: j.DryRun, Alone: alone, Now: time.Now})
	if err != nil {
		return err
	}
	if !j.DryRun && r.Loads > 0 {
		err := cat.Audit(p.ctx, row.Event{At: time.Now().UTC(), Who: who(), What: "gc", Detail: fmt.Sprintf("%d loads", r.Loads)})
		if err != nil {
			return err
		}
	}
	if p.flags.JSON {
		return p.printJSON(r)
	}
	_, err = fmt.Fprintf(p.out, "removed %d loads and %d bytes of unfinished batches\n", r.Loads, r.Freed)
	return err
}

// who is the person or service account that runs the job, for the audit.
func who() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
