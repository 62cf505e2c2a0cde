// Package file is a folder as a bucket. Keys are paths below it with forward
// slashes; a single file is a key of the folder it lies in.
//
// Invariants:
//   - an ETag is size, modification time in nanoseconds and inode (Windows: time when it was made);
//   - a reader reads the file that its entry named: Open gives ErrChanged for a
//     file replaced under its name, ReadAt and Close also for a file overwritten
//     in place. Open reads a file of 64 KiB or less whole, and its reader does not
//     notice what happens to the file later;
//   - a written object appears whole, synced, under its name or not at all;
//   - no key leaves the folder by its text. Symbolic links to files are
//     followed, links to folders are not, so a listing ends.
//
// Files with a name that begins with ".symlake-" are unfinished writes and no
// objects; devices, sockets and pipes are none either.
package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/hostfile"
)

// Bucket is a folder.
type Bucket struct {
	root  string
	under string                 // URLs of keys begin so
	hide  func(path string) bool // nil: nothing is left out of listings
}

// Open takes a folder, which need not exist before something is created in it.
func Open(dir string) (*Bucket, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", dir, err)
	}
	return &Bucket{root: root, under: "file:" + strings.TrimSuffix(filepath.ToSlash(root), "/") + "/"}, nil
}

// Hide implements bucket.Hider.
func (b *Bucket) Hide(hide func(path string) bool) bucket.Bucket {
	return &Bucket{root: b.root, under: b.under, hide: hide}
}

// URL is file: and the absolute path, without escapes, so that URLs sort as keys do.
func (b *Bucket) URL(key string) string {
	if key == "" || key[0] == '.' || path.Clean(key) != key {
		return "file:" + path.Join(filepath.ToSlash(b.root), key)
	}
	return b.under + strings.TrimPrefix(key, "/")
}

// path is the file of a key. Only the one spelling of a key is one.
func (b *Bucket) path(key string) (string, error) {
	p := filepath.FromSlash(key)
	if key == "" || key == "." || !filepath.IsLocal(p) || path.Clean(key) != key || temporary(path.Base(key)) {
		return "", fmt.Errorf("key %q: %w", key, bucket.ErrNotFound)
	}
	return filepath.Join(b.root, p), nil
}

// Stat implements bucket.Bucket. Files have no metadata.
func (b *Bucket) Stat(ctx context.Context, key string) (bucket.Entry, map[string]string, error) {
	p, err := b.path(key)
	if err != nil {
		return bucket.Entry{}, nil, err
	}
	info, err := os.Stat(p)
	if err != nil {
		return bucket.Entry{}, nil, absent(err)
	}
	if !info.Mode().IsRegular() {
		return bucket.Entry{}, nil, fmt.Errorf("%s is no file: %w", p, bucket.ErrNotFound)
	}
	return entry(key, hostfile.StatusOf(info)), nil, nil
}

// Delete implements bucket.Bucket. Folders stay.
func (b *Bucket) Delete(ctx context.Context, keys []string) error {
	var all []error
	for _, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := b.path(key)
		if err != nil {
			continue // there is no such object
		}
		err = hostfile.Unlink(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			all = append(all, fmt.Errorf("delete %s: %w", p, err))
		}
	}
	return errors.Join(all...)
}

func entry(key string, s hostfile.Status) bucket.Entry {
	return bucket.Entry{Key: key, ETag: etag(s), Size: s.Size, Modified: s.Modified}
}

func etag(s hostfile.Status) string {
	var room [64]byte
	b := append(strconv.AppendInt(room[:0], s.Size, 10), '-')
	b = append(strconv.AppendInt(b, s.Modified.UnixNano(), 10), '-')
	return string(strconv.AppendUint(b, s.Identity, 10))
}

// absent adds ErrNotFound to the system's ways to say so.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%w: %w", bucket.ErrNotFound, err)
	}
	return err
}
