package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/hostfile"
)

// wholeBytes is the size up to which Open reads a file whole. A mapping costs more: two calls of the system, a page fault,
// and the other processor's tables of pages when it ends.
const wholeBytes = 64 << 10

// Open implements bucket.Bucket. A small file is read, a larger one is mapped where the system can.
func (b *Bucket) Open(ctx context.Context, e bucket.Entry) (bucket.Reader, error) {
	p, err := b.path(e.Key)
	if err != nil {
		return nil, err
	}
	// Not blocking: a pipe may have taken the file's place.
	f, err := hostfile.OpenFile(p, os.O_RDONLY|hostfile.NonBlocking, 0)
	if err != nil {
		return nil, absent(err)
	}
	r := &reader{f: f, etag: e.ETag}
	size, err := r.check()
	if err != nil {
		f.Close()
		return nil, err
	}
	switch {
	case size <= wholeBytes:
		return r.whole(int(size))
	case int64(int(size)) == size:
		// Without a mapping ReadAt still works.
		if m, err := hostfile.Map(f, int(size)); err == nil {
			r.mapped = m
		}
	}
	return r, nil
}

type reader struct {
	f      *os.File
	etag   string
	mapped []byte
}

// whole reads all of the file, which has size bytes, and closes it.
func (r *reader) whole(size int) (bucket.Reader, error) {
	b := make([]byte, size)
	_, err := io.ReadFull(io.NewSectionReader(r.f, 0, int64(size)), b)
	if _, cerr := r.check(); cerr != nil { // the bytes may be of two states
		err = cerr
	}
	if cerr := r.f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	return &whole{bytes.NewReader(b), b}, nil
}

// whole is a file that was read.
type whole struct {
	*bytes.Reader
	all []byte
}

func (w *whole) Mapped() []byte { return w.all }

func (w *whole) Close() error { return nil }

// check compares the open file with its entry.
func (r *reader) check() (size int64, err error) {
	info, err := r.f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() || etag(hostfile.StatusOf(info)) != r.etag {
		return 0, fmt.Errorf("%s: %w", r.f.Name(), bucket.ErrChanged)
	}
	return info.Size(), nil
}

// ReadAt reads the file, not the mapping: a file cut short gives an error
// here, where reading the mapping would fault.
func (r *reader) ReadAt(b []byte, off int64) (int, error) {
	n, err := r.f.ReadAt(b, off)
	if _, cerr := r.check(); cerr != nil {
		return 0, cerr
	}
	return n, err
}

func (r *reader) Mapped() []byte { return r.mapped }

// Close ends the mapping. It returns ErrChanged if the file was overwritten in place while it was open:
// bytes read from the mapping may mix two states.
func (r *reader) Close() error {
	_, err := r.check()
	if len(r.mapped) > 0 {
		if merr := hostfile.Unmap(r.mapped); err == nil {
			err = merr
		}
	}
	r.mapped = nil
	if cerr := r.f.Close(); err == nil {
		err = cerr
	}
	return err
}
