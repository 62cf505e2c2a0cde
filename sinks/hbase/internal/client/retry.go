package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// patient bounds a context without a deadline.
func (c *Client) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.o.Patience, errPatience)
}

// errPatience: the call was tried for as long as Options.Patience.
var errPatience = errors.New("out of patience")

// ended returns the error of an operation after the end of its context: the last cause, if time ran out while trying.
func ended(ctx context.Context, last error) error {
	if last == nil || errors.Is(ctx.Err(), context.Canceled) || errors.Is(last, context.Canceled) {
		return ctx.Err()
	}
	if errors.Is(last, context.DeadlineExceeded) {
		return last
	}
	return &timeoutError{last}
}

// timeoutError is the last failure of an operation that was tried until its time was over.
type timeoutError struct{ last error }

func (e *timeoutError) Error() string { return "gave up trying: " + e.last.Error() }

func (e *timeoutError) Unwrap() error { return e.last }

func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// pause waits before attempt n (from 1): 10 ms, doubled up to 1 s, give or take a quarter.
func pause(ctx context.Context, n int) error {
	d := min(time.Second, 10*time.Millisecond<<min(n-1, 7))
	d += time.Duration(rand.Int64N(int64(d)/2)) - d/4
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// opError says where; an error that says it already stays as it is.
func opError(op string, t Table, r *Region, err error) error {
	var have *OpError
	if errors.As(err, &have) {
		return err
	}
	e := &OpError{Op: op, Table: t.String(), Err: err}
	if r != nil {
		e.Region, e.Server = string(r.Encoded), r.Server
	}
	return e
}
