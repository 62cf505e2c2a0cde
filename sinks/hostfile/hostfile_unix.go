//go:build unix

package hostfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const nonBlocking = unix.O_NONBLOCK

func openFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

func lock(f *os.File, shared, wait bool) (ok bool, err error) {
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

func folderFile(dir, _ string) (*os.File, error) { return os.Open(dir) }

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func lockName(name, _ string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if _, err := lock(f, false, true); err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	// The holder of the lock before may have replaced the name.
	locked, err := f.Stat()
	var now fs.FileInfo
	if err == nil {
		now, err = os.Stat(name)
	}
	if err == nil && !os.SameFile(now, locked) {
		err = &fs.PathError{Op: "lock", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil // closing the descriptor unlocks
}

// unlink is not os.Remove, which takes empty folders too.
func unlink(name string) error { return unix.Unlink(name) }

func nameless(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "symlake-*.scratch")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%w: its mode is %#o, others must have no access: chmod 600 %s", fs.ErrPermission, mode, f.Name())
	}
	return nil
}

func createPrivate(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

func identity(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

func statusIn(folder *os.File, name string) (Status, error) {
	var s unix.Stat_t
	for {
		err := unix.Fstatat(int(folder.Fd()), name, &s, 0)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return Status{}, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
	}
	return Status{s.Size, time.Unix(s.Mtim.Unix()), s.Ino, s.Mode&unix.S_IFMT == unix.S_IFREG}, nil
}

func full(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EMFILE)
}

func mapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

func unmapFile(mapped []byte) error { return unix.Munmap(mapped) }
