package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/all"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
)

type initJob struct {
	NewBlocks bool `help:"Make an empty place for rows in a store that lost it (a dropped table, a removed folder). Its loads answer corrupt until load --force or ingest --force writes them again."`
}

func (initJob) Help() string {
	return "Never replaces a keyset or a configuration.\n\nExample:\n  symlake init --store file:/var/lib/symlake"
}

// configText is the symlake.yaml that init writes.
const configText = `# symlake.yaml; every key and its default: see README.md
# sources:
#   - url: s3://mobile-symbols/android/     # or a folder; region, profile, endpoint, path_style, anonymous for other S3 servers
#     include: ["**/*.so", "**/*.debug"]
#     names: "android/{app}/{build}/**"     # where APP@BUILD comes from
store: %s
lake: %s
keys: %s
limits: {memory: 512MiB, workers: 2, object: 16GiB}
`

// Run creates what is missing.
func (j initJob) Run(p *process) error {
	// What the user got wrong is found before anything is created.
	if err := p.checkLake(); err != nil {
		return err
	}
	if err := p.createTables(j.NewBlocks); err != nil {
		return err
	}
	path := p.flags.Config
	if path == "" {
		path = defaultConfig
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case err == nil:
		_, werr := fmt.Fprintf(f, configText, p.storeURL(), p.lakeText(), p.keyPlace().text())
		if err := errors.Join(werr, f.Close()); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		p.log.Info("created", "configuration", path)
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("create configuration: %w", err)
	}
	s, err := p.createStore()
	if err != nil {
		return err
	}
	if j.NewBlocks {
		err = s.audit(p, "init", "an empty place for rows: "+p.storeURL())
	}
	return errors.Join(err, s.Close())
}

// createStore makes what a store lacks (folders, keyset, store keys) and opens it for writing.
func (p *process) createStore() (*records, error) {
	if err := p.createTables(false); err != nil {
		return nil, err
	}
	tables, err := p.openTables(false)
	if err != nil {
		return nil, err
	}
	key, err := p.openOrCreateKey(tables)
	if err != nil {
		tables.Close()
		return nil, err
	}
	s := &opened{tables, key}
	ring, err := row.OpenKeyring(p.ctx, s.Store.Catalog, s.kek)
	fresh := errors.Is(err, row.ErrKeyless)
	if fresh {
		ring, err = row.CreateKeyring(p.ctx, s.Store.Catalog, s.kek)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("create store keys: %w", err)
	}
	r := &records{s, catalog.New(s.Store.Catalog, ring), ring}
	if fresh {
		if err := r.audit(p, "init", p.storeURL()); err != nil {
			s.Close()
			return nil, err
		}
	}
	return r, nil
}

// createTables makes what is missing of the place for rows and catalog. A key service is asked first
// whether it would wrap the keys of a new store: one that refuses leaves nothing behind. newBlocks: a place for rows is
// made for a catalog that lost its own.
func (p *process) createTables(newBlocks bool) error {
	if place := p.keyPlace(); place.keyset == "" {
		s, err := all.Open(p.ctx, p.storeURL(), p.storeOptions(true))
		if errors.Is(err, sinks.ErrMissing) {
			err = place.try(p.ctx)
		} else if err == nil {
			err = s.Close()
		} else if newBlocks && errors.Is(err, sinks.ErrLost) {
			err = nil // its keys are there
		}
		if err != nil {
			return unfit(fmt.Errorf("create store %s: %w", p.storeURL(), err))
		}
	}
	o := p.storeOptions(false)
	o.NewBlocks = newBlocks
	if err := all.Create(p.ctx, p.storeURL(), o); err != nil {
		return unfit(fmt.Errorf("create store %s: %w", p.storeURL(), err))
	}
	return nil
}

// openOrCreateKey gets the store's key-encryption key ready for use, a new keyset if the store has none.
func (p *process) openOrCreateKey(s *sinks.Store) (sinks.KEK, error) {
	place := p.keyPlace()
	if _, err := os.Stat(place.keyset); place.keyset != "" && errors.Is(err, fs.ErrNotExist) {
		if err := p.createKeyset(place, s); err != nil {
			return nil, err
		}
	}
	return place.open(p.ctx)
}

// createKeyset makes a keyset, but not for a store that has keys already: a
// new keyset could not open them, and would look like the right one.
func (p *process) createKeyset(place keyPlace, s *sinks.Store) error {
	path := place.keyset
	if _, err := row.OpenKeyring(p.ctx, s.Catalog, kek.Ephemeral()); !errors.Is(err, row.ErrKeyless) {
		return fmt.Errorf("keyset %s is missing, and store %s was sealed with it: put it back", path, p.storeURL())
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create keyset: %w", err)
	}
	if err := place.create(p.ctx); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	p.log.Info("created", "keyset", path)
	return nil
}
