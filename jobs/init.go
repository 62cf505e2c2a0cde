package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks/stores"
)

type initJob struct {
	NewBlocks bool `help:"Make an empty place for rows in a store that lost it: a dropped table, a removed folder." detail:"Look-ups answer corrupt until load --force or ingest --force writes the rows again."`
}

func (initJob) Help() string {
	return "init never replaces a keyset or a configuration. With --config FILE it makes FILE.\n\nExample:\n  symlake init\n  symlake init --config /etc/symlake.yaml --store /var/lib/symlake"
}

// configText is the symlake.yaml that init writes.
const configText = `# symlake.yaml; every key and its default: symlake help settings
# sources:
#   - url: s3://mobile-symbols/android/     # or a folder; region, profile, endpoint, path_style, anonymous for other S3 servers
#     include: ["**/*.so", "**/*.debug"]
#     names: "android/{app}/{build}/**"     # where APP@BUILD comes from
store: %s
lake: %s
keys: %s
limits: {memory: 512MiB, workers: 2, object: 16GiB}
`

// MakesConfig says that the command makes the configuration file that --config names.
func (initJob) MakesConfig() {}

// Check finds faults in the words before anything is made.
func (initJob) Check(s *session.Session) error {
	if session.IsRemote(s.StoreURL()) {
		return exit.Usage("%s %s is a symlake serve: init makes a store. Name a folder or hbase://HOST:PORT/NAMESPACE", s.Origin("store", s.Flags.Store, "store"), s.StoreURL())
	}
	return workspace.New(s).CheckLake()
}

// Run creates the missing parts.
func (j initJob) Run(p *workspace.Workspace) error {
	if err := p.CreateTables(j.NewBlocks); err != nil {
		return err
	}
	if err := makeConfig(p); err != nil {
		return err
	}
	s, err := p.CreateStore()
	if err != nil {
		return err
	}
	if j.NewBlocks {
		err = errors.Join(s.Obligations.DropPass(p.Ctx), s.NoteEvent(p.Ctx, "init", "an empty place for rows: "+p.StoreURL()))
	}
	return errors.Join(err, s.Close())
}

// makeConfig writes the configuration file, unless it is there.
func makeConfig(p *workspace.Workspace) error {
	path := cmp.Or(p.Flags.Config, settings.File)
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of the configuration: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		p.Log.Info("kept, because it is there already", "configuration", path)
		return nil
	}
	if err != nil {
		return fmt.Errorf("create configuration: %w", err)
	}
	place := placeFrom(dir)
	keys := p.KeyPlace()
	if keys.Keyset != "" {
		keys.Keyset = place(keys.Keyset)
	}
	_, err = fmt.Fprintf(f, configText, place(p.StoreURL()), p.LakeText(place), keys.Text())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	p.Log.Info("created", "configuration", path)
	return nil
}

// placeFrom returns a function that writes a place of this folder as a file in dir names it. Relative paths in a
// configuration count from its own folder.
func placeFrom(dir string) func(url string) string {
	here, err := filepath.Abs(".")
	there, terr := filepath.Abs(dir)
	return func(url string) string {
		scheme, path := stores.Split(url)
		if err != nil || terr != nil || here == there || scheme != "file" || filepath.IsAbs(stores.Path(path)) {
			return url
		}
		abs := filepath.Join(here, path)
		if path == url {
			return abs
		}
		return "file:" + abs
	}
}
