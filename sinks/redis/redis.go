// Package redis is the second level of cache that many look-up clients share:
// sealed rows in a Redis, under their row keys, with a time to live.
//
// It sees opaque keys and sealed values: no catalog record, no wrapped key, and
// no name ever gets there. Package lookup opens the rows, and so notices a Redis that gave something else. Redis
// itself bounds its memory: set maxmemory, and maxmemory-policy allkeys-lru.
//
// Invariants:
//   - no method fails: a Redis that is slow, full, down or wrong makes a miss;
//   - a call takes no longer than Options.Timeout, and after a failure Redis is
//     left alone for Options.Rest, but for one call that tries it;
//   - rows never change under their key (a load's id is part of it), so nothing
//     is ever invalidated, and a lost value is only read again.
package redis

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/sinks"
)

// prefix parts our keys from others' in one Redis. Durable: its number is the version of the values.
const prefix = "symlake1:"

// Options of a cache. The zero value is ready for use.
type Options struct {
	// TTL is how long Redis keeps a row; 0: a week.
	TTL time.Duration
	// Timeout bounds a call, connecting included; 0: 50 ms.
	Timeout time.Duration
	// Rest is how long Redis is left alone after a failure; 0: one second.
	Rest time.Duration
	// MaxRowBytes: larger rows are neither put nor taken; 0: 1 MiB.
	MaxRowBytes int
	// Notice is called when Redis begins to fail, and when it answers again, from any goroutine; nil: it is not called.
	Notice func(string)
}

// Cache is a sinks.RowCache in a Redis. Safe for concurrent use.
type Cache struct {
	o     Options
	place *place
	ttl   int64 // seconds

	now   func() time.Time
	until atomic.Int64     // nanoseconds of the clock until which Redis rests; 0: it answers
	tries atomic.Int64     // calls that went to Redis
	idle  chan *connection // connections that no call uses
	ended atomic.Bool
}

var _ sinks.RowCache = (*Cache)(nil)

// mostIdle bounds the connections that wait for a call: a server answers a few requests a processor at once.
const mostIdle = 16

// New makes a cache in the Redis at url: redis://[user:password@]host:port[/db], rediss:// with TLS,
// unix:///path. It asks nothing yet: a Redis that is down now may be up later. The error is of the URL. The Redis
// must not be a node of a cluster.
func New(url string, o Options) (*Cache, error) {
	if o.TTL <= 0 {
		o.TTL = 7 * 24 * time.Hour
	}
	if o.Timeout <= 0 {
		o.Timeout = 50 * time.Millisecond
	}
	if o.Rest <= 0 {
		o.Rest = time.Second
	}
	if o.MaxRowBytes <= 0 {
		o.MaxRowBytes = 1 << 20
	}
	p, err := parse(url, o.Timeout)
	if err != nil {
		return nil, errors.New("redis: want redis://[user:password@]host:port[/db], rediss:// or unix:///path") // err may quote a password
	}
	return &Cache{o: o, place: p, ttl: max(1, int64(o.TTL/time.Second)), now: time.Now, idle: make(chan *connection, mostIdle)}, nil
}

// Close ends the connections, after all calls have returned.
func (c *Cache) Close() {
	c.ended.Store(true)
	c.forget()
}

// Get gives the rows that Redis holds.
func (c *Cache) Get(ctx context.Context, keys [][]byte, found func(i int, value []byte)) {
	c.call(ctx, func(r *connection) error {
		for _, key := range keys {
			// Not GET: a value of any size may stand there.
			if err := r.Send("GETRANGE", prefix+string(key), 0, c.o.MaxRowBytes); err != nil {
				return err
			}
		}
		return r.answers(len(keys), func(i int, answer any) {
			if value, is := answer.([]byte); is && len(value) > 0 && len(value) <= c.o.MaxRowBytes {
				found(i, value)
			}
		})
	})
}

// Put gives Redis rows to keep.
func (c *Cache) Put(ctx context.Context, rows []sinks.Row) {
	c.call(ctx, func(r *connection) error {
		n := 0
		for _, row := range rows {
			if len(row.Value) > c.o.MaxRowBytes {
				continue
			}
			if err := r.Send("SET", prefix+string(row.Key), row.Value, "EX", c.ttl); err != nil {
				return err
			}
			n++
		}
		return r.answers(n, func(int, any) {})
	})
}

// call runs f with a connection, in time, unless Redis rests.
func (c *Cache) call(ctx context.Context, f func(*connection) error) {
	if ctx.Err() != nil {
		return
	}
	rests := c.until.Load()
	if rests != 0 {
		now := c.now().UnixNano()
		if now < rests || !c.until.CompareAndSwap(rests, now+int64(c.o.Rest)) { // one caller tries
			return
		}
	}
	c.tries.Add(1)
	within, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	r, err := c.connection(within)
	if err == nil {
		err = r.within(within, f)
		c.release(r)
	}
	switch {
	case ctx.Err() != nil: // the caller's end says nothing of Redis
	case err != nil:
		c.until.Store(c.now().Add(c.o.Rest).UnixNano())
		c.forget() // the others may be dead too
		if rests == 0 {
			c.notice(fmt.Sprintf("redis fails, rows come from the store: %v", err))
		}
	case rests != 0:
		c.until.Store(0)
		c.notice("redis answers again")
	}
}

// connection returns an idle connection, or a new one.
func (c *Cache) connection(ctx context.Context) (*connection, error) {
	select {
	case r := <-c.idle:
		return r, nil
	default:
		return c.place.dial(ctx)
	}
}

// release keeps a connection for the next call, unless it is broken or there are enough.
func (c *Cache) release(r *connection) {
	if r.Err() == nil && !c.ended.Load() {
		select {
		case c.idle <- r:
			return
		default:
		}
	}
	r.Close()
}

// forget closes the idle connections.
func (c *Cache) forget() {
	for {
		select {
		case r := <-c.idle:
			r.Close()
		default:
			return
		}
	}
}

func (c *Cache) notice(text string) {
	if c.o.Notice != nil {
		c.o.Notice(text)
	}
}
