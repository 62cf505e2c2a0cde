package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/hostfile"
	"github.com/symlake/symlake/sinks/internal/newfile"
)

// Draft implements bucket.Drafter.
func (b *Bucket) Draft(folder string) (*os.File, error) {
	dir, err := b.path(folder)
	if err != nil {
		return nil, fmt.Errorf("folder %q is no path below the bucket's", folder)
	}
	if err := makeFolder(dir); err != nil {
		return nil, fmt.Errorf("create a file in %s: %w", dir, err)
	}
	return newfile.Unnamed(dir, 0o666)
}

// Publish implements bucket.Drafter.
func (b *Bucket) Publish(f *os.File, key string) error {
	p, err := b.path(key)
	if err != nil {
		return fmt.Errorf("key %q is no path below the folder", key)
	}
	err = newfile.Link(f, p)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: %w", p, bucket.ErrChanged)
	}
	if err != nil {
		return err
	}
	return hostfile.SyncFolder(filepath.Dir(p))
}
