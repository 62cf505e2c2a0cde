package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
)

// maxManifestBytes bounds the manifests that are read: 100,000 files take 20 MB.
const maxManifestBytes = 1 << 30

// newest reads the newest manifest; nil if there is none. It lists from the newest number that this process has met.
func (l *Lake) newest(ctx context.Context) (*manifest, error) {
	l.mu.Lock()
	after := l.seen
	l.mu.Unlock()
	for range 10 {
		var last bucket.Entry
		from := ""
		if after > 0 {
			from = manifestKey(after - 1)
		}
		err := l.b.List(ctx, manifestDir, from, func(e bucket.Entry) error {
			if _, ok := manifestNumber(e.Key); ok {
				last = e
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list manifests: %w", err)
		}
		if last.Key == "" {
			return nil, nil
		}
		m, err := l.readManifest(ctx, last)
		if errors.Is(err, bucket.ErrNotFound) {
			continue // a compaction deleted it meanwhile, so there is a newer one
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", l.b.URL(last.Key), err)
		}
		l.mu.Lock()
		l.seen = max(l.seen, m.Number)
		l.mu.Unlock()
		return m, nil
	}
	return nil, fmt.Errorf("manifests of %s vanish as they are read", l.b.URL(""))
}

func (l *Lake) readManifest(ctx context.Context, e bucket.Entry) (*manifest, error) {
	if e.Size > maxManifestBytes {
		return nil, fmt.Errorf("its %d bytes are too many", e.Size)
	}
	text, err := readAll(ctx, l.b, e)
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, damaged(err)
	}
	if n, _ := manifestNumber(e.Key); m.Format != manifestFormat || m.Number != n || m.Profile != sinks.LakeSealed && m.Profile != sinks.LakePlain {
		return nil, damaged(fmt.Errorf("want a manifest of form %d with number %d, not form %d, number %d, profile %q", manifestFormat, n, m.Format, m.Number, m.Profile))
	}
	return &m, nil
}

func readAll(ctx context.Context, b bucket.Bucket, e bucket.Entry) ([]byte, error) {
	r, err := b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	text := make([]byte, e.Size)
	_, err = io.ReadFull(io.NewSectionReader(r, 0, e.Size), text)
	return text, errors.Join(err, r.Close())
}

// put writes a manifest. It returns bucket.ErrChanged if another one has its number.
func (l *Lake) put(ctx context.Context, m *manifest) error {
	text, err := json.Marshal(m) // one line: engines read it as a table
	if err != nil {
		return err
	}
	if err := l.create(ctx, manifestKey(m.Number), bytes.NewReader(append(text, '\n'))); err != nil {
		return err
	}
	l.mu.Lock()
	l.seen = max(l.seen, m.Number)
	l.mu.Unlock()
	return nil
}

// create writes an object, or returns bucket.ErrChanged if the key is taken.
func (l *Lake) create(ctx context.Context, key string, r io.Reader) error {
	if l.o.SingleWriter {
		if _, _, err := l.b.Stat(ctx, key); err == nil {
			return fmt.Errorf("%s exists: %w", l.b.URL(key), bucket.ErrChanged)
		} else if !errors.Is(err, bucket.ErrNotFound) {
			return err
		}
	}
	return l.b.Create(ctx, key, "", r)
}
