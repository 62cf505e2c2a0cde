package file

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/hostfile"
	"github.com/symlake/symlake/sinks/internal/newfile"
)

// Create implements bucket.Bucket. A new name is made by a hard link, which
// exactly one of several writers gets; to replace a file, writers take turns by
// a lock on the file that is replaced. Writers that do not use this package are
// not held off.
func (b *Bucket) Create(ctx context.Context, key, etag string, r io.Reader) error {
	p, err := b.path(key)
	if err != nil {
		return fmt.Errorf("key %q is no path below the folder", key)
	}
	dir := filepath.Dir(p)
	if err := makeFolder(dir); err != nil {
		return fmt.Errorf("create %s: %w", p, err)
	}
	if etag == "" {
		err = writeNew(ctx, p, r)
	} else {
		err = writeOver(ctx, p, etag, r)
	}
	if err != nil {
		return err
	}
	return hostfile.SyncFolder(dir)
}

// writeNew writes a file that must be new.
func writeNew(ctx context.Context, p string, r io.Reader) (err error) {
	f, err := newfile.Create(filepath.Dir(p), 0o666)
	if err != nil {
		return fmt.Errorf("create %s: %w", p, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.Copy(f, &canceled{ctx, r}); err != nil {
		return fmt.Errorf("create %s: %w", p, err)
	}
	err = f.Link(filepath.Base(p))
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s exists: %w", p, bucket.ErrChanged)
	}
	return err
}

// writeOver writes a file in the place of another.
func writeOver(ctx context.Context, p, etag string, r io.Reader) error {
	temp, err := writeTemporary(ctx, filepath.Dir(p), r)
	if err != nil {
		return fmt.Errorf("create %s: %w", p, err)
	}
	if err := replace(temp, p, etag); err != nil {
		os.Remove(temp) // the first error counts
		return err
	}
	return nil
}

// replace renames temp to p if p still is the file with that ETag.
func replace(temp, p, want string) error {
	gone := fmt.Errorf("%s: %w", p, bucket.ErrChanged)
	unlock, err := hostfile.LockName(p, newfile.Prefix+"lock")
	if errors.Is(err, fs.ErrNotExist) {
		return gone
	}
	if err != nil {
		return err
	}
	defer unlock()
	info, err := os.Stat(p)
	if errors.Is(err, fs.ErrNotExist) || err == nil && etag(hostfile.StatusOf(info)) != want {
		return gone
	}
	if err != nil {
		return err
	}
	return os.Rename(temp, p)
}

// writeTemporary writes and syncs r to a new file in dir.
func writeTemporary(ctx context.Context, dir string, r io.Reader) (name string, err error) {
	name = filepath.Join(dir, newfile.Prefix+rand.Text())
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, &canceled{ctx, r})
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(name)
		return "", err
	}
	return name, nil
}

// canceled is a reader that ends with its context.
type canceled struct {
	ctx context.Context
	r   io.Reader
}

func (c *canceled) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// makeFolder makes dir and missing folders above it, each durably.
func makeFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return &os.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil
	}
	up := filepath.Dir(dir)
	if up != dir {
		if err := makeFolder(up); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return hostfile.SyncFolder(up)
}
