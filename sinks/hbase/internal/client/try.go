package client

import (
	"context"
	"errors"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/waits"
)

// try repeats do for the region that holds key, by what its errors ask for.
func (c *Client) try(ctx context.Context, op string, t Table, key []byte, do func(ctx context.Context, r *Region) error) error {
	ctx, cancel := c.patient(ctx)
	defer cancel()
	var r *Region
	var last error
	var doubts doubts
	began := time.Now()
	for n := 0; ; n++ {
		err := ctx.Err()
		if err == nil && n > 0 {
			err = pause(ctx, n)
		}
		if err == nil {
			var at *Region
			if at, err = c.locate(ctx, t, key); err == nil {
				r = at
				err = do(c.waits.About(ctx, t, r), r)
			}
		}
		if err == nil {
			c.waits.Answered(t, r)
			return nil
		}
		if ctx.Err() != nil {
			if last == nil || !errors.Is(err, ctx.Err()) {
				last = err
			}
			return opError(op, t, r, ended(ctx, last))
		}
		last = doubts.see(err)
		if !c.settle(t, r, last) {
			return opError(op, t, r, last)
		}
		c.waits.Failed(waits.At(t, r), began, last)
	}
}

// settle does what an error asks for before the next attempt; false: there is none.
func (c *Client) settle(t Table, r *Region, err error) bool {
	switch actionOf(err) {
	case again, rescan:
		return true
	case relocate:
		if r != nil {
			c.cache(t).moved(r, err)
		}
		return true
	}
	return false
}
