package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/symlake/symlake/sinks/bucket"
)

const (
	// A parser jumps between a few tables: these keep each one's surroundings.
	blockBytes  = 1 << 20
	blocksKept  = 16
	blocksAhead = 4       // fetched at once when the blocks before were read in order
	directBytes = 4 << 20 // a read from here up goes past the cache
)

// Open implements bucket.Bucket. The first block is asked for here, so an
// object that is another or gone shows at once, and a small one costs one
// request. Reads end with ctx.
func (b *Bucket) Open(ctx context.Context, e bucket.Entry) (bucket.Reader, error) {
	if e.Key == "" {
		return nil, fmt.Errorf("s3: %s: %w", b.URL(e.Key), bucket.ErrNotFound)
	}
	r := &reader{b: b, e: e, before: -1, blocks: make(map[int64]*block)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	var err error
	if e.Size == 0 {
		err = b.get(ctx, e, 0, 0, nil)
	} else {
		_, err = r.block(0)
	}
	if err != nil {
		r.cancel()
		return nil, err
	}
	return r, nil
}

// reader is an object read by ranges, each with the ETag it was opened with.
type reader struct {
	b      *Bucket
	e      bucket.Entry
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	blocks map[int64]*block
	used   []int64 // least recently first
	before int64   // the block that was missed last
}

// block is a piece of the object, on its way until ready is closed.
type block struct {
	ready chan struct{}
	bytes []byte
	err   error
}

func (r *reader) Mapped() []byte { return nil }

func (r *reader) Close() error {
	r.cancel()
	return nil
}

func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("s3: read %s: negative offset", r.b.URL(r.e.Key))
	}
	if off >= r.e.Size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), r.e.Size-off))
	done := 0
	if n >= directBytes {
		w := sliceWriter(p[:0:n])
		if err := r.b.get(r.ctx, r.e, off, int64(n), &w); err != nil {
			return 0, later(err)
		}
		done = n
	}
	for done < n {
		at := off + int64(done)
		b, err := r.block(at / blockBytes)
		if err != nil {
			return done, later(err)
		}
		done += copy(p[done:n], b[at%blockBytes:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// later: an object that is gone after it was open has changed.
func later(err error) error {
	if errors.Is(err, bucket.ErrNotFound) {
		return fmt.Errorf("%w: %w", bucket.ErrChanged, err)
	}
	return err
}

// block returns one block. The first caller without it fetches it, with the next blocks when reading runs
// forward; others wait for it.
func (r *reader) block(i int64) ([]byte, error) {
	r.mu.Lock()
	if b := r.blocks[i]; b != nil {
		r.touch(i)
		r.mu.Unlock()
		select {
		case <-b.ready:
			return b.bytes, b.err
		case <-r.ctx.Done():
			return nil, r.b.explain("read", r.e.Key, r.ctx.Err())
		}
	}
	count := int64(1)
	for last := (r.e.Size - 1) / blockBytes; i == r.before+1 && count < blocksAhead && i+count <= last && r.blocks[i+count] == nil; {
		count++
	}
	if i == 0 {
		count = 1 // a beginning is no sequence yet
	}
	r.before = i + count - 1
	run := make([]*block, count)
	for k := range run {
		run[k] = &block{ready: make(chan struct{})}
		r.blocks[i+int64(k)] = run[k]
		r.touch(i + int64(k))
	}
	r.mu.Unlock()

	off := i * blockBytes
	n := min(count*blockBytes, r.e.Size-off)
	w := make(sliceWriter, 0, n)
	err := r.b.get(r.ctx, r.e, off, n, &w)
	r.mu.Lock()
	for k, b := range run {
		if b.err = err; err != nil {
			// The next reader tries again.
			if at := i + int64(k); r.blocks[at] == b {
				delete(r.blocks, at)
				r.used = slices.DeleteFunc(r.used, func(u int64) bool { return u == at })
			}
		} else {
			from := k * blockBytes
			b.bytes = w[from:min(from+blockBytes, len(w)):min(from+blockBytes, len(w))]
		}
		close(b.ready)
	}
	r.mu.Unlock()
	return run[0].bytes, err
}

// touch makes i the most recently used block and lets go of the oldest.
func (r *reader) touch(i int64) {
	if k := slices.Index(r.used, i); k >= 0 {
		r.used = slices.Delete(r.used, k, k+1)
	}
	r.used = append(r.used, i)
	for len(r.used) > blocksKept {
		delete(r.blocks, r.used[0])
		r.used = slices.Delete(r.used, 0, 1)
	}
}

// sliceWriter appends within its capacity.
type sliceWriter []byte

func (s *sliceWriter) Write(p []byte) (int, error) {
	n := min(len(p), cap(*s)-len(*s))
	*s = append(*s, p[:n]...)
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

func (s *sliceWriter) restart() { *s = (*s)[:0] }
