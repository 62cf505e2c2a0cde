package regions

import (
	"bytes"
	"slices"
	"sort"
	"sync"
)

// Cache holds regions of one table. Safe for concurrent use. The zero value is empty.
type Cache struct {
	mu    sync.RWMutex
	list  []*Region // by Start, disjoint
	holes []hole
}

// Find returns the region that holds key, or nil.
func (g *Cache) Find(key []byte) *Region {
	g.mu.RLock()
	defer g.mu.RUnlock()
	i := sort.Search(len(g.list), func(i int) bool { return bytes.Compare(g.list[i].Start, key) > 0 }) - 1
	if i >= 0 && g.list[i].Holds(key) {
		return g.list[i]
	}
	return nil
}

// Len is the number of regions in the cache.
func (g *Cache) Len() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return len(g.list)
}

// Put enters regions in place of all that overlap them. Of two new regions that overlap the later one stays.
func (g *Cache) Put(list ...*Region) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = merged(g.list, list)
	for _, r := range list {
		g.fill(r)
	}
}

// Fill enters regions where the cache has none. The regions of the cache stay.
func (g *Cache) Fill(list ...*Region) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = merged(list, g.list)
}

// merged puts the regions of two lists in order. Where one of old overlaps one of fresh, it is left out. The cost is
// linear where both are in order.
func merged(old, fresh []*Region) []*Region {
	old, fresh = disjoint(old), disjoint(fresh)
	out := make([]*Region, 0, len(old)+len(fresh))
	for len(old) > 0 && len(fresh) > 0 {
		switch {
		case old[0].before(fresh[0]):
			out, old = append(out, old[0]), old[1:]
		case fresh[0].before(old[0]):
			out, fresh = append(out, fresh[0]), fresh[1:]
		default:
			old = old[1:]
		}
	}
	return append(append(out, old...), fresh...)
}

// disjoint returns regions by Start. It leaves out a region that a later one overlaps.
func disjoint(list []*Region) []*Region {
	inOrder := true
	for i := 1; i < len(list) && inOrder; i++ {
		inOrder = list[i-1].before(list[i])
	}
	if inOrder {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y *Region) int { return bytes.Compare(x.Start, y.Start) })
	out := list[:0]
	for _, r := range list {
		for len(out) > 0 && !out[len(out)-1].before(r) {
			out = out[:len(out)-1]
		}
		out = append(out, r)
	}
	return out
}

// Forget removes a region that is not where it was, and no other.
func (g *Cache) Forget(r *Region) { g.Moved(r, "") }

// Moved notes that a region is on another server now. If server is "" or the server that the region was on, the cache
// forgets the region. It does nothing for a region that another caller replaced meanwhile.
func (g *Cache) Moved(r *Region, server string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := sort.Search(len(g.list), func(i int) bool { return bytes.Compare(g.list[i].Start, r.Start) >= 0 })
	if i == len(g.list) || g.list[i] != r {
		return
	}
	if server == "" || server == r.Server {
		g.list = slices.Delete(g.list, i, i+1)
		return
	}
	there := *r
	there.Server = server
	g.list[i] = &there
}
