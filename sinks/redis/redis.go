// Package redis is the second level of cache that many look-up clients share:
// sealed rows in a Redis, under their row keys, with a time to live.
//
// It sees opaque keys and sealed values: no catalog record, no wrapped key, and
// no name ever gets there. What it leaves to others: opening a row, and so
// noticing that Redis gave something else (lookup), and how much Redis keeps:
// maxmemory with maxmemory-policy allkeys-lru, set in Redis.
//
// Invariants:
//   - no method fails: a Redis that is slow, full, down or wrong makes a miss;
//   - a call takes no longer than Options.Timeout, and after a failure Redis is
//     left alone for Options.Rest, but for one call that tries it;
//   - rows never change under their key (a load's id is part of it), so nothing
//     is ever invalidated, and a value that was lost is only read again.
package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

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
	// Notice, unless nil, gets a sentence when Redis begins to fail, and when it answers again.
	Notice func(string)
}

// Cache is a sinks.RowCache in a Redis. Safe for concurrent use.
type Cache struct {
	o      Options
	client rueidis.ClientOption
	ttl    string
	last   string // of a value's bytes, as GETRANGE takes it

	now   func() time.Time
	until atomic.Int64 // nanoseconds of the clock until which Redis rests; 0: it answers
	tries atomic.Int64 // calls that went to Redis
	mu    sync.Mutex   // held while connecting
	conn  atomic.Pointer[rueidis.Client]
}

var _ sinks.RowCache = (*Cache)(nil)

// New makes a cache in the Redis at url: redis://[user:password@]host:port[/db], rediss:// with TLS,
// unix:///path. Nothing is asked yet: a Redis that is down now may be up later. The error is of the URL.
func New(url string, o Options) (*Cache, error) {
	c := &Cache{o: o, now: time.Now}
	var err error
	if c.client, err = rueidis.ParseURL(url); err != nil {
		return nil, errors.New("redis: want redis://[user:password@]host:port[/db], rediss:// or unix:///path") // err may quote a password
	}
	if c.o.TTL <= 0 {
		c.o.TTL = 7 * 24 * time.Hour
	}
	if c.o.Timeout <= 0 {
		c.o.Timeout = 50 * time.Millisecond
	}
	if c.o.Rest <= 0 {
		c.o.Rest = time.Second
	}
	if c.o.MaxRowBytes <= 0 {
		c.o.MaxRowBytes = 1 << 20
	}
	c.ttl = strconv.FormatInt(max(1, int64(c.o.TTL/time.Second)), 10)
	c.last = strconv.Itoa(c.o.MaxRowBytes)
	c.client.DisableCache = true // rows never change: there is nothing to track
	c.client.DisableRetry = true
	c.client.Dialer.Timeout = c.o.Timeout
	c.client.ConnWriteTimeout = max(time.Second, 4*c.o.Timeout) // after it a connection that hangs is given up
	return c, nil
}

// Close ends the connections.
func (c *Cache) Close() {
	if r := c.conn.Swap(nil); r != nil {
		(*r).Close()
	}
}

// Get gives the rows that Redis holds.
func (c *Cache) Get(ctx context.Context, keys [][]byte, found func(i int, value []byte)) {
	c.call(ctx, func(ctx context.Context, r rueidis.Client) error {
		cmds := make(rueidis.Commands, len(keys))
		for i, key := range keys {
			// Not GET: a value of any size may stand there.
			cmds[i] = r.B().Arbitrary("GETRANGE").Keys(prefix+string(key)).Args("0", c.last).ReadOnly()
		}
		var failed error
		for i, res := range r.DoMulti(ctx, cmds...) {
			value, err := res.AsBytes()
			switch {
			case err != nil:
				failed = notRedis(err, failed)
			case len(value) > 0 && len(value) <= c.o.MaxRowBytes:
				found(i, value)
			}
		}
		return failed
	})
}

// Put gives Redis rows to keep.
func (c *Cache) Put(ctx context.Context, rows []sinks.Row) {
	c.call(ctx, func(ctx context.Context, r rueidis.Client) error {
		cmds := make(rueidis.Commands, 0, len(rows))
		for _, row := range rows {
			if len(row.Value) <= c.o.MaxRowBytes {
				cmds = append(cmds, r.B().Arbitrary("SET").Keys(prefix+string(row.Key)).Args(rueidis.BinaryString(row.Value), "EX", c.ttl).Build())
			}
		}
		var failed error
		for _, res := range r.DoMulti(ctx, cmds...) {
			failed = notRedis(res.Error(), failed)
		}
		return failed
	})
}

// notRedis keeps the first error that is no answer of Redis. "Out of memory" or "loading" is an
// answer, and costs no more than a miss.
func notRedis(err, first error) error {
	if _, said := rueidis.IsRedisErr(err); said || first != nil {
		return first
	}
	return err
}

// call runs f with a connection, in time, unless Redis rests.
func (c *Cache) call(ctx context.Context, f func(context.Context, rueidis.Client) error) {
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
	r, err := c.connect()
	if err == nil && r == nil {
		return
	}
	if err == nil {
		err = f(within, *r)
	}
	switch {
	case ctx.Err() != nil: // the caller's end says nothing of Redis
	case err != nil:
		c.until.Store(c.now().Add(c.o.Rest).UnixNano())
		if rests == 0 {
			c.notice(fmt.Sprintf("redis fails, rows come from the store: %v", err))
		}
	case rests != 0:
		c.until.Store(0)
		c.notice("redis answers again")
	}
}

// connect gives the connection; nil while another caller makes it.
func (c *Cache) connect() (*rueidis.Client, error) {
	if r := c.conn.Load(); r != nil {
		return r, nil
	}
	if !c.mu.TryLock() {
		return nil, nil
	}
	defer c.mu.Unlock()
	if r := c.conn.Load(); r != nil {
		return r, nil
	}
	r, err := rueidis.NewClient(c.client)
	if err != nil {
		return nil, err
	}
	c.conn.Store(&r)
	return &r, nil
}

func (c *Cache) notice(text string) {
	if c.o.Notice != nil {
		c.o.Notice(text)
	}
}
