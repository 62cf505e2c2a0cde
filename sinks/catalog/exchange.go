package catalog

import (
	"context"
	"encoding/json"
)

// exchange replaces a record's bytes by new as sealed JSON (was nil: there must be none; new nil:
// the record goes), and gives the bytes that it wrote. sinks.ErrConflict when the record is not was.
func exchange[T any](ctx context.Context, c *Catalog, key, was []byte, new *T) ([]byte, error) {
	var value []byte
	if new != nil {
		plain, err := json.Marshal(new)
		if err != nil {
			return nil, err
		}
		value = c.k.SealRecord(key, plain)
	}
	return value, c.c.Swap(ctx, key, was, value)
}
