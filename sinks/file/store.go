package file

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
)

// Options are for Open; zero values are for a reader and writer.
type Options struct {
	ReadOnly bool // needs no write permission anywhere and creates nothing
	// OpenFiles bounds the HFiles held open between questions; 0: 256. Each
	// costs a descriptor and its root index, mostly some KiB.
	OpenFiles int
	Now       func() time.Time // noted in files as when they were made; nil: time.Now
}

const (
	formatName = "format"
	formatText = "symlake file store "
	// version of the folder's layout: durable; 1 is what doc.go shows.
	version     = 1
	catalogName = "catalog.db"
	blocksName  = "blocks"
	lockName    = "lock"
)

var errReadOnly = errors.New("store is open for reading only")

// store is what Blocks and Catalog share.
type store struct {
	dir      string
	readOnly bool
	now      func() time.Time
	db       *database
	files    *handles
	where    *places
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
	if err := refuseNetwork(dir); err != nil {
		return err
	}
	// SQLite does not wait for another process that makes the database too.
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close() // and with it the lock ends
	if _, err := flock(folder, true); err != nil {
		return err
	}
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
	return errors.Join(syncFolder(dir), syncFolder(filepath.Dir(dir)))
}

// checkFormat tells whether dir holds a store that this code knows.
func checkFormat(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, formatName))
	if errors.Is(err, fs.ErrNotExist) {
		return sinks.ErrMissing
	}
	if err != nil {
		return err
	}
	var v int
	if n, err := fmt.Sscanf(string(b), formatText+"%d\n", &v); n != 1 || err != nil {
		return fmt.Errorf("%s: %w: want %q", formatName, sinks.ErrCorrupt, formatText+"N")
	}
	if v != version {
		return fmt.Errorf("layout is version %d, this program knows %d", v, version)
	}
	return nil
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
		if err := refuseNetwork(dir); err != nil {
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

// path is where the file of that name stands once it is committed.
func (s *store) path(name string) string {
	return filepath.Join(s.dir, blocksName, name[:2], name+".hfile")
}

// validName tells a file's name from whatever else; names from a damaged catalog must not lead out of the folder.
func validName(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == nameDigits
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Owns reports whether an entry of a store's folder, by its name, is a file or folder of the store.
func Owns(name string) bool {
	return name == formatName || name == blocksName || name == lockName ||
		strings.HasPrefix(name, catalogName) || strings.HasPrefix(name, lockName+"-")
}
