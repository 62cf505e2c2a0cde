// Package open makes a look-up client of a store's URL. A service that embeds the client calls it: neither the
// lake nor S3 nor HDFS comes with it. Pass the client to answer.New to answer whole reports.
package open

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/security"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/redis"
	"github.com/symlake/symlake/sinks/stores"
)

// Options say how a client is made. The zero value serves a file store with its keyset beside its rows.
type Options struct {
	// Keyset is the path of the keyset; "": keyset.json in the folder of a file store.
	Keyset string
	// KEK unwraps keys in place of a keyset, a key service's for instance.
	KEK sinks.KEK
	// Security says how the client proves its identity to HBase, and how it protects what it sends. The zero value asks
	// the environment.
	Security security.Options
	// Notice, unless nil, gets sentences for an operator, from any goroutine: for what a look-up waits, for instance.
	Notice func(string)
	// Redis is the URL of a cache that many clients share, see redis.New; "": none.
	Redis        string
	RedisOptions RedisOptions
	// Lookup are the client's own; Shared is set from Redis.
	Lookup lookup.Options
}

// RedisOptions are the options of a shared cache.
type RedisOptions = redis.Options

// CheckRedis returns an error where a URL names no Redis. It connects to nothing.
func CheckRedis(url string) error { return redis.Check(url) }

// Redis makes the shared cache at a URL, see redis.New.
func Redis(url string, o RedisOptions) (*redis.Cache, error) { return redis.New(url, o) }

// Opened is a client with what it reads from.
type Opened struct {
	*lookup.Client
	Store *sinks.Store
	redis *redis.Cache
}

// Close closes the store, after all calls of the client have returned.
func (o *Opened) Close() error {
	if o.redis != nil {
		o.redis.Close()
	}
	return o.Store.Close()
}

// Client opens the store at url (file:PATH or a path, hbase://…, hbase+zk://…) to look things up in it.
// Nothing is written anywhere. sinks.ErrMissing when there is none.
func Client(ctx context.Context, url string, o Options) (*Opened, error) {
	scheme, rest := stores.Split(url)
	if o.KEK == nil {
		if o.Keyset == "" && scheme == "file" {
			o.Keyset = filepath.Join(stores.Path(rest), "keyset.json")
		}
		if o.Keyset == "" {
			return nil, fmt.Errorf("open %s: want a keyset", scheme)
		}
	}
	store, err := stores.Open(ctx, url, stores.Options{ReadOnly: true, Security: o.Security, Notice: o.Notice})
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	c := &Opened{Store: store}
	if o.KEK == nil {
		if o.KEK, err = kek.OpenKeyset(ctx, o.Keyset, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("open keyset: %w", err), store.Close())
		}
	}
	if o.Redis != "" {
		if c.redis, err = redis.New(o.Redis, o.RedisOptions); err != nil {
			return nil, errors.Join(err, store.Close())
		}
		o.Lookup.Shared = c.redis
	}
	c.Client = lookup.New(store, o.KEK, o.Lookup)
	return c, nil
}
