package sinktest

import (
	"context"

	"github.com/symlake/symlake/sinks"
)

// GetEach is GetAll for a test's catalog that changes what Get does.
func GetEach(ctx context.Context, c sinks.Catalog, keys [][]byte) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, key := range keys {
		var err error
		if values[i], err = c.Get(ctx, key); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// SwapEach is SwapAll for a test's catalog that changes what Swap does. The changes happen in their order.
func SwapEach(ctx context.Context, c sinks.Catalog, changes []sinks.Change) []error {
	errs := make([]error, len(changes))
	for i, ch := range changes {
		errs[i] = c.Swap(ctx, ch.Key, ch.Old, ch.New)
	}
	return errs
}
