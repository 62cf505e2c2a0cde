package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
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
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock store: %w", err)
	}
	ok, err := flockAs(f, false, shared)
	if err == nil && !ok {
		err = ErrLocked
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock store %s: %w", dir, err)
	}
	return f, nil
}

// flock takes an exclusive lock on an open file; ok false: another descriptor has it and wait is not set.
func flock(f *os.File, wait bool) (ok bool, err error) { return flockAs(f, wait, false) }

// flockAs is flock, or takes a lock that others may share.
func flockAs(f *os.File, wait, shared bool) (ok bool, err error) {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
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
