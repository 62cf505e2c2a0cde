package file

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/sinks"
)

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

// validName reports whether name is the name of a file of rows. A damaged catalog must not lead out of
// the folder.
func validName(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == nameDigits
}

// Owns reports whether an entry of a store's folder, by its name, is a file or folder of the store.
func Owns(name string) bool {
	return name == formatName || name == blocksName || name == lockName ||
		strings.HasPrefix(name, catalogName) || strings.HasPrefix(name, lockName+"-")
}

// nameDigits: 8 random bytes of the batch and a count of 8, in hex, as HBase wants an HFile called.
const nameDigits = 32
