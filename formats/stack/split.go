package stack

import (
	"context"
	"io"
)

// Split reads r to its end and hands out stacks, and the text around them, in order.
func Split(ctx context.Context, r io.Reader, o Options, emit func(*Stack) error) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return emit(&Stack{Text: b})
}
