package mem

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/symlake/symlake/sinks"
)

// catalog is one sorted slice: small, and List needs the order.
type catalog struct {
	mu     sync.RWMutex
	rows   []sinks.Row
	counts map[string]int64
}

func (c *catalog) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(c.rows, key, func(r sinks.Row, k []byte) int { return bytes.Compare(r.Key, k) })
}

func (c *catalog) Get(ctx context.Context, key []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if i, ok := c.find(key); ok {
		return c.rows[i].Value, nil
	}
	return nil, nil
}

func (c *catalog) GetAll(ctx context.Context, keys [][]byte) ([][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	values := make([][]byte, len(keys))
	for i, key := range keys {
		if at, ok := c.find(key); ok {
			values[i] = c.rows[at].Value
		}
	}
	return values, nil
}

func (c *catalog) Swap(ctx context.Context, key, old, new []byte) error {
	return c.SwapAll(ctx, []sinks.Change{{Key: key, Old: old, New: new}})[0]
}

func (c *catalog) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	errs := make([]error, len(changes))
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, ch := range changes {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = c.swap(ch.Key, ch.Old, ch.New)
		}
		if errs[i] == nil {
			c.count(ch.Counts)
		}
	}
	return errs
}

// count changes counters. mu is held.
func (c *catalog) count(list []sinks.Count) {
	if c.counts == nil {
		c.counts = make(map[string]int64)
	}
	for _, x := range list {
		if x.Most {
			c.counts[x.Name] = max(c.counts[x.Name], x.By)
		} else if c.counts[x.Name] += x.By; c.counts[x.Name] == 0 {
			delete(c.counts, x.Name)
		}
	}
}

// Counts implements sinks.Counter.
func (c *catalog) Counts(ctx context.Context) (map[string]int64, bool, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Clone(c.counts), true, ctx.Err()
}

// swap carries out one change. mu is held.
func (c *catalog) swap(key, old, new []byte) error {
	if new != nil {
		new = append([]byte{}, new...) // an empty value is not an absent one
	}
	i, ok := c.find(key)
	switch {
	case ok != (old != nil), ok && !bytes.Equal(c.rows[i].Value, old):
		return fmt.Errorf("swap %x: %w", key, sinks.ErrConflict)
	case new == nil && ok:
		c.rows = slices.Delete(c.rows, i, i+1)
	case new == nil: // absent, and to stay so
	case ok:
		c.rows[i].Value = new
	default:
		c.rows = slices.Insert(c.rows, i, sinks.Row{Key: bytes.Clone(key), Value: new})
	}
	return nil
}

func (c *catalog) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.RLock()
	from, _ := c.find(s.From)
	to := len(c.rows)
	if s.Stop != nil {
		to, _ = c.find(s.Stop)
	}
	view := slices.Clone(c.rows[from:max(from, to)])
	c.mu.RUnlock()
	for _, r := range view {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(r); err != nil {
			return err
		}
	}
	return nil
}
