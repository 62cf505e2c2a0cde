package bulk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// local is this machine's file system: HBase's, when both run here or share a mount.
type local struct{}

// errElsewhere: what HBase has made there is not seen from here.
var errElsewhere = errors.New("this machine does not see the folder that HBase has made: load from one that does, or with puts")

func (local) Create(_ context.Context, path string) (Output, error) {
	_, p, err := LocalPath(path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(p)
	if _, err := os.Stat(filepath.Dir(dir)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", filepath.Dir(dir), errElsewhere)
	}
	switch err := os.Mkdir(dir, 0o777); {
	case err == nil:
		if err := os.Chmod(dir, 0o777); err != nil { // the umask may narrow it
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o666); err != nil {
		f.Close()
		return nil, err
	}
	return &localOutput{f}, nil
}

type localOutput struct{ *os.File }

// Close does not sync: HBase copies the file, and a loader that dies starts over.
func (o *localOutput) Close() error { return o.File.Close() }

func (o *localOutput) Abort() { o.File.Close() }

func (local) Open(_ context.Context, path string) (Input, error) {
	_, p, err := LocalPath(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(p)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &localInput{f, info.Size()}, nil
}

type localInput struct {
	*os.File
	size int64
}

func (i *localInput) Size() int64 { return i.size }

func (local) Remove(_ context.Context, path string) error {
	_, p, err := LocalPath(path)
	if err != nil {
		return err
	}
	return os.RemoveAll(p)
}

// Token is none.
func (local) Token(context.Context) (*Token, error) { return nil, nil }

// Close has nothing to end.
func (local) Close() error { return nil }
