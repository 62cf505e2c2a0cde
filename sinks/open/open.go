// Package open makes a look-up client of a store's URL: what a service that
// embeds the client calls. It names the stores and the shared cache, to read them alone: no
// lake, no S3, nothing that writes comes with it.
//
// It leaves to sinks/all what creates and fills stores, and to lookup all answers.
package open

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/hbase"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/redis"
)

// Options say how a client is made. The zero value serves a file store with its keyset beside its rows.
type Options struct {
	// Keyset is the path of the keyset; "": keyset.json in the folder of a file store.
	Keyset string
	// KEK unwraps keys in place of a keyset, a key service's for instance.
	KEK sinks.KEK
	// Redis is the URL of a cache that many clients share, see redis.New; "": none.
	Redis        string
	RedisOptions redis.Options
	// Lookup are the client's own; Shared is set from Redis.
	Lookup lookup.Options
}

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
	scheme, rest := Split(url)
	if o.KEK == nil {
		if o.Keyset == "" && scheme == "file" {
			o.Keyset = filepath.Join(Path(rest), "keyset.json")
		}
		if o.Keyset == "" {
			return nil, fmt.Errorf("open %s: want a keyset", scheme)
		}
	}
	store, err := Store(ctx, url)
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

// Store opens the store at url for reading.
func Store(ctx context.Context, url string) (*sinks.Store, error) {
	switch scheme, rest := Split(url); {
	case rest == "":
		return nil, fmt.Errorf("store %q names no place", url)
	case scheme == "file":
		return file.Open(Path(rest), file.Options{ReadOnly: true})
	case scheme == "hbase" || scheme == "hbase+zk":
		return hbase.Open(ctx, rest, hbase.Options{ReadOnly: true, ZooKeeper: scheme == "hbase+zk"})
	default:
		return nil, fmt.Errorf("store %q: unknown kind %q (known: file, hbase, hbase+zk)", url, scheme)
	}
}

// Split parts the scheme of a store's URL, in lower case, from the rest; a plain path is of the scheme
// file. A scheme has at least two characters, so that C:\x is a path.
func Split(url string) (scheme, rest string) {
	scheme, rest, ok := strings.Cut(url, ":")
	if !ok || len(scheme) < 2 || strings.ContainsAny(scheme, `/\`) {
		return "file", url
	}
	return strings.ToLower(scheme), rest
}

// Path undoes the form file:///PATH.
func Path(rest string) string {
	if strings.HasPrefix(rest, "///") {
		return rest[2:]
	}
	return rest
}
