package sinktest

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
)

// ErrDead is what a Mortal answers when it is dead.
var ErrDead = errors.New("the process is dead")

// Mortal is a process that dies at its At-th write: to a catalog, to blocks or to a bucket. Nothing that
// it does afterwards has an effect, and it reads nothing any more. Safe for concurrent use.
type Mortal struct {
	At    int  // counted from 1; 0: it lives
	After bool // the last write takes effect

	mu   sync.Mutex
	n    int // writes so far
	dead bool
}

// write carries out a write, unless the process is dead or dies of it.
func (m *Mortal) write(op func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return ErrDead
	}
	if m.n++; m.n != m.At {
		return op()
	}
	m.dead = true
	if m.After {
		if err := op(); err != nil {
			return err
		}
	}
	return ErrDead
}

// read says whether the process still lives.
func (m *Mortal) read() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return ErrDead
	}
	return nil
}

// Dead reports whether the process came as far as its death.
func (m *Mortal) Dead() bool { return m.read() != nil }

// Store is s as the process uses it.
func (m *Mortal) Store(s *sinks.Store) *sinks.Store {
	c := *s
	c.Catalog, c.Blocks = mortalCatalog{s.Catalog, m}, mortalBlocks{s.Blocks, m}
	return &c
}

// Bucket is b as the process uses it.
func (m *Mortal) Bucket(b bucket.Bucket) bucket.Bucket {
	if d, ok := b.(bucket.Drafter); ok {
		return mortalDrafter{mortalBucket{b, m}, d}
	}
	return mortalBucket{b, m}
}

type mortalCatalog struct {
	sinks.Catalog
	m *Mortal
}

func (c mortalCatalog) Get(ctx context.Context, key []byte) ([]byte, error) {
	if err := c.m.read(); err != nil {
		return nil, err
	}
	return c.Catalog.Get(ctx, key)
}

func (c mortalCatalog) Swap(ctx context.Context, key, old, new []byte) error {
	return c.m.write(func() error { return c.Catalog.Swap(ctx, key, old, new) })
}

func (c mortalCatalog) GetAll(ctx context.Context, keys [][]byte) ([][]byte, error) {
	if err := c.m.read(); err != nil {
		return nil, err
	}
	return c.Catalog.GetAll(ctx, keys)
}

// SwapAll makes each change a write of its own: the process may die between two of them.
func (c mortalCatalog) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	return SwapEach(changes, func(ch sinks.Change) error { return c.m.write(func() error { return SwapOne(ctx, c.Catalog, ch) }) })
}

func (c mortalCatalog) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	if err := c.m.read(); err != nil {
		return err
	}
	return c.Catalog.List(ctx, s, emit)
}

type mortalBlocks struct {
	sinks.Blocks
	m *Mortal
}

func (b mortalBlocks) Begin(ctx context.Context) (sinks.Batch, error) {
	if err := b.m.read(); err != nil {
		return nil, err
	}
	batch, err := b.Blocks.Begin(ctx)
	return mortalBatch{batch, b.m}, err
}

func (b mortalBlocks) Drop(ctx context.Context, prefixes [][]byte) error {
	return b.m.write(func() error { return b.Blocks.Drop(ctx, prefixes) })
}

func (b mortalBlocks) Tidy(ctx context.Context, before time.Time) (freed int64, err error) {
	err = b.m.write(func() error {
		freed, err = b.Blocks.Tidy(ctx, before)
		return err
	})
	return freed, err
}

type mortalBatch struct {
	sinks.Batch
	m *Mortal
}

func (b mortalBatch) Write(r sinks.Row) error {
	if err := b.m.read(); err != nil {
		return err
	}
	return b.Batch.Write(r)
}

func (b mortalBatch) Commit(ctx context.Context) error {
	return b.m.write(func() error { return b.Batch.Commit(ctx) })
}

type mortalBucket struct {
	bucket.Bucket
	m *Mortal
}

func (b mortalBucket) List(ctx context.Context, prefix, after string, emit func(bucket.Entry) error) error {
	if err := b.m.read(); err != nil {
		return err
	}
	return b.Bucket.List(ctx, prefix, after, emit)
}

func (b mortalBucket) Create(ctx context.Context, key, etag string, r io.Reader) error {
	return b.m.write(func() error { return b.Bucket.Create(ctx, key, etag, r) })
}

func (b mortalBucket) Delete(ctx context.Context, keys []string) error {
	return b.m.write(func() error { return b.Bucket.Delete(ctx, keys) })
}

type mortalDrafter struct {
	mortalBucket
	d bucket.Drafter
}

func (b mortalDrafter) Draft(folder string) (*os.File, error) {
	if err := b.m.read(); err != nil {
		return nil, err
	}
	return b.d.Draft(folder)
}

func (b mortalDrafter) Publish(f *os.File, key string) error {
	return b.m.write(func() error { return b.d.Publish(f, key) })
}
