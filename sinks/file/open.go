package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hostfile"
)

// Options are for Open; zero values are for a reader and writer.
type Options struct {
	ReadOnly bool // needs no write permission anywhere and creates nothing
	// OpenFiles bounds the HFiles held open between questions; 0: 256. Each
	// costs a descriptor and its root index, mostly some KiB.
	OpenFiles int
	Now       func() time.Time // noted in files as when they were made; nil: time.Now
}

// Create makes a store in dir, folders above it too, unless there is one.
func Create(dir string) error {
	switch err := checkFormat(dir); {
	case err == nil:
		return nil
	case !errors.Is(err, sinks.ErrMissing):
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, blocksName), 0o755); err != nil {
		return err
	}
	if err := hostfile.Local(dir); err != nil {
		return err
	}
	// SQLite does not wait for another process that makes the database too.
	unlock, err := hostfile.LockFolder(dir, lockName+"-create")
	if err != nil {
		return err
	}
	defer unlock()
	if err := checkFormat(dir); !errors.Is(err, sinks.ErrMissing) {
		return err // somebody was faster
	}
	if err := createDatabase(filepath.Join(dir, catalogName)); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, formatName+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone once renamed
	_, err = fmt.Fprintf(f, "%s%d\n", formatText, version)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, formatName))
	}
	if err != nil {
		return err
	}
	return errors.Join(hostfile.SyncFolder(dir), hostfile.SyncFolder(filepath.Dir(dir)))
}

// Open opens the store in dir; sinks.ErrMissing when there is none.
func Open(dir string, o Options) (*sinks.Store, error) {
	s, err := open(dir, o)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	return &sinks.Store{Blocks: blocks{s}, Catalog: catalog{s.db}, Close: s.close, Purge: s.purge}, nil
}

func open(dir string, o Options) (*store, error) {
	if err := checkFormat(dir); err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		if err := hostfile.Local(dir); err != nil {
			return nil, err
		}
	}
	if o.OpenFiles == 0 {
		o.OpenFiles = 256
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	dir, err := filepath.Abs(dir) // a later change of the working folder changes nothing
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(filepath.Join(dir, catalogName), o.ReadOnly)
	if err != nil {
		return nil, err
	}
	s := &store{dir: dir, readOnly: o.ReadOnly, now: o.Now, db: db}
	s.files = newHandles(s.path, o.OpenFiles)
	s.where = newPlaces(db)
	if !o.ReadOnly {
		if err := s.haveBlocks(); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func (s *store) close() error {
	s.files.close()
	return s.db.close()
}

// CreateBlocks makes an empty folder for rows if the store in dir has none. Loads with rows in the old
// folder answer corrupt until their rows are written again.
func CreateBlocks(dir string) error {
	if err := checkFormat(dir); err != nil {
		return err
	}
	if err := hostfile.Local(dir); err != nil {
		return err
	}
	err := os.Mkdir(filepath.Join(dir, blocksName), 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return errors.Join(err, hostfile.SyncFolder(dir))
}

// haveBlocks is sinks.ErrLost if the folder of the rows is missing and the catalog names files in it. Where it
// names none, nothing is lost, and the folder is made.
func (s *store) haveBlocks() error {
	folder := filepath.Join(s.dir, blocksName)
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	loads, err := s.where.page(nil, nil, 1)
	switch {
	case err != nil:
		return err
	case len(loads) == 0:
		return CreateBlocks(s.dir)
	}
	return fmt.Errorf("%w: folder %s is missing, and %s names files in it: restore it from a backup; or run symlake init --new-blocks, "+
		"which makes an empty one, and copy the rows again: symlake load --force --from another store, or symlake ingest --force",
		sinks.ErrLost, folder, catalogName)
}
