package mem

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/symlake/symlake/sinks"
)

// catalog is one sorted slice: small, and List needs the order.
type catalog struct {
	mu   sync.RWMutex
	rows []sinks.Row
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

func (c *catalog) Swap(ctx context.Context, key, old, new []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if new != nil {
		new = append([]byte{}, new...) // an empty value is not an absent one
	}
	c.mu.Lock()
	defer c.mu.Unlock()
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
