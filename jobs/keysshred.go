package jobs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/upkeep/keys"
	"github.com/symlake/symlake/sinks/lookup"
)

type keysShredJob struct {
	Artifacts []string `arg:"" name:"artifact" help:"Any name of what is to be unreadable for good."`
	Yes       bool     `help:"Destroy without asking; without a terminal nothing is destroyed otherwise."`
}

func (keysShredJob) Help() string {
	return "Takes the artifact out of the lake, destroys the keys of all its loads, also in the catalog's past, and deletes its rows. It answers " +
		"\"sealed\" from then on; only ingest --force brings it back. What may still hold it elsewhere is printed: the object in the bucket, other stores, backups.\n\n" +
		"Example:\n  symlake keys shred 564bb6c8be48eea9d9db622b8689806eea5af3c7 --yes"
}

// Run shreds.
func (j keysShredJob) Run(p *process) error {
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
	ids, err := s.resolve(p, j.Artifacts)
	if err != nil {
		return err
	}
	lake, err := p.openLake(s, false)
	if err != nil && !errors.Is(err, errNoLake) {
		return err
	}
	for i, id := range ids {
		if err := s.audit(p, "shred", fmt.Sprintf("artifact %s, named as %s", id, j.Artifacts[i])); err != nil {
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
func (j keysShredJob) confirm(p *process) error {
	s, err := p.openRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	ids, err := s.resolve(p, j.Artifacts)
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
	return p.confirm(j.Yes, text.String())
}

// resolve gives the artifacts that names lead to, one each.
func (s *records) resolve(p *process, names []string) ([]symbol.ID, error) {
	client := lookup.New(s.Store, s.kek, lookup.Options{})
	var ids []symbol.ID
	for _, name := range names {
		r := client.Resolve(p.ctx, name, lookup.Narrow{})
		switch {
		case r.Record != nil:
			ids = append(ids, r.Record.ID)
		case len(r.Candidates) > 0:
			return nil, usage("%s names %d artifacts: name one by its id (symlake artifacts %s)", name, len(r.Candidates), name)
		default:
			return nil, fmt.Errorf("%s: %s: %s", name, r.Status, symbol.Answer{Status: r.Status, Err: r.Err}.Reason())
		}
	}
	return ids, nil
}
