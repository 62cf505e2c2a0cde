// Package newfile makes files that appear under their name whole or not at all, and that a process which is killed
// leaves no trace of: until it is linked, a file has no name where the system can do that (Linux, on most file systems).
//
// It leaves to others whether the folder is to be synced. Invariants: nothing is replaced; elsewhere the file
// has a name of Prefix while it is written.
package newfile

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"github.com/symlake/symlake/sinks/hostfile"
)

// Prefix begins the names of files that are being written.
const Prefix = ".symlake-"

// File is a new file. One goroutine uses it.
type File struct {
	*os.File
	dir   string
	named bool // it has a temporary name
}

// Create makes an empty file for a place in dir.
func Create(dir string, mode os.FileMode) (*File, error) {
	f, err := unnamed(dir, mode)
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		return createNamed(dir, mode)
	}
	return &File{File: f, dir: dir}, nil
}

// Unnamed makes an empty file for a place on dir's file system that has no name and is gone when it is closed without one; nil
// where there are no such files.
func Unnamed(dir string, mode os.FileMode) (*os.File, error) { return unnamed(dir, mode) }

// Link syncs a file of Unnamed and gives it a name; fs.ErrExist when something has it.
func Link(f *os.File, to string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	return link(f, to)
}

func createNamed(dir string, mode os.FileMode) (*File, error) {
	name := filepath.Join(dir, Prefix+rand.Text())
	create := hostfile.OpenFile
	if mode.Perm()&0o077 == 0 {
		create = func(name string, _ int, _ os.FileMode) (*os.File, error) { return hostfile.CreatePrivate(name) }
	}
	f, err := create(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &File{File: f, dir: dir, named: true}, nil
}

// Link syncs the file and gives it its name in the folder; fs.ErrExist when something has it.
func (f *File) Link(name string) error {
	to := filepath.Join(f.dir, name)
	if !f.named {
		return Link(f.File, to)
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Link(f.Name(), to)
}

// Close ends the file; without a link it is gone.
func (f *File) Close() error {
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
