package jobs

import (
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/keys"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
)

type gcJob struct {
	workspace.MissingFlags
	Grace  time.Duration `help:"Keep loads that were replaced in this time." detail:"Keep it above the time for which clients remember catalog records." default:"24h"`
	DryRun bool          `help:"Print what gc would remove, and change nothing."`
}

// Supervised: the command runs in a worker.
func (gcJob) Supervised() bool { return true }

func (gcJob) Help() string {
	return "gc keeps the published load of each artifact and the one before it.\n\nExample:\n  symlake gc --grace 48h\n  symlake gc --dry-run"
}

// Check finds faults in the words before anything is opened.
func (j gcJob) Check(*session.Session) error {
	if j.Grace < 0 {
		return exit.Usage("--grace %v is below 0", j.Grace)
	}
	return nil
}

// Run removes abandoned loads and those older than the previous one.
func (j gcJob) Run(p *workspace.Workspace) error {
	s, err := p.OpenRecords(j.DryRun)
	if j.Skips(p.Session, err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	alone := false
	if !j.DryRun {
		unlock, err := p.LockStore("wait")
		if err != nil {
			return err
		}
		defer unlock()
		alone = p.StoreDir() != ""
	}
	watch := p.WatchBar("gc")
	defer watch.Stop()
	r, err := gc.Run(p.Ctx, gc.Options{Store: s.Store, Keyring: s.Ring, Grace: max(j.Grace, 1), DryRun: j.DryRun, Alone: alone, Now: time.Now,
		Progress: func(stage string, done, total int) {
			watch.At(term.Step{Done: int64(done), Total: int64(total), Unit: stage}, "")
		}})
	if err != nil {
		return err
	}
	if !j.DryRun && r.Loads > 0 {
		err := s.NoteEvent(p.Ctx, "gc", fmt.Sprintf("%d loads", r.Loads))
		if err != nil {
			return err
		}
	}
	if !j.DryRun {
		if err := j.retire(p, s); err != nil {
			return err
		}
	}
	watch.Stop()
	err = p.Print(r, prose.Collect(r, j.DryRun), fmt.Sprintf("removed %d loads and %d bytes of unfinished batches\n", r.Loads, r.Freed))
	for _, d := range r.Damaged {
		fmt.Fprintf(p.ErrOut, "%s: %s\n", d.Where, d.Error)
	}
	if err == nil && len(r.Damaged) > 0 {
		err = fmt.Errorf("%d artifacts are damaged, and gc left them as they are: see symlake verify", len(r.Damaged))
	}
	return err
}

// retire deletes store keys that nothing needs since before the grace.
func (j gcJob) retire(p *workspace.Workspace, s *session.Records) error {
	lake, err := p.OpenLake(s, false)
	if err != nil && !errors.Is(err, workspace.ErrNoLake) {
		return err
	}
	gone, err := keys.Retire(p.Ctx, s.Store, s.Ring, lake, max(j.Grace, 1), time.Now())
	for _, v := range gone {
		err = errors.Join(err, s.NoteEvent(p.Ctx, "gc", fmt.Sprintf("store key %d", v)))
	}
	return err
}
