package demangle

import (
	"hash/maphash"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats/demangle/msvc"
)

const (
	shards = 64
	// entryBytes is what an entry costs beside its strings: two string
	// headers, and its share of a table that is half full.
	entryBytes = 80
	// DefaultCacheBytes holds some 100,000 names.
	DefaultCacheBytes = 32 << 20
)

// Cache remembers what Name answers. It is safe for concurrent use.
//
// Each shard has two generations. When the young one has used half of the
// shard's bytes it becomes the old one, and the old one goes: a name asked
// for since then has been copied to the young one, so names in use stay.
type Cache struct {
	seed   maphash.Seed
	shards [shards]shard
	pool   sync.Pool // of *Demangler: one for each that asks at a time
}

type shard struct {
	mu         sync.RWMutex
	young, old map[string]string
	bytes      int64 // of young
	most       int64 // of young
}

// NewCache makes a cache of at most about maxBytes (0: DefaultCacheBytes).
func NewCache(maxBytes int64) *Cache {
	if maxBytes <= 0 {
		maxBytes = DefaultCacheBytes
	}
	c := &Cache{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].young = map[string]string{}
		c.shards[i].most = maxBytes / shards / 2
	}
	return c
}

// Name is the package's Name, remembered. It keeps no reference to linkage
// beyond the call unless that is also the result.
func (c *Cache) Name(linkage string) string {
	if mangled, _ := strip(linkage); mangled == "" {
		return unmangled(linkage)
	}
	s := &c.shards[maphash.String(c.seed, linkage)%shards]
	s.mu.RLock()
	name, ok := s.young[linkage]
	if ok {
		s.mu.RUnlock()
		return name
	}
	name, ok = s.old[linkage]
	s.mu.RUnlock()
	if !ok {
		d, _ := c.pool.Get().(*Demangler)
		if d == nil {
			d = new(Demangler)
		}
		name = d.Name(linkage)
		c.pool.Put(d)
	}
	s.put(linkage, name)
	return name
}

// Name32 is Name for 32-bit images of Windows. Functions of C have the marks of their calling convention there: "f" stands
// for "_f@8", "@f@8" and "f@@16".
func (c *Cache) Name32(linkage string) string {
	name := c.Name(linkage)
	if name != linkage {
		return name
	}
	return c.Name(msvc.Undecorated(linkage))
}

// put keeps a name in the young generation.
func (s *shard) put(linkage, name string) {
	cost := entryBytes + int64(len(linkage)+len(name))
	if cost > s.most {
		return // it alone would drive everything else out
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.young[linkage]; ok {
		return
	}
	if s.bytes+cost > s.most {
		s.old, s.young, s.bytes = s.young, map[string]string{}, 0
	}
	// The name may be a piece of a decoded block, which must not be kept.
	key := strings.Clone(linkage)
	if name == linkage {
		name = key
	} else {
		name = strings.Clone(name)
	}
	s.young[key] = name
	s.bytes += cost
}
