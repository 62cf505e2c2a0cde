package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
)

// objects is a bucket of S3. It has no folders and no owners to make; renaming
// is copying there, so handing a file over takes as long as copying it.
type objects struct {
	b    bucket.Bucket
	name string
}

func openS3(ctx context.Context, root string, open func(context.Context, string) (bucket.Bucket, error)) (FileSystem, error) {
	if open == nil {
		return nil, fmt.Errorf("HBase keeps its files at %s: this program brings no S3: load with puts", root)
	}
	name, _, err := LocalPath(root)
	if err != nil {
		return nil, err
	}
	b, err := open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open the bucket of %s: %w", root, err)
	}
	return &objects{b, name}, nil
}

func (s *objects) key(path string) (string, error) {
	name, key, err := LocalPath(path)
	if err == nil && name != s.name {
		err = fmt.Errorf("path %q is not in bucket %s", path, s.name)
	}
	return strings.TrimPrefix(key, "/"), err
}

func (s *objects) Create(ctx context.Context, path string) (Output, error) {
	key, err := s.key(path)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	o := &objectOutput{PipeWriter: w, done: make(chan error, 1)}
	go func() {
		err := s.b.Create(ctx, key, "", r)
		r.CloseWithError(errors.Join(errUploadEnded, err)) // a writer must not wait for it
		o.done <- err
	}()
	return o, nil
}

var (
	errUploadEnded = errors.New("the upload has ended")
	errAborted     = errors.New("given up")
)

type objectOutput struct {
	*io.PipeWriter
	done chan error
	over bool
}

func (o *objectOutput) Close() error {
	o.over = true
	if err := o.PipeWriter.Close(); err != nil {
		return err
	}
	return <-o.done
}

func (o *objectOutput) Abort() {
	if !o.over {
		o.over = true
		o.CloseWithError(errAborted)
		<-o.done
	}
}

func (s *objects) Open(ctx context.Context, path string) (Input, error) {
	key, err := s.key(path)
	if err != nil {
		return nil, err
	}
	e, _, err := s.b.Stat(ctx, key)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, fmt.Errorf("%s: %w: %w", path, fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, err
	}
	r, err := s.b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	return &objectInput{r, e.Size}, nil
}

type objectInput struct {
	bucket.Reader
	size int64
}

func (i *objectInput) Size() int64 { return i.size }

// Remove takes the keys in pages: a listing is not changed while it is read.
func (s *objects) Remove(ctx context.Context, path string) error {
	key, err := s.key(path)
	if err != nil {
		return err
	}
	keys := []string{key}
	err = s.b.List(ctx, strings.TrimSuffix(key, "/")+"/", "", func(e bucket.Entry) error {
		keys = append(keys, e.Key)
		return nil
	})
	return errors.Join(err, s.b.Delete(ctx, keys))
}

// Token is none: servers have keys of their own.
func (s *objects) Token(context.Context) (*Token, error) { return nil, nil }

// Close leaves the bucket open, for its owner.
func (s *objects) Close() error { return nil }
