// Package cache keeps values by key up to a total weight. It evicts by SIEVE: a value that was asked for since the
// hand last passed stays, so one scan through a store does not drive out values in use.
package cache

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// shards is the number of locks that readers share.
const shards = 64

// Cache maps keys to values. It is safe for concurrent use. Readers wait only for changes in their own shard.
type Cache[K comparable, V any] struct {
	most   int64
	weigh  func(K, V) int64
	seed   maphash.Seed
	shards [shards]shard[K, V]

	mu     sync.Mutex // held by each change, taken before a shard's
	held   int64      // weight of all entries
	newest *entry[K, V]
	oldest *entry[K, V]
	hand   *entry[K, V] // the next to be judged; nil: the oldest
}

type shard[K comparable, V any] struct {
	mu sync.RWMutex
	of map[K]*entry[K, V]
	_  [32]byte // keeps the next one in another line of the processor's cache
}

type entry[K comparable, V any] struct {
	key   K
	value V
	asked atomic.Bool // since the hand passed

	weight       int64 // guarded by Cache.mu, like newer and older
	newer, older *entry[K, V]
}

// New returns an empty cache of at most the weight most. weigh returns the weight of an entry; it must be quick, and
// more than zero.
func New[K comparable, V any](most int64, weigh func(K, V) int64) *Cache[K, V] {
	return &Cache[K, V]{most: most, weigh: weigh, seed: maphash.MakeSeed()}
}

func (c *Cache[K, V]) shard(key K) *shard[K, V] {
	return &c.shards[maphash.Comparable(c.seed, key)%shards]
}

func (s *shard[K, V]) get(key K) *entry[K, V] {
	s.mu.RLock()
	e := s.of[key]
	s.mu.RUnlock()
	return e
}

// Get returns the value of a key, if the cache holds it.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e := c.shard(key).get(key)
	if e == nil {
		return value, false
	}
	if !e.asked.Load() { // a store would take the line from other readers
		e.asked.Store(true)
	}
	return e.value, true
}

// Set keeps a value in place of the key's last one. A value that weighs more than the whole cache is not kept.
func (c *Cache[K, V]) Set(key K, value V) {
	e := &entry[K, V]{key: key, value: value, weight: c.weigh(key, value)}
	s := c.shard(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := s.get(key); old != nil {
		c.unlink(old)
		e.asked.Store(old.asked.Load())
	}
	c.shrink(c.most - e.weight)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.weight > c.most {
		delete(s.of, key)
		return
	}
	if s.of == nil {
		s.of = make(map[K]*entry[K, V])
	}
	s.of[key] = e
	c.link(e)
}

// Reweigh weighs the value of a key again, if the cache holds one and same reports true for it.
func (c *Cache[K, V]) Reweigh(key K, same func(V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.shard(key).get(key)
	if e == nil || !same(e.value) {
		return
	}
	weight := c.weigh(key, e.value)
	c.held += weight - e.weight
	e.weight = weight
	c.shrink(c.most)
}

// link makes e the newest. mu is held.
func (c *Cache[K, V]) link(e *entry[K, V]) {
	e.older = c.newest
	if c.newest != nil {
		c.newest.newer = e
	} else {
		c.oldest = e
	}
	c.newest = e
	c.held += e.weight
}

// unlink takes e out of the order. mu is held.
func (c *Cache[K, V]) unlink(e *entry[K, V]) {
	if c.hand == e {
		c.hand = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		c.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		c.oldest = e.newer
	}
	e.newer, e.older = nil, nil
	c.held -= e.weight
}

// shrink evicts until the rest weighs at most so much, or nothing is left. The hand goes from the oldest to the
// newest and spares, once, each entry that was asked for. mu is held.
func (c *Cache[K, V]) shrink(most int64) {
	for c.held > most && c.oldest != nil {
		e := c.hand
		if e == nil {
			e = c.oldest
		}
		if e.asked.CompareAndSwap(true, false) {
			c.hand = e.newer
			continue
		}
		c.unlink(e)
		s := c.shard(e.key)
		s.mu.Lock()
		delete(s.of, e.key)
		s.mu.Unlock()
	}
}
