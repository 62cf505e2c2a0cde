package file

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/symlake/symlake/sinks/hostfile"
)

// store is what Blocks and Catalog share.
type store struct {
	dir      string
	readOnly bool
	now      func() time.Time
	db       *database
	files    *handles
	where    *places
}

// path is where the file of that name stands once it is committed.
func (s *store) path(name string) string {
	return filepath.Join(s.dir, blocksName, name[:2], name+".hfile")
}

// temporary is where a file stands until its batch is committed.
func (s *store) temporary(name string) string {
	return filepath.Join(s.dir, blocksName, name[:2], name+".tmp")
}

// unlink removes files that no load names any more. It leaves a file that it cannot remove to Tidy.
func (s *store) unlink(names []string) error {
	var all error
	for _, name := range names {
		s.files.forget(name)
		if err := hostfile.Unlink(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}
