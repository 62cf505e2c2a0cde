package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks/hostfile"
)

// Tidy removes the files that no load names and no living batch writes, if
// nothing was written to them since before. It shrinks the catalog where that pays.
func (b blocks) Tidy(ctx context.Context, before time.Time) (freed int64, err error) {
	if b.readOnly {
		return 0, errReadOnly
	}
	if err := tidyFormat(b.dir, before); err != nil {
		return 0, err
	}
	folders, err := os.ReadDir(filepath.Join(b.dir, blocksName))
	if err != nil {
		return 0, err
	}
	for _, d := range folders {
		if err := ctx.Err(); err != nil {
			return freed, err
		}
		n, err := b.tidy(filepath.Join(b.dir, blocksName, d.Name()), before)
		freed += n
		if err != nil {
			return freed, err
		}
	}
	n, err := b.db.shrink(ctx)
	return freed + n, err
}

// tidyFormat removes what processes left that were killed while they made the store.
func tidyFormat(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), formatName+".") || filepath.Ext(e.Name()) != ".tmp" {
			continue
		}
		info, ierr := e.Info()
		if ierr == nil && info.ModTime().Before(before) {
			ierr = os.Remove(filepath.Join(dir, e.Name()))
		}
		if !errors.Is(ierr, fs.ErrNotExist) {
			err = errors.Join(err, ierr)
		}
	}
	return err
}

func (b blocks) tidy(folder string, before time.Time) (freed int64, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0, err
	}
	var old []fs.FileInfo
	var names []string
	for _, e := range entries {
		name, kind, _ := strings.Cut(e.Name(), ".")
		if !validName(name) || kind != "tmp" && kind != "hfile" {
			continue // not ours
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if info.ModTime().Before(before) && !b.living(name) {
			old, names = append(old, info), append(names, name)
		}
	}
	if len(old) == 0 {
		return 0, nil
	}
	used, err := b.where.inUse(names) // asked last: a batch that is over cannot enter anything any more
	if err != nil {
		return 0, err
	}
	for i, info := range old {
		if used[names[i]] {
			continue
		}
		err := hostfile.Unlink(filepath.Join(folder, info.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return freed, err
		}
		freed += info.Size()
	}
	return freed, nil
}

// living tells whether the batch of a file is still being written, by the lock on its first file.
func (b blocks) living(name string) bool {
	first := name[:nameDigits/2] + strings.Repeat("0", nameDigits/2)
	for _, path := range []string{b.temporary(first), b.path(first)} {
		f, err := hostfile.Open(path)
		if err != nil {
			continue
		}
		ok, err := hostfile.Lock(f, false, false)
		f.Close()
		if !ok || err != nil {
			return true
		}
	}
	return false
}
