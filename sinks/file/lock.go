package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/symlake/symlake/sinks/hostfile"
)

// ErrLocked says that another process holds the store's ingest lock.
var ErrLocked = errors.New("store is locked: another ingest is running")

// Lock takes the store for this process alone, as gc needs it, or gives ErrLocked at once. A lock
// goes with its process, however that ends. Neither readers nor the store's own
// functions ask for it.
func Lock(dir string) (unlock func(), err error) {
	f, err := lock(dir, lockName, false)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil // closing the last descriptor unlocks
}

// Join takes the store beside others that joined it, and the name for this process alone. "" takes no
// name. Join returns ErrLocked at once if another process has the store alone, or has the name.
func Join(dir, name string) (unlock func(), err error) {
	all, err := lock(dir, lockName, true)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return func() { all.Close() }, nil
	}
	own, err := lock(dir, lockName+"-"+name, false)
	if err != nil {
		all.Close()
		return nil, err
	}
	return func() { own.Close(); all.Close() }, nil
}

func lock(dir, name string, shared bool) (*os.File, error) {
	f, err := hostfile.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock store: %w", err)
	}
	ok, err := hostfile.Lock(f, shared, false)
	if err == nil && !ok {
		err = ErrLocked
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock store %s: %w", dir, err)
	}
	return f, nil
}
