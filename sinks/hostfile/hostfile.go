// Package hostfile does with files what each system does in its own way: locks, folders made durable, files without a
// name, files that are replaced or removed while they are open, and files that only their owner may read.
//
// Linux, macOS and the BSDs share one form, Windows has its own. Each function states where they differ.
package hostfile

import (
	"fmt"
	"io/fs"
	"os"
	"time"
)

// NonBlocking is a flag of OpenFile: it opens a pipe without waiting for its other end.
const NonBlocking = nonBlocking

// Open opens a file for reading, so that other processes may rename or remove it meanwhile.
func Open(name string) (*os.File, error) { return OpenFile(name, os.O_RDONLY, 0) }

// OpenFile is os.OpenFile. On Windows, too, the file may be renamed and removed while it is open.
func OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	return openFile(name, flag, perm)
}

// Lock locks an open file until it is closed, shared with others or alone. If another descriptor has a lock in its way,
// Lock waits, or returns false if wait is not set. The lock ends with the process, and holds off only processes that ask for one.
func Lock(f *os.File, shared, wait bool) (ok bool, err error) { return lock(f, shared, wait) }

// LockFolder locks a folder for this process alone, and waits for it. Where a folder cannot be locked itself, the
// lock is on a file of that name in it.
func LockFolder(dir, name string) (unlock func(), err error) {
	f, err := folderFile(dir, name)
	if err != nil {
		return nil, err
	}
	if _, err := lock(f, false, true); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock folder %s: %w", dir, err)
	}
	return func() { f.Close() }, nil // closing the last descriptor unlocks
}

// SyncFolder makes the names in a folder durable. Windows does that by itself: NTFS keeps a journal of them.
func SyncFolder(dir string) error { return syncFolder(dir) }

// LockName locks a file, which its caller replaces by renaming another one, against others that do so by LockName. Its error is
// fs.ErrNotExist if the file is gone, or another one has taken its name meanwhile. Where an open file cannot be replaced,
// the lock is on a file beside it.
func LockName(name, beside string) (unlock func(), err error) { return lockName(name, beside) }

// Unlink removes a file. A folder stays, and is an error.
func Unlink(name string) error { return unlink(name) }

// Nameless makes a file for reading and writing in dir ("": the system's folder for such) that is gone once it is
// closed, however the process ends.
func Nameless(dir string) (*os.File, error) { return nameless(dir) }

// Private reports whether only its owner, and administrators, may read the open file. The error says how to make it so.
func Private(f *os.File) error { return private(f) }

// CreatePrivate makes a new file for reading and writing; only its owner, and administrators, may read it.
func CreatePrivate(name string) (*os.File, error) { return createPrivate(name) }

// Identity returns a number that tells a file from a later file of the same name: the inode, or the time when the file was made.
func Identity(info fs.FileInfo) uint64 { return identity(info) }

// Status is what tells a file from an earlier or a later state of it.
type Status struct {
	Size     int64
	Modified time.Time
	Identity uint64 // as Identity returns it
	Regular  bool   // it is no folder, device, socket or pipe
}

// StatusOf returns the status that info holds.
func StatusOf(info fs.FileInfo) Status {
	return Status{info.Size(), info.ModTime(), Identity(info), info.Mode().IsRegular()}
}

// StatusIn returns the status of a file in an open folder. It follows a link. os.Stat would look up each folder of the path again.
func StatusIn(folder *os.File, name string) (Status, error) { return statusIn(folder, name) }

// Full reports whether an error says that the disk is full, or that this user or process has used up its share.
func Full(err error) bool { return full(err) }

// Local returns an error if other machines share the file system of a folder.
func Local(dir string) error {
	kind, err := network(dir)
	if err != nil {
		return fmt.Errorf("ask for the file system of %s: %w", dir, err)
	}
	if kind != "" {
		return fmt.Errorf("it is on %s, where locks and shared memory do not hold: a file store needs a local disk (many machines: an hbase store)", kind)
	}
	return nil
}

// Map maps a file of that size for reading. The caller unmaps it before it closes the file. Where a mapped file cannot
// be replaced by others, as on Windows, Map returns nil and no error.
func Map(f *os.File, size int) (mapped []byte, err error) { return mapFile(f, size) }

// Unmap ends a mapping of Map.
func Unmap(mapped []byte) error { return unmapFile(mapped) }
