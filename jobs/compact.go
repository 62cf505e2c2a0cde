package jobs

import (
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks"
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

// lakeJob groups the commands about the lake's tables.
type lakeJob struct {
	Publish lakePublishJob `cmd:"" help:"Bring the Iceberg tables up to the lake."`
}

type lakePublishJob struct {
	DryRun bool `help:"Print which tables are behind, and change nothing."`
}

// Supervised: the command runs in a worker.
func (lakePublishJob) Supervised() bool { return true }

func (lakePublishJob) Help() string {
	return "ingest and compact publish, too. Run this after a catalog was down, or to fill a new catalog. A sealed lake has no Iceberg tables.\n\n" +
		"Example:\n  symlake lake publish\n  symlake lake publish --dry-run"
}

// Check finds faults in the words before anything is opened.
func (lakePublishJob) Check(s *session.Session) error {
	return workspace.New(s).CheckLake()
}

// publishJSON is what lake publish did.
type publishJSON struct {
	Lake   string             `json:"lake"`
	DryRun bool               `json:"dry_run,omitempty"`
	Tables []projection.Table `json:"tables"`
}

// Run brings the tables up.
func (j lakePublishJob) Run(p *workspace.Workspace) error {
	if p.Config.Lake.Catalog == settings.LakeOff {
		return exit.Usage("lake.catalog is off: there are no Iceberg tables to publish")
	}
	s, err := p.OpenRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	lake, err := p.OpenLake(s, false)
	if err != nil {
		return err
	}
	tables, err := projection.Publish(p.Ctx, lake, sinks.LakePublish{Run: workspace.RunID(""), DryRun: j.DryRun})
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return exit.Usage("lake %s is sealed or empty: it has no Iceberg tables; symlake compact --lake-profile plain converts it", p.LakeURL())
	}
	text, behind := "", 0
	for _, t := range tables {
		text += tableText(t) + "\n"
		if t.Behind != "" {
			behind++
		}
	}
	err = p.Print(publishJSON{p.LakeURL(), j.DryRun, tables}, text, text)
	if behind > 0 && !j.DryRun {
		err = errors.Join(err, fmt.Errorf("%d of %d Iceberg tables are behind: see above", behind, len(tables)))
	}
	return err
}

// tableText tells where a table stands on one line.
func tableText(t projection.Table) string {
	if t.Behind != "" {
		return fmt.Sprintf("%s is behind, at log %d of %d: %s", t.Table, t.Log, t.Newest, term.OneLine(t.Behind))
	}
	return fmt.Sprintf("%s shows log %d", t.Table, t.Newest)
}

// publishTables brings the tables up to a change of the lake, and names the tables that are behind on standard error.
func publishTables(p *workspace.Workspace, lake sinks.Lake) error {
	tables, err := projection.Publish(p.Ctx, lake, sinks.LakePublish{Run: workspace.RunID("")})
	nameTables(p, tables)
	return err
}

// nameTables names the tables that are behind on standard error.
func nameTables(p *workspace.Workspace, tables []projection.Table) {
	for _, t := range tables {
		if t.Behind != "" {
			fmt.Fprintf(p.ErrOut, "symlake: Iceberg table %s\n", tableText(t))
		}
	}
}

// tablesNow tells where the Iceberg tables stand. A lake that cannot be read is one more thing to tell.
func tablesNow(p *workspace.Workspace, s *session.Records) []projection.Table {
	lake, err := p.OpenLake(s, false)
	if errors.Is(err, workspace.ErrNoLake) {
		return nil
	}
	var tables []projection.Table
	if err == nil {
		tables, err = projection.Publish(p.Ctx, lake, sinks.LakePublish{DryRun: true})
	}
	if err != nil {
		return []projection.Table{{Table: "of lake " + p.LakeURL(), Behind: err.Error()}}
	}
	return tables
}
