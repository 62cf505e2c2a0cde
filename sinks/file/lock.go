package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrLocked: another holder has the store's ingest lock.
var ErrLocked = errors.New("store is locked: another ingest is running")

// Lock takes the store's one ingest lock, or gives ErrLocked at once. The lock
// goes with its process, however that ends. Neither readers nor the store's own
// functions ask for it.
func Lock(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock store: %w", err)
	}
	ok, err := flock(f, false)
	if err == nil && !ok {
		err = ErrLocked
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock store %s: %w", dir, err)
	}
	return func() { f.Close() }, nil // closing the last descriptor unlocks
}

// flock takes an exclusive lock on an open file; ok false: another descriptor has it and wait is not set.
func flock(f *os.File, wait bool) (ok bool, err error) {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err = unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
