package buckettest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
)

// Memory is a bucket in memory that counts what an object store would be asked: a list asks once a thousand keys.
type Memory struct {
	mu       sync.Mutex
	objects  map[string]object
	keys     []string // ascending
	made     int
	requests int
	read     int64
	written  int64
}

type object struct {
	bytes    []byte
	etag     string
	modified time.Time
}

// NewMemory returns an empty bucket.
func NewMemory() *Memory { return &Memory{objects: map[string]object{}} }

// Counts returns the requests so far, and the bytes that they read and wrote.
func (m *Memory) Counts() (requests int, read, written int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, m.read, m.written
}

// Bytes returns the objects and bytes below a prefix.
func (m *Memory) Bytes(prefix string) (objects int, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, o := range m.objects {
		if strings.HasPrefix(key, prefix) {
			objects++
			n += int64(len(o.bytes))
		}
	}
	return objects, n
}

// URL implements bucket.Bucket.
func (m *Memory) URL(key string) string { return "memory:/" + key }

// page is how many keys a request lists.
const page = 1000

// List implements bucket.Bucket.
func (m *Memory) List(ctx context.Context, prefix, after string, emit func(bucket.Entry) error) error {
	from := max(prefix, after)
	for {
		m.mu.Lock()
		m.requests++
		at, found := slices.BinarySearch(m.keys, from)
		if found && from == after {
			at++
		}
		var entries []bucket.Entry
		for at < len(m.keys) && len(entries) < page && strings.HasPrefix(m.keys[at], prefix) {
			entries = append(entries, m.entry(m.keys[at]))
			at++
		}
		m.mu.Unlock()
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := emit(e); err != nil {
				return err
			}
		}
		if len(entries) < page {
			return ctx.Err()
		}
		after = entries[len(entries)-1].Key
		from = after
	}
}

func (m *Memory) entry(key string) bucket.Entry {
	o := m.objects[key]
	return bucket.Entry{Key: key, ETag: o.etag, Size: int64(len(o.bytes)), Modified: o.modified}
}

func (m *Memory) missing(key string) error {
	return fmt.Errorf("%s: %w", m.URL(key), bucket.ErrNotFound)
}

// Stat implements bucket.Bucket.
func (m *Memory) Stat(_ context.Context, key string) (bucket.Entry, map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	if _, ok := m.objects[key]; !ok {
		return bucket.Entry{}, nil, m.missing(key)
	}
	return m.entry(key), nil, nil
}

// Open implements bucket.Bucket.
func (m *Memory) Open(_ context.Context, e bucket.Entry) (bucket.Reader, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[e.Key]
	switch {
	case !ok:
		return nil, m.missing(e.Key)
	case o.etag != e.ETag:
		return nil, fmt.Errorf("%s: %w", m.URL(e.Key), bucket.ErrChanged)
	}
	return &memoryReader{m, bytes.NewReader(o.bytes)}, nil
}

type memoryReader struct {
	m *Memory
	r *bytes.Reader
}

// ReadAt implements io.ReaderAt.
func (r *memoryReader) ReadAt(b []byte, at int64) (int, error) {
	r.m.mu.Lock()
	r.m.requests++
	r.m.read += int64(len(b))
	r.m.mu.Unlock()
	return r.r.ReadAt(b, at)
}

// Close implements io.Closer.
func (r *memoryReader) Close() error { return nil }

// Mapped implements bucket.Reader.
func (r *memoryReader) Mapped() []byte { return nil }

// Create implements bucket.Bucket.
func (m *Memory) Create(ctx context.Context, key, etag string, r io.Reader) error {
	b, err := io.ReadAll(r)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	if m.objects[key].etag != etag {
		return fmt.Errorf("%s: %w", m.URL(key), bucket.ErrChanged)
	}
	m.put(key, b)
	return nil
}

func (m *Memory) put(key string, b []byte) {
	m.made++
	m.written += int64(len(b))
	if at, found := slices.BinarySearch(m.keys, key); !found {
		m.keys = slices.Insert(m.keys, at, key)
	}
	m.objects[key] = object{b, fmt.Sprint(m.made), time.Now()}
}

// Delete implements bucket.Bucket.
func (m *Memory) Delete(ctx context.Context, keys []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	for _, key := range keys {
		if at, found := slices.BinarySearch(m.keys, key); found {
			m.keys = slices.Delete(m.keys, at, at+1)
			delete(m.objects, key)
		}
	}
	return nil
}

// Get returns the bytes of an object, which the caller must not change; nil: there is none.
func (m *Memory) Get(key string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects[key].bytes
}

// Keys returns the keys below a prefix, ascending.
func (m *Memory) Keys(prefix string) (keys []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range m.keys {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Clone returns a bucket with the same objects, and counts from 0.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{objects: maps.Clone(m.objects), keys: slices.Clone(m.keys), made: m.made}
}

// Put replaces an object without a condition, as an attacker does. nil removes it.
func (m *Memory) Put(key string, b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b != nil {
		m.put(key, b)
	} else if at, found := slices.BinarySearch(m.keys, key); found {
		m.keys = slices.Delete(m.keys, at, at+1)
		delete(m.objects, key)
	}
}
