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

// SwapEach is SwapAll for a test's catalog that makes each change by swap. The changes happen in their order.
func SwapEach(changes []sinks.Change, swap func(sinks.Change) error) []error {
	errs := make([]error, len(changes))
	for i, ch := range changes {
		errs[i] = swap(ch)
	}
	return errs
}

// SwapOne makes a change with all that it carries.
func SwapOne(ctx context.Context, c sinks.Catalog, ch sinks.Change) error {
	return c.SwapAll(ctx, []sinks.Change{ch})[0]
}
