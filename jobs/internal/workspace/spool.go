package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Spool copies standard input into a file that only this user may read, for parsers that read at any place. remove
// deletes it.
func (p *Workspace) Spool() (path string, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "symlake-")
	if err != nil {
		return "", nil, fmt.Errorf("keep standard input in a file: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	path = filepath.Join(dir, "standard-input")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.Copy(f, p.In)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("keep standard input in a file: %w", err), remove())
	}
	return path, remove, nil
}
