package jobs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/ingest/upkeep/keys"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
)

type keysShredJob struct {
	Artifacts []string `arg:"" name:"artifact" help:"Any name of what is to be unreadable for good."`
	Yes       bool     `help:"Destroy without asking; without a terminal nothing is destroyed otherwise."`
}

// Supervised: the command runs in a worker.
func (keysShredJob) Supervised() bool { return true }

func (keysShredJob) Help() string {
	return "Takes the artifact out of the lake, destroys the keys of all its loads, also in the catalog's past, and deletes its rows. It answers " +
		"\"sealed\" from then on; only ingest --force brings it back. What may still hold it elsewhere is printed: the object in the bucket, other stores, backups.\n\n" +
		"Example:\n  symlake keys shred 564bb6c8be48eea9d9db622b8689806eea5af3c7 --yes"
}

// Run shreds.
func (j keysShredJob) Run(p *workspace.Workspace) error {
	if err := j.confirm(p); err != nil {
		return err
	}
	unlock, err := p.LockStore("wait")
	if err != nil {
		return err
	}
	defer unlock()
	s, err := p.OpenRecords(false)
	if err != nil {
		return err
	}
	defer s.Close()
	ids, err := p.Resolve(s, j.Artifacts)
	if err != nil {
		return err
	}
	lake, err := p.OpenLake(s, false)
	if err != nil && !errors.Is(err, workspace.ErrNoLake) {
		return err
	}
	for i, id := range ids {
		if err := s.NoteEvent(p.Ctx, "shred", fmt.Sprintf("artifact %s, named as %s", id, j.Artifacts[i])); err != nil {
			return err
		}
	}
	r, err := keys.Shred(p.Ctx, keys.ShredOptions{Store: s.Store, Keyring: s.Ring, Lake: lake, Artifacts: ids, Alone: p.StoreDir() != ""})
	if p.Flags.JSON {
		return errors.Join(err, p.PrintJSON(r))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%d artifacts shredded: %d loads, %d files of the lake deleted. Not reached:\n", len(r.Artifacts), r.Loads, r.LakeFiles)
	for _, left := range r.Left {
		if _, err := fmt.Fprintf(p.Out, "  %s\n", left); err != nil {
			return err
		}
	}
	return nil
}

// confirm prints whose keys would be destroyed, and asks. No lock is held meanwhile.
func (j keysShredJob) confirm(p *workspace.Workspace) error {
	s, err := p.OpenRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	ids, err := p.Resolve(s, j.Artifacts)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "will destroy for good all keys of %d artifacts, their rows and their files of the lake:", len(ids))
	for i, id := range ids {
		rec, err := s.Artifacts.Get(p.Ctx, id)
		if err != nil {
			return err
		}
		if fmt.Fprintf(&text, "\n  %s, named as %s", id, j.Artifacts[i]); rec != nil && rec.Published != nil {
			fmt.Fprintf(&text, ": %d ranges or classes in %d rows of %d bytes", rec.Published.Ranges, rec.Published.Rows, rec.Published.Bytes)
		}
	}
	return term.Confirm(p.In, p.ErrOut, j.Yes, text.String())
}
