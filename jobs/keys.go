package jobs

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/ingest/upkeep/keys"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/queries"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/all"
)

// keysJob groups the commands about keys.
type keysJob struct {
	List   keysListJob   `cmd:"" help:"List store keys, and what uses them."`
	Rotate keysRotateJob `cmd:"" help:"Make a new store key, and wrap every data key under it."`
	Shred  keysShredJob  `cmd:"" help:"Destroy the keys of artifacts for good."`
	Export keysExportJob `cmd:"" help:"Print keys and scripts that read a sealed lake."`
}

type keysExportJob struct {
	For string `help:"Print one script that runs: pyarrow, polars, spark or duckdb." enum:",pyarrow,polars,spark,duckdb" default:"" placeholder:"ENGINE"`
}

func (keysExportJob) Help() string {
	return "With these keys a reader opens the whole lake. The audit notes the export.\n\n" +
		"Example:\n  symlake keys export --lake\n  symlake keys export --lake --for pyarrow > read_sealed.py"
}

// exportJSON is what --json prints.
type exportJSON struct {
	Lake    string            `json:"lake"`
	Profile string            `json:"profile"`
	Keys    map[string]string `json:"keys"` // id → base64
}

// Run prints master keys and, for each engine, a script that reads the lake with them.
func (j keysExportJob) Run(p *workspace.Workspace) error {
	s, err := p.OpenRecords(false)
	if err != nil {
		return err
	}
	defer s.Close()
	lake, err := p.OpenLake(s, false)
	if err != nil {
		return err
	}
	profile, masters, err := all.LakeMasters(p.Ctx, lake)
	switch {
	case err != nil:
		return err
	case profile == "":
		return fmt.Errorf("lake %s is empty", p.LakeURL())
	case profile != sinks.LakeSealed:
		return exit.Usage("lake %s is %s: readers need no key", p.LakeURL(), profile)
	}
	if err := s.NoteEvent(p.Ctx, "export", "lake keys "+strings.Join(sortedKeys(masters), " ")); err != nil {
		return err
	}
	keys := map[string]string{}
	for id, key := range masters {
		keys[id] = base64.StdEncoding.EncodeToString(key)
	}
	if p.Flags.JSON {
		return p.PrintJSON(exportJSON{p.LakeURL(), profile, keys})
	}
	if j.For != "" {
		text, err := queries.Reader(j.For, p.LakeURL(), keys)
		if err == nil {
			_, err = fmt.Fprint(p.Out, text)
		}
		return err
	}
	fmt.Fprintf(p.Out, "lake %s\n", p.LakeURL())
	for _, id := range sortedKeys(keys) {
		fmt.Fprintf(p.Out, "key %s %s\n", id, keys[id])
	}
	for _, engine := range queries.Readers() {
		text, err := queries.Reader(engine, p.LakeURL(), keys)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.Out, "\n#---- %s: save as read_%s.py\n\n%s", engine, engine, text); err != nil {
			return err
		}
	}
	return nil
}

type keysShredJob struct {
	Artifacts []string `arg:"" name:"artifact" help:"Any name of each artifact."`
	Yes       bool     `help:"Do not ask. Without a terminal, shred needs it."`
}

// Supervised: the command runs in a worker.
func (keysShredJob) Supervised() bool { return true }

func (keysShredJob) Help() string {
	return "shred takes the artifact out of the lake, destroys the keys of all its loads, and deletes its rows. Look-ups answer " +
		"\"sealed\" from then on. Only ingest --force brings it back. shred cannot reach the object in the bucket, other stores and backups. It lists them.\n\n" +
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
	watch := p.WatchBar("keys shred")
	r, err := keys.Shred(p.Ctx, keys.ShredOptions{Store: s.Store, Keyring: s.Ring, Lake: lake, Artifacts: ids, Alone: p.StoreDir() != ""})
	watch.Stop()
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

// confirm names the artifacts that would lose their keys, and asks. No lock is held meanwhile.
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
