package jobs

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest/upkeep"
	"github.com/symlake/symlake/ingest/upkeep/forget"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/wire"
)

type rollbackJob struct {
	Artifact string `arg:"" help:"Any name of the artifact."`
	App      string `help:"Build that an ambiguous name belongs to." placeholder:"APP@BUILD"`
}

// Supervised: the command runs in a worker.
func (rollbackJob) Supervised() bool { return true }

func (rollbackJob) Help() string {
	return "Only ingest --force replaces the load that is pinned so. A second rollback takes the first one back.\n\nExample:\n  symlake rollback libcart.so"
}

// Run publishes the previous load again.
func (j rollbackJob) Run(p *workspace.Workspace) error {
	s, lake, done, err := p.OpenToChange()
	if err != nil {
		return err
	}
	defer done()
	id, err := p.OneArtifact(s, j.Artifact, j.App)
	if err != nil {
		return err
	}
	lake.Until = time.Time{}
	now, err := upkeep.Rollback(p.Ctx, lake, id)
	if err == nil {
		err = publishTables(p, lake.Lake)
	}
	if err != nil {
		return err
	}
	if err := s.NoteEvent(p.Ctx, "rollback", fmt.Sprintf("%s to load %x", id, now.Published.Load)); err != nil {
		return err
	}
	if p.Flags.JSON {
		return p.PrintJSON(wire.NewArtifact(now))
	}
	_, err = fmt.Fprintf(p.Out, "%s answers from load %x of %s again, by parser %d\n", id, now.Published.Load, now.Published.At.UTC().Format(time.RFC3339), now.Published.Parser)
	return err
}

type forgetJob struct {
	Artifacts  []string      `arg:"" optional:"" name:"artifact" help:"Any name of each artifact. Or give a rule."`
	App        string        `help:"Forget all builds of APP, or one APP@BUILD." detail:"With artifacts it narrows their names." placeholder:"APP"`
	KeepLast   int           `help:"Keep the last N builds of each app." placeholder:"N"`
	OlderThan  time.Duration `help:"Forget what was loaded longer ago." placeholder:"400d"`
	UnaskedFor time.Duration `help:"Forget what no look-up asked for in this time." placeholder:"90d"`
	DryRun     bool          `help:"Print what forget would remove, and change nothing."`
	Yes        bool          `help:"Do not ask. Without a terminal, forget needs it."`
}

// Supervised: the command runs in a worker.
func (forgetJob) Supervised() bool { return true }

func (forgetJob) Help() string {
	return "An artifact goes when each rule says so. If another build has it, too, it only loses a name. " +
		"Only ingest --force brings a forgotten artifact back. The store frees its space at once, the lake with symlake compact.\n\n" +
		"Example:\n  symlake forget --app shop --keep-last 20 --dry-run\n  symlake forget --app shop --keep-last 20 --yes"
}

// Check finds faults in the words before anything is opened.
func (j forgetJob) Check(*session.Session) error {
	if j.KeepLast < 0 || j.OlderThan < 0 || j.UnaskedFor < 0 {
		return exit.Usage("--keep-last, --older-than and --unasked-for take nothing below 0")
	}
	if len(j.Artifacts) > 0 && (j.KeepLast > 0 || j.OlderThan > 0 || j.UnaskedFor > 0) {
		return exit.Usage("give artifacts or rules")
	}
	if len(j.Artifacts) == 0 && j.App == "" && j.KeepLast == 0 && j.OlderThan == 0 && j.UnaskedFor == 0 {
		return exit.Usage("no ARTIFACT and no rule given: symlake forget removes nothing without one (see symlake forget --help)")
	}
	return nil
}

// Run removes artifacts from store, lake and names.
func (j forgetJob) Run(p *workspace.Workspace) error {
	s, lake, done, err := p.OpenToChange()
	if err != nil {
		return err
	}
	defer done()
	o := forget.Options{Stores: lake, App: j.App, KeepLast: j.KeepLast, OlderThan: j.OlderThan, UnaskedFor: j.UnaskedFor, DryRun: j.DryRun}
	for _, name := range j.Artifacts {
		id, err := p.OneArtifact(s, name, j.App)
		if err != nil {
			return err
		}
		o.Artifacts = append(o.Artifacts, id)
	}
	if len(j.Artifacts) > 0 {
		o.App = ""
	}
	if !j.DryRun {
		if err := j.confirm(p, o); err != nil {
			return err
		}
	}
	watch := p.WatchBar("forget")
	r, err := forget.Run(p.Ctx, o)
	watch.Stop()
	if errors.Is(err, forget.ErrUnasked) {
		return exit.Usage("--unasked-for: %w", err)
	}
	if err == nil && !j.DryRun {
		err = publishTables(p, lake.Lake)
	}
	if err != nil {
		return err
	}
	if !j.DryRun && r.Artifacts+r.Renamed > 0 {
		detail := fmt.Sprintf("%d artifacts", r.Artifacts)
		if len(r.Forgotten) <= 10 {
			detail += ": " + strings.Join(r.Forgotten, " ")
		}
		if err := s.NoteEvent(p.Ctx, "forget", detail); err != nil {
			return err
		}
	}
	verb := "forgot"
	if j.DryRun {
		verb = "would forget"
	}
	return p.Print(r, prose.Forget(r), forgetText(verb, r)+"\n")
}

// confirm prints what would be forgotten, and asks.
func (j forgetJob) confirm(p *workspace.Workspace, o forget.Options) error {
	o.DryRun = true
	r, err := forget.Run(p.Ctx, o)
	if errors.Is(err, forget.ErrUnasked) {
		return exit.Usage("--unasked-for: %w", err)
	}
	if err != nil {
		return err
	}
	text := forgetText("will forget", r)
	if n := len(r.Forgotten); n > 0 {
		text += ": " + strings.Join(r.Forgotten[:min(n, forgetShown)], " ")
		if n > forgetShown {
			text += " …"
		}
	}
	return term.Confirm(p.In, p.ErrOut, j.Yes, text)
}

// forgetShown artifacts are named before they are forgotten; --dry-run --json names more.
const forgetShown = 20

func forgetText(verb string, r *forget.Report) string {
	return fmt.Sprintf("%s %d artifacts, %d loads of %d bytes; %d lose a build; %d objects", verb, r.Artifacts, r.Loads, r.Bytes, r.Renamed, r.Objects)
}
