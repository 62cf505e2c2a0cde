package jobs

import (
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

type keysShredJob struct {
	Artifacts []string `arg:"" name:"artifact" help:"Any name of what is to be unreadable for good."`
}

func (keysShredJob) Help() string {
	return "Takes the artifact out of the lake, destroys the keys of all its loads, also in the catalog's past, and deletes its rows. It answers " +
		"\"sealed\" from then on; only ingest --force brings it back. What may still hold it elsewhere is printed: the object in the bucket, other stores, backups.\n\n" +
		"Example:\n  symlake keys shred 564bb6c8be48eea9d9db622b8689806eea5af3c7"
}

// Run shreds.
func (j keysShredJob) Run(p *process) error {
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
	r, err := ingest.Shred(p.ctx, ingest.ShredOptions{Store: s.Store, Keyring: s.ring, Lake: lake, Artifacts: ids, Alone: p.storeDir() != ""})
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
			return nil, fmt.Errorf("%s: %s: %s", name, r.Status, wire.Reason(symbol.Answer{Status: r.Status, Err: r.Err}))
		}
	}
	return ids, nil
}
