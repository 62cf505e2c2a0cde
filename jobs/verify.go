package jobs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/jobs/internal/host"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
)

type verifyJob struct {
	AuditHead string `help:"Check that the audit goes on from this head, and lost no event since." detail:"symlake audit --head prints it." placeholder:"HEAD"`
	Resume    string `help:"Note in this file which loads were read. After a run that died, the next one reads the rest." placeholder:"FILE"`
	Digest    bool   `help:"Print a hash of the content alone, without keys, ids and times."`
}

// Supervised: the command runs in a worker.
func (verifyJob) Supervised() bool { return true }

func (verifyJob) Help() string {
	return "verify prints each problem. If there is one, the exit code is 1.\n\nExample:\n  symlake verify\n  symlake verify --digest"
}

// Check finds faults in the words before anything is opened.
func (j verifyJob) Check(*session.Session) error { return isHead(j.AuditHead) }

// Run reads everything back; every problem is printed, and any makes exit code 1.
func (j verifyJob) Run(p *workspace.Workspace) (err error) {
	ended := false // nothing is left to read
	s, err := p.OpenRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	lake, err := p.OpenLake(s, false)
	if err != nil && !errors.Is(err, workspace.ErrNoLake) {
		return err
	}
	var notes *verify.Notes
	if j.Resume != "" {
		if notes, err = verify.OpenNotes(j.Resume); err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
		defer func() { err = errors.Join(err, notes.Close(ended)) }()
	}
	watch := p.WatchBar("verify")
	defer watch.Stop()
	_, total, err := p.Contents(s, watch)
	if err != nil {
		return err
	}
	v, err := verify.Run(p.Ctx, verify.Options{Store: s.Store, Keyring: s.Ring, Lake: lake, AuditHead: strings.ToLower(j.AuditHead), Notes: notes, Alive: host.ProcessAlive, Progress: func(stage string, bytes uint64) {
		step := term.Step{Done: int64(bytes), Total: max(total, int64(bytes)), Text: stage}
		if stage == "lake" {
			step = term.Step{Text: "files of the lake"}
		}
		watch.At(step, "")
	}, Problem: func(f report.Problem) {
		fmt.Fprintf(p.ErrOut, "%s: %s\n", f.Where, f.Error)
	}})
	watch.Stop()
	if err != nil {
		return err
	}
	ended = true
	if j.Digest && !p.Flags.JSON {
		_, err = fmt.Fprintln(p.Out, v.Digest)
	} else {
		waiting := ""
		if v.Waiting > 0 {
			waiting = fmt.Sprintf(", %d on their way there", v.Waiting)
		}
		noted := ""
		if v.Noted > 0 {
			noted = fmt.Sprintf(" (%d read by an earlier run)", v.Noted)
		}
		err = p.Print(v, prose.Verify(v), fmt.Sprintf("%d artifacts, %d loads%s, %d rows, %d ranges, %d bytes; %d artifacts in the lake%s: %d problems\n", v.Artifacts, v.Loads, noted, v.Rows, v.Ranges, v.Bytes, v.InLake, waiting, len(v.Problems)))
	}
	if err == nil && len(v.Problems) > 0 {
		err = fmt.Errorf("%d problems found", len(v.Problems))
	}
	return err
}
