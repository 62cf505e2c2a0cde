package jobs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/ingest"
)

type keysShredJob struct {
	Artifacts []string `arg:"" name:"artifact" help:"Any name of what is to be unreadable for good."`
	Yes       bool     `help:"Destroy without asking; without a terminal nothing is destroyed otherwise."`
}

// supervised: the command runs in a worker.
func (keysShredJob) supervised() bool { return true }

func (keysShredJob) Help() string {
	return "Takes the artifact out of the lake, destroys the keys of all its loads, also in the catalog's past, and deletes its rows. It answers " +
		"\"sealed\" from then on; only ingest --force brings it back. What may still hold it elsewhere is printed: the object in the bucket, other stores, backups.\n\n" +
		"Example:\n  symlake keys shred 564bb6c8be48eea9d9db622b8689806eea5af3c7 --yes"
}

// Run shreds.
func (j keysShredJob) Run(p *workspace) error {
	if err := j.confirm(p); err != nil {
		return err
	}
	unlock, err := p.lockStore("wait")
	if err != nil {
		return err
	}
	defer unlock()
	s, err := p.openRecords(false)
	if err != nil {
		return err
	}
	defer s.Close()
	ids, err := p.resolve(s, j.Artifacts)
	if err != nil {
		return err
	}
	lake, err := p.openLake(s, false)
	if err != nil && !errors.Is(err, errNoLake) {
		return err
	}
	for i, id := range ids {
		if err := s.audit(p.ctx, "shred", fmt.Sprintf("artifact %s, named as %s", id, j.Artifacts[i])); err != nil {
			return err
		}
	}
	r, err := keys.Shred(p.ctx, keys.ShredOptions{Store: s.Store, Keyring: s.ring, Lake: lake, Artifacts: ids, Alone: p.storeDir() != ""})
	if p.flags.JSON {
		return errors.Join(err, p.printJSON(r))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%d artifacts shredded: %d loads, %d files of the lake deleted. Not reached:\n", len(r.Artifacts), r.Loads, r.LakeFiles)
	for _, left := range r.Left {
		if _, err := fmt.Fprintf(p.out, "  %s\n", left); err != nil {
			return err
		}
	}
	return nil
}

// confirm prints whose keys would be destroyed, and asks. No lock is held meanwhile.
func (j keysShredJob) confirm(p *workspace) error {
	s, err := p.openRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	ids, err := p.resolve(s, j.Artifacts)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "will destroy for good all keys of %d artifacts, their rows and their files of the lake:", len(ids))
	for i, id := range ids {
		rec, err := s.Artifacts.Get(p.ctx, id)
		if err != nil {
			return err
		}
		if fmt.Fprintf(&text, "\n  %s, named as %s", id, j.Artifacts[i]); rec != nil && rec.Published != nil {
			fmt.Fprintf(&text, ": %d ranges or classes in %d rows of %d bytes", rec.Published.Ranges, rec.Published.Rows, rec.Published.Bytes)
		}
	}
	return confirm(p.in, p.err, j.Yes, text.String())
}
