package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/hostfile"
	"github.com/symlake/symlake/sinks/internal/newfile"
)

// damaged is the ETag of an entry if even the size of its file is out of reach, as with a link that leads
// nowhere. Open says why.
const damaged = "unreadable"

// List implements bucket.Bucket. One folder's names are held at a time per
// level. A folder that cannot be read does not end the listing: its error comes
// when everything else has been emitted, so the caller knows that keys are missing.
func (b *Bucket) List(ctx context.Context, prefix, after string, emit func(bucket.Entry) error) error {
	l := lister{ctx: ctx, root: b.root, hide: b.hide, prefix: prefix, after: after, emit: emit}
	if l.hide != nil {
		var err error
		if l.real, err = filepath.EvalSymlinks(b.root); err != nil {
			return fmt.Errorf("list %s: %w", b.root, absent(err))
		}
	}
	if err := l.folder(""); err != nil {
		return err
	}
	if len(l.unread) > 0 {
		return fmt.Errorf("%w: %w", bucket.ErrPartial, errors.Join(l.unread...))
	}
	return nil
}

type lister struct {
	ctx           context.Context
	root          string
	real          string // root without links, if something is hidden
	hide          func(path string) bool
	prefix, after string
	emit          func(bucket.Entry) error
	unread        []error // the first of them
}

// folder lists the folder of the keys that begin with base, which is "" or
// ends with a slash.
func (l *lister) folder(base string) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	f := folder{path: filepath.Join(l.root, filepath.FromSlash(base))}
	defer f.close()
	list, err := f.list()
	if err != nil && (base == "" || !errors.Is(err, fs.ErrNotExist)) { // one removed meanwhile is gone
		if base == "" {
			return fmt.Errorf("list %s: %w", l.root, absent(err))
		}
		if len(l.unread) < 100 {
			l.unread = append(l.unread, fmt.Errorf("list folder: %w", err))
		}
	}
	// In byte order of whole keys a folder sorts as its name and a slash:
	// "a.b" is before "a/b", though "a" is before "a.b".
	names := make([]string, 0, len(list))
	real := ""
	if l.hide != nil {
		real = strings.TrimSuffix(filepath.Join(l.real, filepath.FromSlash(base)), string(filepath.Separator)) + string(filepath.Separator)
	}
	for _, e := range list {
		name := e.Name()
		switch {
		case l.hide != nil && l.hidden(real+name, e.Type()):
			continue
		case temporary(name):
			continue
		case e.IsDir():
			name += "/"
		case e.Type()&^fs.ModeSymlink != 0:
			continue // device, socket, pipe
		}
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		key := base + name
		if strings.HasSuffix(name, "/") {
			if l.within(key) {
				f.close() // however deep folders are nested, one is open
				err = l.folder(key)
			}
		} else if strings.HasPrefix(key, l.prefix) && key > l.after {
			err = l.file(&f, key, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folder is a folder that is listed. It is open while its files are looked at.
type folder struct {
	path string
	open *os.File // nil: it is not
}

// opened opens the folder, if it is not.
func (f *folder) opened() (_ *os.File, err error) {
	if f.open == nil {
		f.open, err = os.Open(f.path)
	}
	return f.open, err
}

// list returns the entries of the folder, in any order.
func (f *folder) list() ([]fs.DirEntry, error) {
	dir, err := f.opened()
	if err != nil {
		return nil, err
	}
	return dir.ReadDir(-1)
}

// status returns the status of a file in the folder.
func (f *folder) status(name string) (hostfile.Status, error) {
	dir, err := f.opened()
	if err != nil {
		return hostfile.Status{}, err
	}
	return hostfile.StatusIn(dir, name)
}

func (f *folder) close() {
	if f.open != nil {
		f.open.Close() // only read from
	}
	f.open = nil
}

// hidden reports whether the listing leaves out a folder or file, by its path without links.
func (l *lister) hidden(path string, mode fs.FileMode) bool {
	if l.hide(path) {
		return true
	}
	if mode&fs.ModeSymlink == 0 {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	return err == nil && l.hide(target)
}

// within: the folder may hold keys that are asked for.
func (l *lister) within(folder string) bool {
	if !strings.HasPrefix(folder, l.prefix) && !strings.HasPrefix(l.prefix, folder) {
		return false
	}
	return folder > l.after || strings.HasPrefix(l.after, folder)
}

// file emits the entry of a file of a folder.
func (l *lister) file(f *folder, key, name string) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	s, err := f.status(name)
	switch {
	case err != nil:
		if _, lerr := os.Lstat(filepath.Join(f.path, name)); lerr != nil {
			return nil // removed meanwhile
		}
		return l.emit(bucket.Entry{Key: key, ETag: damaged})
	case !s.Regular:
		return nil // a link to a folder or a device
	}
	return l.emit(entry(key, s))
}

// temporary: the name of an unfinished write.
func temporary(name string) bool { return strings.HasPrefix(name, newfile.Prefix) }
