package places

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/symlake/symlake/sinks"
)

// List implements sinks.Catalog. Within the ledger it merges the salts.
func (c *Catalog) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	take := func(row, value []byte) error {
		r, err := Record(row, value)
		if err != nil || r == nil {
			return err
		}
		return emit(sinks.Row{Key: row, Value: r})
	}
	if part, ok := clip(s, nil, ledgerFrom); ok {
		if err := c.rows.Scan(ctx, part, false, take); err != nil {
			return err
		}
	}
	if part, ok := clip(s, ledgerFrom, ledgerStop); ok {
		if err := c.ledger(ctx, part, take); err != nil {
			return err
		}
	}
	part, ok := clip(s, ledgerStop, nil)
	if !ok {
		return nil
	}
	return c.rows.Scan(ctx, part, false, take)
}

// window is how many old rows a list holds.
const window = 2000

// ledger lists a span of the ledger. Old rows are read before the salted rows of the same keys, window by window.
func (c *Catalog) ledger(ctx context.Context, s sinks.Span, take func(key, value []byte) error) error {
	has, err := c.hasOld(ctx)
	if err != nil {
		return err
	}
	for has {
		part, ok := clip(s, oldFrom, ledgerStop)
		if !ok {
			break
		}
		var old []pair
		err := c.rows.Scan(ctx, part, false, func(row, value []byte) error {
			if len(old) == window {
				return errFound
			}
			old = append(old, pair{row, value})
			return nil
		})
		if err == nil {
			return c.merge(ctx, s, old, take)
		}
		if err != errFound {
			return err
		}
		now := sinks.Span{From: s.From, Stop: append(bytes.Clone(old[window-1].key), 0)}
		if err := c.merge(ctx, now, old, take); err != nil {
			return err
		}
		s.From = now.Stop
	}
	return c.merge(ctx, s, nil, take)
}

// pair is a row by its key.
type pair struct{ key, value []byte }

const (
	// A stream hands over batchRows rows, or batchBytes, at once.
	batchRows  = 128
	batchBytes = 32 << 10
)

// stream is the rows of one salt, in the order of their keys.
type stream struct {
	batches chan []pair // closed at the end
	err     error       // after the end
	batch   []pair
}

// head returns the next row. ok is false at the end.
func (t *stream) head() (p pair, ok bool) {
	for len(t.batch) == 0 {
		if t.batch, ok = <-t.batches; !ok {
			return p, false
		}
	}
	return t.batch[0], true
}

// merge emits the rows of a span of the ledger by key. old are the old rows within the span. All salts are read side
// by side. Each reads ahead by a few pages at most.
func (c *Catalog) merge(ctx context.Context, s sinks.Span, old []pair, take func(key, value []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	streams := make([]*stream, Salts)
	for salt := range streams {
		t := &stream{batches: make(chan []pair, 1)}
		streams[salt] = t
		wg.Go(func() { t.read(ctx, c.rows, under(byte(salt), s)) })
	}
	var live []*stream // by the key of their next row
	enter := func(t *stream) error {
		p, ok := t.head()
		if !ok {
			return t.err
		}
		i, _ := slices.BinarySearchFunc(live, p.key, func(o *stream, key []byte) int { return bytes.Compare(o.batch[0].key, key) })
		live = slices.Insert(live, i, t)
		return nil
	}
	for _, t := range streams {
		if err := enter(t); err != nil {
			return err
		}
	}
	for len(live) > 0 || len(old) > 0 {
		order := -1 // of the next old row to the next row
		if len(old) == 0 {
			order = 1
		} else if len(live) > 0 {
			order = bytes.Compare(old[0].key, live[0].batch[0].key)
		}
		var p pair
		if order <= 0 {
			p, old = old[0], old[1:]
		}
		if order >= 0 { // of both rows of a key, this one counts
			t := live[0]
			p, t.batch = t.batch[0], t.batch[1:]
			live = slices.Delete(live, 0, 1)
			if err := enter(t); err != nil {
				return err
			}
		}
		if err := take(p.key, p.value); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// read reads the rows of a span into the stream.
func (t *stream) read(ctx context.Context, rows Rows, s sinks.Span) {
	defer close(t.batches)
	var batch []pair
	size := 0
	flush := func() error {
		select {
		case t.batches <- batch:
			batch, size = nil, 0
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	t.err = rows.Scan(ctx, s, true, func(row, value []byte) error {
		batch = append(batch, pair{Key(row), value})
		if size += len(row) + len(value); len(batch) < batchRows && size < batchBytes {
			return nil
		}
		return flush()
	})
	if t.err == nil && len(batch) > 0 {
		t.err = flush()
	}
}
