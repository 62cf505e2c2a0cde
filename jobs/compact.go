package jobs

import (
	"fmt"
	"time"

	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
)

type compactJob struct {
	workspace.MissingFlags
	Grace  time.Duration  `help:"Keep files that the lake no longer names so long, for readers." default:"24h"`
	Target settings.Bytes `help:"Leave files of this size alone." default:"128MiB" placeholder:"SIZE"`
	Rekey  bool           `help:"Seal files again that are under an older key."`
	DryRun bool           `help:"Print what compact would do, and change nothing."`
}

// Supervised: the command runs in a worker.
func (compactJob) Supervised() bool { return true }

func (compactJob) Help() string {
	return "compact brings the lake up to the store, merges small files and drops replaced rows. --lake-profile converts the lake.\n\n" +
		"Example:\n  symlake compact\n  symlake compact --lake-profile plain"
}

// Check finds faults in the words before anything is opened.
func (j compactJob) Check(s *session.Session) error {
	if j.Grace < 0 {
		return exit.Usage("--grace %v is below 0", j.Grace)
	}
	return workspace.New(s).CheckLake()
}

// Run merges small files of the lake.
func (j compactJob) Run(p *workspace.Workspace) error {
	s, err := p.OpenRecords(j.DryRun)
	if j.Skips(p.Session, err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	lake, err := p.OpenLake(s, false)
	if err != nil {
		return err
	}
	profile := ""
	if p.Given("lake-profile") { // a conversion is an order: the environment gives none
		profile = p.Flags.LakeProfile
	}
	watch := p.WatchBar("compact")
	defer watch.Stop()
	r, err := projection.Compact(p.Ctx, projection.CompactOptions{Stores: projection.Stores{Store: s.Store, Keyring: s.Ring, Lake: lake},
		TargetBytes: int64(j.Target), Grace: max(j.Grace, 1), Profile: profile, Rekey: j.Rekey, DryRun: j.DryRun,
		Progress: func(done, total int) {
			watch.At(term.Step{Done: int64(done), Total: int64(total), Unit: "artifact"}, "")
		}})
	watch.Stop()
	if err != nil {
		return err
	}
	nameTables(p, r.Tables)
	return p.Print(r, prose.Compact(r, j.DryRun), fmt.Sprintf("%d artifacts added, %d dropped, %d told anew; %d files rewritten as %d, %d deleted; %d bytes, were %d\n",
		r.Added, r.Dropped, r.Facts, r.Rewritten, r.Written, r.Deleted, r.After, r.Before))
}
