package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/symlake/symlake/sinks"
)

// CreateBlocks makes an empty folder for the rows of the store in dir where it is missing. Loads whose rows were
// in the old one answer corrupt until they are written again.
func CreateBlocks(dir string) error {
	if err := checkFormat(dir); err != nil {
		return err
	}
	if err := refuseNetwork(dir); err != nil {
		return err
	}
	err := os.Mkdir(filepath.Join(dir, blocksName), 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return errors.Join(err, syncFolder(dir))
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
