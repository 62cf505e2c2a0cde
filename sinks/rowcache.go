package sinks

import "context"

// RowCache is a level of cache that many processes share, in front of Blocks.
// It sees sealed rows under their keys and nothing else: never catalog records
// or wrapped keys. Nothing it gives is believed before it has opened under its
// key, so a cache that lies costs a read of the store. Safe for concurrent use.
//
// No method fails: a cache that cannot answer misses, and a slow cache
// gives up on its own, long before a reader would.
type RowCache interface {
	// Get calls found with the value of each key that is held, in any order, on the caller's goroutine.
	Get(ctx context.Context, keys [][]byte, found func(i int, value []byte))
	// Put keeps rows of the store that have opened. It may drop any of them.
	Put(ctx context.Context, rows []Row)
}
