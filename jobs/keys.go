package jobs

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/queries"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/all"
)

// keysJob groups what is done with keys.
type keysJob struct {
	List   keysListJob   `cmd:"" help:"Print the store keys: since when, under which key-encryption key, what still needs them."`
	Rotate keysRotateJob `cmd:"" help:"Make a new store key and bring every data key and record under it."`
	Shred  keysShredJob  `cmd:"" help:"Destroy the keys of artifacts for good."`
	Export keysExportJob `cmd:"" help:"Print what readers of a sealed lake need."`
}

type keysExportJob struct {
	For string `help:"Print one script, ready to run: pyarrow, polars, spark or duckdb." enum:",pyarrow,polars,spark,duckdb" default:"" placeholder:"ENGINE"`
}

func (keysExportJob) Help() string {
	return "Whoever has these keys reads the whole lake. The export is noted in the audit.\n\n" +
		"Example:\n  symlake keys export --lake\n  symlake keys export --lake --for pyarrow > read_sealed.py && python3 read_sealed.py"
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
