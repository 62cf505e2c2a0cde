package debuginfod

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/sinks/bucket"
)

const (
	// headBytes of a file are kept from the first answer: they say what it is.
	headBytes = 64 << 10
	// maxBytes bounds a file that is only counted, because the server does not say its size.
	maxBytes = 16 << 30
)

// Stat implements bucket.Bucket. A key that is no file of a build is ErrNotFound, without a request.
func (b *Bucket) Stat(ctx context.Context, key string) (bucket.Entry, map[string]string, error) {
	a, err := b.look(ctx, key)
	if err != nil {
		return bucket.Entry{}, nil, err
	}
	return a.Entry, nil, nil
}

// look returns what the server has under a key. It asks once, however often it is called.
func (b *Bucket) look(ctx context.Context, key string) (*answer, error) {
	if !b.isKey(key) {
		return nil, fmt.Errorf("%s: %s: %w", b.word, b.URL(key), bucket.ErrNotFound)
	}
	b.mu.Lock()
	known := b.answers[key]
	b.mu.Unlock()
	if known != nil {
		return known, nil
	}
	var a *answer
	err := b.again(ctx, "look at", key, func(ctx context.Context) error {
		r, err := b.get(ctx, key, 0)
		if err != nil {
			return err
		}
		defer r.close()
		a, err = r.read()
		return err
	})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.answers) >= maxAnswers {
		clear(b.answers)
	}
	b.answers[key] = a
	return a, nil
}

// read reads the head of a file, and the whole of it if only that tells its size.
func (r *reply) read() (*answer, error) {
	a := &answer{Entry: r.entry, head: make([]byte, headBytes)}
	n, err := io.ReadFull(r.body, a.head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	a.head = a.head[:n]
	if a.Size < 0 {
		rest, err := io.Copy(io.Discard, io.LimitReader(r.body, maxBytes))
		if err != nil {
			return nil, err
		}
		if rest == maxBytes {
			return nil, fmt.Errorf("a file above %d bytes without its size", int64(maxBytes))
		}
		a.Size = int64(n) + rest
	}
	if want := min(a.Size, headBytes); int64(n) < want {
		return nil, &cut{fmt.Errorf("%d bytes of %d came: %w", n, a.Size, io.ErrUnexpectedEOF)}
	}
	a.ETag = etag(a.Size)
	return a, nil
}

// etag is a file's by its size, which is all that a server says of it.
func etag(size int64) string { return fmt.Sprintf("size-%d", size) }

// Open implements bucket.Bucket. The head of the file is at hand. Each piece behind it is a request.
func (b *Bucket) Open(ctx context.Context, e bucket.Entry) (bucket.Reader, error) {
	a, err := b.look(ctx, e.Key)
	if err != nil {
		return nil, err
	}
	if a.ETag != e.ETag {
		return nil, b.explain("open", e.Key, bucket.ErrChanged)
	}
	return &reader{b: b, ctx: ctx, answer: a}, nil
}

// reader is an open file.
type reader struct {
	*answer
	b   *Bucket
	ctx context.Context
}

// ReadAt implements io.ReaderAt.
func (r *reader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: read %s at %d", r.b.word, r.b.URL(r.Key), off)
	}
	want := len(p)
	if off >= r.Size {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), r.Size-off)]
	if end := off + int64(len(p)); end <= int64(len(r.head)) {
		n = copy(p, r.head[off:])
	} else if err = r.b.again(r.ctx, "read", r.Key, func(ctx context.Context) error { return r.b.piece(ctx, r.Entry, p, off) }); err == nil {
		n = len(p)
	}
	if err == nil && n < want {
		err = io.EOF
	}
	return n, err
}

// Close implements bucket.Reader.
func (r *reader) Close() error { return nil }

// Mapped implements bucket.Reader.
func (r *reader) Mapped() []byte { return nil }

// piece fills p with the bytes of a file from off on.
func (b *Bucket) piece(ctx context.Context, e bucket.Entry, p []byte, off int64) error {
	r, err := b.get(ctx, e.Key, off)
	if err != nil {
		return err
	}
	defer r.close()
	if r.entry.Size >= 0 && r.entry.Size != e.Size || r.from > off {
		return bucket.ErrChanged
	}
	if _, err := io.CopyN(io.Discard, r.body, off-r.from); err != nil {
		return short(err)
	}
	_, err = io.ReadFull(r.body, p)
	return short(err)
}

// Fetch implements bucket.Fetcher.
func (b *Bucket) Fetch(ctx context.Context, e bucket.Entry, dst io.WriterAt) error {
	return b.again(ctx, "fetch", e.Key, func(ctx context.Context) error {
		r, err := b.get(ctx, e.Key, 0)
		if err != nil {
			return err
		}
		defer r.close()
		if r.entry.Size >= 0 && r.entry.Size != e.Size {
			return bucket.ErrChanged
		}
		if _, err := io.CopyN(io.NewOffsetWriter(dst, 0), r.body, e.Size); err != nil {
			return short(err)
		}
		var more [1]byte
		if n, _ := io.ReadFull(r.body, more[:]); n > 0 {
			return bucket.ErrChanged
		}
		return nil
	})
}

// short marks an answer that ended before its file did: the next one may be whole.
func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &cut{err}
	}
	return err
}
