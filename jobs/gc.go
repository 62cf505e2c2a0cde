package jobs

import (
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/keys"
)

type gcJob struct {
	missingFlags
	Grace  time.Duration `help:"Leave what is younger; keep it above the clients' catalog TTL." default:"24h"`
	DryRun bool          `help:"Print what would be removed; change nothing."`
}

// supervised: the command runs in a worker.
func (gcJob) supervised() bool { return true }

func (gcJob) Help() string { return "Example:\n  symlake gc --grace 48h" }

// Run removes abandoned loads and those older than the previous one.
func (j gcJob) Run(p *workspace) error {
	s, err := p.openRecords(j.DryRun)
	if j.skips(p.process, err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	alone := false
	if !j.DryRun {
		unlock, err := p.lockStore("wait")
		if err != nil {
			return err
		}
		defer unlock()
		alone = p.storeDir() != ""
	}
	r, err := gc.Run(p.ctx, gc.Options{Store: s.Store, Keyring: s.ring, Grace: max(j.Grace, 1), DryRun: j.DryRun, Alone: alone, Now: time.Now})
	if err != nil {
		return err
	}
	if !j.DryRun && r.Loads > 0 {
		err := s.audit(p.ctx, "gc", fmt.Sprintf("%d loads", r.Loads))
		if err != nil {
			return err
		}
	}
	if !j.DryRun {
		if err := j.retire(p, s); err != nil {
			return err
		}
	}
	if p.flags.JSON {
		err = p.printJSON(r)
	} else {
		_, err = fmt.Fprintf(p.out, "removed %d loads and %d bytes of unfinished batches\n", r.Loads, r.Freed)
	}
	for _, d := range r.Damaged {
		fmt.Fprintf(p.err, "%s: %s\n", d.Where, d.Error)
	}
	if err == nil && len(r.Damaged) > 0 {
		err = fmt.Errorf("%d artifacts are damaged, and gc left them as they are: see symlake verify", len(r.Damaged))
	}
	return err
}

// retire deletes store keys that nothing needs since before the grace.
func (j gcJob) retire(p *workspace, s *records) error {
	lake, err := p.openLake(s, false)
	if err != nil && !errors.Is(err, errNoLake) {
		return err
	}
	gone, err := keys.Retire(p.ctx, s.Store, s.ring, lake, max(j.Grace, 1), time.Now())
	for _, v := range gone {
		err = errors.Join(err, s.audit(p.ctx, "gc", fmt.Sprintf("store key %d", v)))
	}
	return err
}
